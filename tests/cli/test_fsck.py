"""silt fsck: the report, the rows, the options and the exit codes."""
import csv
import io
import json
import os
import signal
import subprocess

import cli_support

NOBODY = 65534


class Fsck(cli_support.CliTest):
    def setUp(self):
        self.table = f"t{self._testMethodName}"[:60]
        self.sql(f"CREATE TABLE {self.table} (id BIGINT, city STRING, n INT)")
        self.sql(f"INSERT INTO {self.table} SELECT range, 'c' || range, if(range < 3, NULL, range) FROM range(10)")

    def log(self, version=1):
        return os.path.join(self.dir, self.table, "_delta_log", f"{version:020}.json")

    def falsify(self, *changes):
        with open(self.log(), encoding="utf-8") as file:
            actions = [json.loads(line) for line in file]
        for action in actions:
            if "add" in action:
                stats = json.loads(action["add"]["stats"])
                for change in changes:
                    change(stats)
                action["add"]["stats"] = json.dumps(stats)
        with open(self.log(), "w", encoding="utf-8") as file:
            file.writelines(json.dumps(action) + "\n" for action in actions)

    def lose_rows_in_three_ways(self):
        self.falsify(
            lambda stats: stats["minValues"].update(id=5),
            lambda stats: stats["maxValues"].update(city="c3"),
            lambda stats: stats["nullCount"].update(n=0),
        )

    def test_sound_table_gives_a_report_and_exit_code_0(self):
        done = self.silt("fsck", self.table, "-o", "table")
        self.assertEqual((done.code, done.err), (0, ""))
        self.assertEqual(
            done.out,
            f"{self.table}, version 1\n"
            "log:   2 commits, 2 version checksums\n"
            "files: 1 live file, 1 read, 10 rows, 10 statistics compared\n"
            "\n"
            "The table is sound.\n",
        )
        self.assert_prints("severity,check,version,file,column,message,expected,found\n", "fsck", self.table)
        self.assert_prints("", "fsck", self.table, "-o", "jsonl")

    def test_statistics_that_lose_rows_are_shown_with_file_and_column(self):
        self.lose_rows_in_three_ways()
        done = self.silt("fsck", self.table, "-o", "jsonl")
        self.assertEqual((done.code, done.err), (1, ""))
        rows = [json.loads(line) for line in done.out.splitlines()]
        self.assertEqual(
            [(row["severity"], row["check"], row["column"], row["expected"], row["found"]) for row in rows],
            [
                ("fault", "statistics", "id", "0", "5"),
                ("fault", "statistics", "city", "c9", "c3"),
                ("fault", "statistics", "n", "3", "0"),
            ],
        )
        for row in rows:
            self.assertTrue(os.path.isfile(os.path.join(self.dir, self.table, row["file"])))
            self.assertEqual(row["version"], 1)
        report = self.silt("fsck", self.table, "-o", "table")
        self.assertEqual(report.code, 1)
        self.assertIn("\nFAULT: statistics\n", report.out)
        self.assertIn("the minimum of id is stated as 5, but the data has 0: engines skip rows\n", report.out)
        self.assertIn("the maximum of city is stated as c3, but the data has c9: engines skip rows\n", report.out)
        self.assertIn("the nullCount of n is stated as 0, but the data has 3: engines skip rows or count wrong\n", report.out)
        self.assertTrue(report.out.endswith("\nThe table has faults: 3 faults.\n"))

    def test_rows_come_in_every_format_and_into_a_file(self):
        self.lose_rows_in_three_ways()
        self.assertEqual(len(list(csv.DictReader(io.StringIO(self.silt("fsck", self.table, "-o", "csv").out)))), 3)
        self.assertEqual(len(json.loads(self.silt("fsck", self.table, "-o", "json").out)), 3)
        path = os.path.join(self.dir, f"{self.table}.jsonl")
        self.assertEqual(self.silt("fsck", self.table, "-O", path).code, 1)
        with open(path, encoding="utf-8") as file:
            self.assertEqual(len(file.readlines()), 3)
        self.assert_fails(2, "error: [SILT_USAGE] -o parquet is for sql, read and changes", "fsck", self.table, "-o", "parquet")

    def test_no_data_looks_at_the_log_only(self):
        self.lose_rows_in_three_ways()
        done = self.silt("fsck", self.table, "--no-data", "-o", "table")
        self.assertEqual(done.code, 0)
        self.assertNotIn("files:", done.out)

    def test_sample_says_how_to_have_it_again(self):
        done = self.silt("fsck", self.table, "--sample", "50%", "-o", "table")
        self.assertEqual(done.code, 0)
        self.assertRegex(done.out, r"\n       a sample: --seed \d+ chooses the same files again\n")
        done = self.silt("fsck", self.table, "--sample", "1", "--seed", "7", "-o", "table")
        self.assertIn("a sample: --seed 7 chooses", done.out)
        for wrong in ("0", "-1", "many", "0%", "101%", "%"):
            self.assert_fails(
                2,
                f"error: [SILT_USAGE] --sample takes a number of files or a percentage, not {wrong}\n"
                "hint: write it as --sample 100 or --sample 5%",
                "fsck",
                self.table,
                f"--sample={wrong}",
            )

    def check_as_nobody(self):
        """The check by somebody whom modes of files bind."""
        other = {"user": NOBODY} if os.geteuid() == 0 else {}
        os.chmod(self.dir, 0o755)
        try:
            done = subprocess.run([cli_support.SILT, "fsck", self.table, "-o", "table"], capture_output=True, cwd=self.dir, env=self.env, text=True,
                                  timeout=cli_support.PATIENCE, check=False, **other)
        except PermissionError:
            self.skipTest("the program lies where others may not run it")
        return done

    def test_a_file_that_may_not_be_read_is_no_fault_of_the_table_but_ends_the_check_with_5(self):
        self.sql(f"INSERT INTO {self.table} SELECT range, 'd', 1 FROM range(5)")
        done = self.check_as_nobody()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        folder = os.path.join(self.dir, self.table)
        data = next(name for name in sorted(os.listdir(folder)) if name.endswith(".parquet"))
        for name, kind in ((f"_delta_log/{1:020}.json", "SILT_ACCESS_DENIED"), (data, "SILT_ACCESS_DENIED")):
            with self.subTest(name=name):
                path = os.path.join(folder, name)
                mode = os.stat(path).st_mode
                os.chmod(path, 0)
                done = self.check_as_nobody()
                os.chmod(path, mode)
                self.assertEqual((done.returncode, done.stdout), (5, ""), done.stderr)
                self.assertRegex(done.stderr, rf"^error: \[{kind}\] .*{name}")

    def test_beside_a_data_file_that_may_not_be_read_the_others_are_checked(self):
        self.lose_rows_in_three_ways()
        folder = os.path.join(self.dir, self.table)
        old = {name for name in os.listdir(folder) if name.endswith(".parquet")}
        self.sql(f"INSERT INTO {self.table} SELECT range, 'd', 1 FROM range(5)")
        new = next(name for name in os.listdir(folder) if name.endswith(".parquet") and name not in old)
        os.chmod(os.path.join(folder, new), 0)
        done = self.check_as_nobody()
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertTrue(done.stdout.endswith("\nThe table has faults: 3 faults.\n"), done.stdout)
        self.assertNotIn(new, done.stdout)
        self.assertRegex(done.stderr, rf"^error: \[SILT_ACCESS_DENIED\] .*{new}.*\nhint: .* so that the check is not complete\n$")

    def test_table_that_is_none_or_cannot_be_read_has_exit_code_4(self):
        self.assertEqual(self.silt("fsck", "nothing_here").code, 4)
        with open(self.log(), "w", encoding="utf-8") as file:
            file.write('{"add":{"path":')
        done = self.silt("fsck", self.table, "-o", "table")
        self.assertEqual(done.code, 4)
        self.assertIn("\nFAULT: commit\n", done.out)
        self.assertIn("\nThe table cannot be read: ", done.out)

    def test_newest_commit_that_is_empty_is_a_fault(self):
        for left in ("", "\n"):
            with open(self.log(), "w", encoding="utf-8") as file:
                file.write(left)
            self.assert_prints("id,city,n\n", "read", self.table)
            done = self.silt("fsck", self.table, "-o", "table")
            self.assertEqual(done.code, 1)
            self.assertIn(f"\nFAULT: commit\n  {1:020}.json: the commit is empty, as a power cut may leave it: ", done.out)

    def test_versions_of_the_table_are_wrong_usage(self):
        self.assertEqual(self.silt("fsck", f"{self.table}@v1").code, 2)

    def test_file_that_is_gone_and_file_that_is_torn_are_shown(self):
        self.sql(f"INSERT INTO {self.table} VALUES (1, 'x', 1)")
        folder = os.path.join(self.dir, self.table)
        files = sorted(name for name in os.listdir(folder) if name.endswith(".parquet"))
        os.remove(os.path.join(folder, files[0]))
        with open(os.path.join(folder, files[1]), "r+b") as file:
            file.truncate(100)
        done = self.silt("fsck", self.table, "-o", "jsonl")
        self.assertEqual(done.code, 1)
        rows = {(row["check"], row["file"]) for row in map(json.loads, done.out.splitlines())}
        self.assertEqual(rows, {("file", files[0]), ("file", files[1]), ("data", files[1])})

    def test_interrupt_ends_it(self):
        with subprocess.Popen(
            [cli_support.SILT, "fsck", self.table, "-o", "jsonl"], cwd=self.dir, env=self.env, stdout=subprocess.PIPE
        ) as done:
            done.send_signal(signal.SIGINT)
            self.assertIn(done.wait(cli_support.PATIENCE), (-signal.SIGINT, 0))


if __name__ == "__main__":
    cli_support.main()
