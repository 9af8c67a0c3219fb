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

    def test_a_table_with_an_unknown_feature_stays(self):
        self.sql("CREATE TABLE strange AS SELECT 1 AS id")
        log = os.path.join(self.dir, "strange", "_delta_log")
        feature = '{"protocol":{"minReaderVersion":1,"minWriterVersion":7,"writerFeatures":["ownedByOthers"]}}\n'
        with open(os.path.join(log, f"{1:020}.json"), "w", encoding="utf-8") as file:
            file.write(feature)
        done = self.silt("sql", "DROP TABLE strange")
        self.assertEqual(done.code, 1)
        self.assertIn("[DELTA_UNSUPPORTED_FEATURES_FOR_WRITE]", done.err)
        self.assertIn("the table feature ownedByOthers", done.err)
        self.assertEqual(self.sql("FROM strange"), "id\n1\n")
        with open(os.path.join(log, f"{2:020}.json"), "w", encoding="utf-8") as file:
            file.write(feature.replace("ownedByOthers", "checkConstraints"))  # known, and what stands against writes owns nothing
        self.sql("DROP TABLE strange")
        self.assertFalse(os.path.exists(log))

    def in_overlay(self, options, text):
        """The output of silt for a table in the lower layer of an overlay; needs to be root."""
        script = (
            "mkdir -p m o && mount -t tmpfs none o && mkdir o/u o/w && "
            f"mount -t overlay none -o lowerdir=lower,upperdir=o/u,workdir=o/w{options} m || exit 77; "
            'cd m; "$SILT" sql "$TEXT"; code=$?; ls -A; exit $code'
        )
        env = dict(os.environ, SILT=os.path.abspath(cli_support.SILT), TEXT=text)
        done = subprocess.run(["unshare", "-m", "sh", "-c", script], cwd=self.dir, env=env, capture_output=True, text=True, check=False)
        if done.returncode not in (0, 1, 2, 3, 4, 5) or "unshare" in done.stderr:
            self.skipTest("no overlay can be mounted here")
        return done

    def test_a_table_in_a_lower_layer_of_an_overlay_stays_whole_unless_it_can_be_renamed(self):
        os.mkdir(os.path.join(self.dir, "lower"))
        self.sql(f"CREATE TABLE delta.`{os.path.abspath(self.dir)}/lower/t` AS SELECT 1 AS id")
        done = self.in_overlay("", "DROP TABLE t")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("cannot rename it; nothing was removed", done.stderr)
        self.assertIn("redirect_dir=on", done.stderr)
        self.assertEqual(done.stdout.split(), ["t"])
        done = self.in_overlay(",redirect_dir=on", "DROP TABLE t")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))


if __name__ == "__main__":
    cli_support.main()
