#!/usr/bin/env python3
"""DROP TABLE against INSERT: every statement is done or refused by its class, and no file is left of the table."""
import os
import random
import subprocess
import time

import cli_support

ROUNDS = 12
INSERTS = 3


class Drop(cli_support.CliTest):
    def start(self, text):
        return subprocess.Popen(
            [cli_support.SILT, "--threads", "1", "sql", text], cwd=self.dir, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def race(self, name, drop):
        self.sql(f"CREATE TABLE {name} AS SELECT 1 AS id")
        inserts = [self.start(f"INSERT INTO {name} VALUES ({10 + number})") for number in range(INSERTS)]
        time.sleep(random.random() * 0.1)
        done = self.silt("sql", drop)
        self.assertEqual((done.code, done.err), (0, ""))
        for insert in inserts:
            _, err = insert.communicate()
            if insert.returncode == 3:
                self.assertIn("[DELTA_CONCURRENT_WRITE]", err)
            elif insert.returncode == 4:
                self.assertRegex(err, r"\[DELTA_(TABLE_NOT_FOUND|PATH_DOES_NOT_EXIST)\]")  # it came too late
            else:
                self.assertEqual(insert.returncode, 0, err)

    def test_no_part_of_a_dropped_table_is_left(self):
        for number in range(ROUNDS):
            self.race(f"t{number}", f"DROP TABLE t{number}")
            left = [name for _, _, names in os.walk(os.path.join(self.dir, f"t{number}")) for name in names]
            self.assertEqual(left, [])  # a folder may be, which two writers made and neither could remove while the other was in it

    def test_a_table_made_anew_has_its_own_rows_and_what_was_inserted_behind_it(self):
        for number in range(ROUNDS):
            name = f"n{number}"
            self.race(name, f"DROP TABLE {name}; CREATE TABLE {name} AS SELECT 100 AS id")
            rows = self.silt("sql", f"SELECT id FROM {name} ORDER BY id DESC", "-o", "csv").out.split()[1:]
            self.assertEqual(rows[0], "100")
            self.assertNotIn("1", rows)
            self.assertEqual(len(rows), len(set(rows)))


if __name__ == "__main__":
    cli_support.main()
