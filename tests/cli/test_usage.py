"""Command line: help at every level, wrong usage with suggestions, exit code 2."""
import cli_support

COMMANDS = ["sql", "read", "changes", "append", "schema", "history", "detail", "files", "log", "fsck", "checkpoint", "clean-log", "compact-log", "cache", "doctor", "version", "help"]
LATER = ["optimize", "vacuum", "restore", "clone", "convert", "report"]


class Usage(cli_support.CliTest):
    def test_version_is_one_line_in_both_spellings(self):
        self.assertRegex(self.silt("version").out, r"\Asilt \d+\.\d+\.\d+\n\Z")
        self.assertEqual(self.silt("--version").out, self.silt("version").out)

    def test_cache_is_listed_and_cleared_where_its_variable_says(self):
        self.env["SILT_CACHE_DIR"] = f"{self.dir}/a/cache"
        try:
            done = self.silt("cache", "ls")
            self.assertEqual((done.code, done.out), (0, "uri,sizeBytes,cachedBytes,lastUsed\n"), done.err)
            self.assertEqual(self.silt("cache", "clear").out, "removed,inUse\n0,0\n")
            self.assert_fails(2, "error: [SILT_USAGE] silt cache takes ls or clear, not rm", "cache", "rm")
            self.env["SILT_CACHE_DIR"] = "a/cache"
            self.assertIn("must be an absolute path", self.silt("cache", "ls").err)
        finally:
            del self.env["SILT_CACHE_DIR"]

    def test_help_lists_every_command_and_none_of_later_releases(self):
        done = self.silt("help")
        self.assertEqual((done.code, done.err), (0, ""))
        for name in COMMANDS:
            self.assertIn(f"\n  {name} ", done.out)
        for name in LATER:
            self.assertNotIn(name, done.out)
        for spelling in (["--help"], ["-h"]):
            self.assertEqual(self.silt(*spelling).out, done.out)

    def test_help_of_each_command_has_usage_options_and_examples(self):
        for name in COMMANDS:
            done = self.silt(name, "--help")
            self.assertEqual((done.code, done.err), (0, ""), name)
            self.assertIn(f"\nusage: silt {name}", done.out)
            self.assertIn("\noptions:\n", done.out)
            self.assertIn(f"\nexamples:\n  silt {name}", done.out)
            self.assertEqual(self.silt("help", name).out, done.out)
            self.assertLessEqual(max(map(len, done.out.splitlines())), 120)

    def test_help_wins_over_other_faults(self):
        self.assertEqual(self.silt("read", "--limit", "3", "--help").code, 0)

    def test_threads_and_memory_have_bounds(self):
        self.assert_fails(2, "error: [SILT_USAGE] --threads takes a number from 0 to 1024, not 100000", "sql", "--threads", "100000", "SELECT 1")
        self.assert_fails(2, "error: [SILT_USAGE] --threads takes a number from 0 on, not x", "sql", "--threads", "x", "SELECT 1")
        self.assertIn("no size such as", self.silt("sql", "--memory-limit", "much", "SELECT 1").err)

    def test_mistyped_command_suggests_the_near_one(self):
        self.assert_fails(2, "error: [SILT_USAGE] there is no command histroy\nhint: did you mean silt history?", "histroy")
        self.assert_fails(2, "error: [SILT_USAGE] there is no command raed\nhint: did you mean silt read?", "raed")
        self.assert_fails(2, "error: [SILT_USAGE] there is no command hist\nhint: did you mean silt history?", "hist")

    def test_commands_of_later_releases_are_unknown(self):
        for name in LATER:
            done = self.silt(name, "t")
            self.assertEqual(done.code, 2, name)
            self.assertIn(f"there is no command {name}", done.err)

    def test_sql_in_place_of_a_command_is_explained(self):
        self.assert_fails(
            2,
            'error: [SILT_USAGE] this looks like SQL, not like a command\nhint: silt sql "..." runs it',
            "SELECT 1",
        )

    def test_words_that_begin_sql_and_files_of_it_are_explained(self):
        sql = 'error: [SILT_USAGE] this looks like SQL, not like a command\nhint: silt sql "..." runs it'
        self.assert_fails(2, sql, "select", "1")
        self.assert_fails(2, sql, "-c", "SELECT 1")
        self.assert_fails(
            2,
            "error: [SILT_USAGE] there is no command a.sql\nhint: silt sql -f a.sql runs the statements of a file",
            "a.sql",
        )

    def test_options_may_stand_before_the_command(self):
        self.assert_prints('{"a":1}\n', "-o", "jsonl", "sql", "SELECT 1 AS a")
        self.assert_prints('{"a":1}\n', "--warehouse", ".", "sql", "-ojsonl", "SELECT 1 AS a")
        self.assert_prints('{"a":1}\n', "--format=jsonl", "sql", "--", "SELECT 1 AS a")
        self.assertEqual(self.silt("--help", "read").out, self.silt("read", "--help").out)
        self.assert_fails(
            2, "error: [SILT_USAGE] unknown option --where\nhint: see silt history --help", "--where", "a", "history", "t"
        )
        self.assert_fails(2, "error: [SILT_USAGE] there is no command raed\nhint: did you mean silt read?", "-o", "csv", "raed")
        self.assert_fails(2, "error: [SILT_USAGE] --warehouse needs a value: DIR", "-o", "csv", "--warehouse")

    def test_without_a_command_options_are_those_of_sql(self):
        self.assert_prints('{"a":1}\n', "-o", "jsonl", stdin="SELECT 1 AS a")
        self.assertEqual(self.silt("-f", "none.sql").err, self.silt("sql", "-f", "none.sql").err)

    def test_examples_survive_the_quotes_of_a_shell(self):
        for name in ["", *COMMANDS]:
            examples = self.silt("help", *filter(None, [name])).out.split("\nexamples:\n")[1]
            for line in examples.splitlines():
                self.assertNotIn("`", line, line)

    def test_mistyped_option_suggests_the_near_one(self):
        self.assert_fails(
            2, "error: [SILT_USAGE] unknown option --colums\nhint: did you mean --columns?", "read", "t", "--colums", "a"
        )
        self.assert_fails(
            2, "error: [SILT_USAGE] unknown option --wher=x\nhint: did you mean --where?", "read", "t", "--wher=x"
        )
        self.assert_fails(2, "error: [SILT_USAGE] unknown option -z\nhint: see silt read --help", "read", "t", "-z")

    def test_option_of_another_command_is_refused(self):
        self.assert_fails(2, "error: [SILT_USAGE] unknown option --where\nhint: see silt history --help", "history", "t", "--where", "a")

    def test_values_of_options_are_checked(self):
        self.assert_fails(2, "error: [SILT_USAGE] --limit takes a number from 0 on, not few", "read", "t", "--limit", "few")
        self.assert_fails(2, "error: [SILT_USAGE] --limit takes a number from 0 on, not -1", "read", "t", "--limit=-1")
        self.assert_fails(2, "error: [SILT_USAGE] --limit needs a value: N", "read", "t", "--limit")
        self.assert_fails(2, "error: [SILT_USAGE] --keep-going takes no value", "sql", "--keep-going=1", "SELECT 1")
        self.assert_fails(
            2,
            "error: [SILT_USAGE] unknown format jsno, expected table, csv, json, jsonl or parquet\nhint: did you mean json?",
            "read", "t", "-o", "jsno",
        )

    def test_missing_and_superfluous_words_show_the_usage(self):
        self.assert_fails(
            2, "error: [SILT_USAGE] something is missing: silt read TABLE [options]\nhint: see silt read --help", "read"
        )
        self.assert_fails(
            2,
            "error: [SILT_USAGE] u is one word too many: silt history TABLE [options]\nhint: see silt history --help",
            "history", "t", "u",
        )

    def test_double_dash_ends_the_options(self):
        done = self.silt("schema", "--", "--limit")
        self.assertEqual(done.code, 4)
        self.assertIn("--limit does not exist", done.err)

    def test_options_say_what_they_do_to_the_command(self):
        for command, line in (("log", "--version N           only the commit of this version"),
                              ("checkpoint", "--version N           the version to write it of (default: the newest)"),
                              ("read", "--version N           the table as of this version"),
                              ("files", "--where CONDITION     only files that may hold rows for which this is true")):  # fmt: skip
            self.assertIn(line, self.silt("help", command).out)

    def test_location_without_a_name_is_refused(self):
        for scheme in ("s3", "s3a", "gs", "abfss", "az", "hdfs"):
            for rest in ("://", ":///"):
                for command in (["history"], ["read"], ["fsck"], ["doctor"]):
                    done = self.silt(*command, scheme + rest)
                    self.assertEqual((done.code, done.out), (1, ""), done.err)
                    self.assertRegex(done.err, rf"\Aerror: \[SILT_INVALID_ARGUMENT\] location {scheme}{rest} names no bucket, .*\n\Z")

    def test_mistyped_option_of_a_store_is_told_its_name(self):
        self.silt("sql", "CREATE TABLE beside AS SELECT 1 AS a")
        for table in ("s3://bucket/t", "beside"):  # a local one makes no use of it
            done = self.silt("read", table, "--store-option", "aws_secret=hidden")
            self.assertEqual((done.code, done.out), (1, ""), done.err)
            self.assertRegex(done.err, r"\Aerror: \[SILT_INVALID_ARGUMENT\] no store has an option 'aws_secret'\nhint: did you mean aws_secret_access_key\?\n\Z")
        self.assertEqual(self.silt("read", "beside", "--store-option", "aws_region=x").out, "a\n1\n")

    def test_location_without_a_bucket_is_refused(self):
        for scheme in ("s3", "s3a", "gs"):
            for command in (["history"], ["read"], ["fsck"], ["sql", "SELECT * FROM delta.`{}`"]):
                done = self.silt(*[word.format(f"{scheme}:///t") for word in command], *([f"{scheme}:///t"] if len(command) == 1 else []))
                self.assertEqual((done.code, done.out), (1, ""), done.err)
                self.assertRegex(done.err, r"\Aerror: \[SILT_INVALID_ARGUMENT\] .*the location names no bucket, expected (s3|gs)://BUCKET/PATH")

    def test_parquet_is_refused_where_it_is_not_made(self):
        self.assert_fails(2, "error: [SILT_USAGE] -o parquet is for sql, read and changes", "history", "t", "-o", "parquet")


if __name__ == "__main__":
    cli_support.main()
