"""silt sql: where statements come from, what they print, how failures are reported."""
import os
import signal
import subprocess
import time

import cli_support

SCHEMA_HINT = "a schema is a folder of the warehouse; CREATE TABLE sales.events makes sales/events and the folders to it"

class Sql(cli_support.CliTest):
    @classmethod
    def prepare(cls):
        cls.sql("CREATE TABLE events (id BIGINT, city STRING) USING delta; INSERT INTO events VALUES (1, 'Oslo'), (2, 'Bergen')")

    def test_statements_come_from_the_command_line_a_file_or_standard_input(self):
        with open(os.path.join(self.dir, "q.sql"), "w", encoding="utf-8") as file:
            file.write("-- a comment\nSELECT 1 AS a;\n\nSELECT 2 AS b\n")
        expected = "a\n1\nb\n2\n"
        self.assert_prints(expected, "sql", "SELECT 1 AS a; SELECT 2 AS b")
        self.assert_prints(expected, "sql", "-f", "q.sql")
        self.assert_prints(expected, "sql", "-", stdin="SELECT 1 AS a; SELECT 2 AS b;")
        self.assert_prints(expected, "sql", stdin="SELECT 1 AS a; SELECT 2 AS b;")
        self.assert_prints(expected, stdin="SELECT 1 AS a; SELECT 2 AS b;")

    def test_blank_texts_do_nothing(self):
        for text in ("", " ; ;\n", "-- nothing\n", "/* nothing */"):
            self.assert_prints("", "sql", text)

    def test_statement_that_changes_a_table_yields_a_row_of_counts(self):
        self.assertEqual(self.sql("CREATE TABLE counted (id BIGINT) USING delta"), "")
        self.assertEqual(
            self.sql("INSERT INTO counted VALUES (1), (2), (3)"), "num_affected_rows,num_inserted_rows\n3,3\n"
        )
        self.assertEqual(
            self.sql("INSERT INTO counted VALUES (4)", "-o", "jsonl"), '{"num_affected_rows":1,"num_inserted_rows":1}\n'
        )

    def test_error_names_line_and_column(self):
        self.assert_fails(
            1, 'error: [PARSE_SYNTAX_ERROR] syntax error at or near "SELEC" (line 2, column 3)', "sql", "\n  SELEC 1"
        )
        done = self.silt("sql", "SELECT 1;\nSELECT 'é', nope FROM events")
        self.assertEqual(done.code, 1)
        self.assertIn("[UNRESOLVED_COLUMN]", done.err)
        self.assertIn("(line 2, column 13)\n", done.err)

    def test_mistyped_column_and_table_suggest_the_near_one(self):
        done = self.silt("sql", "SELECT citty FROM events")
        self.assertTrue(done.err.endswith("\nhint: did you mean city?\n"), done.err)
        done = self.silt("sql", "SELECT * FROM evens")
        self.assertTrue(done.err.endswith("\nhint: did you mean events?\n"), done.err)

    def test_an_unknown_table_is_told_where_it_was_looked_for(self):
        done = self.silt("sql", "SELECT * FROM quite_another_name")
        self.assertTrue(done.err.endswith(f"\nhint: tables are looked for in the warehouse, {self.dir}\n"), done.err)

    def test_text_without_quotes_is_explained(self):
        for city in ("Rom", '"Rom"'):
            done = self.silt("sql", f"SELECT * FROM events WHERE city = {city}")
            self.assertTrue(done.err.endswith("\nhint: if a text is meant, write it in single quotes: 'Rom'\n"), done.err)

    def test_folder_that_is_no_table_is_named_as_such(self):
        os.makedirs(os.path.join(self.dir, "plain"), exist_ok=True)
        with open(os.path.join(self.dir, "plain", "a.csv"), "w", encoding="utf-8") as file:
            file.write("a\n1\n")
        place = "(line 1, column 6)"
        self.assert_fails(
            4,
            f"error: [DELTA_TABLE_NOT_FOUND] {self.dir}/plain is not a Delta table: it has no _delta_log with commits {place}",
            "sql", "FROM './plain'",
        )
        done = self.silt("sql", "FROM '/none/such'")
        self.assertEqual(done.code, 4)
        self.assertTrue(done.err.startswith("error: [DELTA_PATH_DOES_NOT_EXIST] /none/such does not exist"), done.err)

    def test_what_is_no_version_or_time_is_told_at_its_table(self):
        error = "error: [DELTA_INVALID_TIME_TRAVEL_SPEC]"
        self.assert_fails(1, f"{error} 'x' is no version to travel to (line 1, column 6)", "sql", "FROM events VERSION AS OF 'x'")
        self.assert_fails(1, f"{error} 'x' is no time to travel to (line 1, column 6)", "sql", "FROM events TIMESTAMP AS OF 'x'")

    def test_transactions_and_lists_of_tables_are_refused(self):
        for statement, hint in (
            ("BEGIN", "each statement is a transaction of its own"),
            ("ROLLBACK", "each statement is a transaction of its own"),
            ("SHOW TABLES", "tables are folders of the warehouse; \\d lists them in the shell"),
            ("CREATE SCHEMA", SCHEMA_HINT),
            ("DROP DATABASE", SCHEMA_HINT),
        ):
            self.assert_fails(
                1,
                f"error: [SILT_UNSUPPORTED_STATEMENT] {statement} is not supported by this version of silt\nhint: {hint}",
                "sql", statement,
            )

    def test_copy_and_summarize_take_a_table_by_its_name(self):
        n = int(self.sql("SELECT count(*) AS n FROM events").split()[1])
        self.assert_prints(f"Count\n{n}\n", "sql", "COPY events TO 'copied.csv'")
        self.assert_prints(f"n\n{n}\n", "sql", "SELECT count(*) AS n FROM 'copied.csv'")
        self.assertEqual(self.sql("SUMMARIZE events"), self.sql("SUMMARIZE SELECT * FROM events"))
        done = self.silt("sql", "COPY events FROM 'copied.csv'")
        self.assertEqual(done.code, 4)
        self.assertIn("\nhint: for a Delta table write COPY (SELECT", done.err)

    def test_copy_into_a_folder_that_is_not_there_is_told_as_a_fault_of_writing(self):
        self.assert_fails(
            5, "error: [SILT_IO] cannot write /nosuch/dir/x: its folder is not there",
            "sql", "COPY (SELECT 1 AS a) TO '/nosuch/dir/x'",
        )
        done = self.silt("sql", "COPY (SELECT * FROM '/nosuch/in.csv') TO 'out.csv'")
        self.assertEqual(done.code, 4, done.err)
        self.assertIn("/nosuch/in.csv is not there", done.err)

    def test_plan_is_drawn_for_people_and_a_row_for_programs(self):
        self.assertRegex(self.sql("EXPLAIN SELECT 1", "-o", "table"), r"\A┌─+┐\n│ +PROJECTION +│\n")
        self.assertIn('"explain_key":"physical_plan"', self.sql("EXPLAIN SELECT 1", "-o", "jsonl"))

    def test_first_failure_stops_the_run(self):
        done = self.silt("sql", "SELECT 1 AS a; SELECT nope; SELECT 3 AS c")
        self.assertEqual((done.code, done.out), (1, "a\n1\n"))
        self.assertEqual(done.err.count("error: "), 1)

    def test_keep_going_runs_the_rest_and_keeps_the_first_failures_code(self):
        done = self.silt("sql", "--keep-going", "SELECT 1 AS a; SELECT * FROM delta.`/none`; SELECT nope; SELECT 4 AS d")
        self.assertEqual((done.code, done.out), (4, "a\n1\nd\n4\n"))
        self.assertEqual(done.err.count("error: "), 2)

    def test_errors_are_one_line_and_at_most_one_hint(self):
        for text in ("SELECT nope", "FROM evens", "SELECT 'a\nb", "DELETE FROM events", "DESCRIBE HISTORY nothing"):
            done = self.silt("sql", text)
            lines = done.err.splitlines()
            self.assertRegex(lines[0], r"\Aerror: \[[A-Z_.]+\] \S")
            self.assertLessEqual(len(lines), 2, done.err)
            self.assertTrue(len(lines) == 1 or lines[1].startswith("hint: "), done.err)

    def test_exit_codes_tell_kinds_of_failures_apart(self):
        self.assertEqual(self.silt("sql", "SELECT error('x')").code, 1)
        self.assertEqual(self.silt("sql", "DELETE FROM events").code, 1)
        self.assertEqual(self.silt("sql", "DESCRIBE DETAIL nothing").code, 4)
        self.assertEqual(self.silt("sql", "-f", "missing.sql").code, 1)

    def test_table_of_an_unknown_feature_is_unreadable(self):
        log = os.path.join(self.dir, "future", "_delta_log")
        os.makedirs(log)
        with open(os.path.join(log, "0" * 20 + ".json"), "w", encoding="utf-8") as file:
            file.write(
                '{"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["fromTheFuture"],'
                '"writerFeatures":["fromTheFuture"]}}\n'
                '{"metaData":{"id":"1","format":{"provider":"parquet","options":{}},'
                '"schemaString":"{\\"type\\":\\"struct\\",\\"fields\\":[]}","partitionColumns":[],"configuration":{}}}\n'
            )
        for args in (["read", "future"], ["schema", "future"], ["sql", "SELECT * FROM future"]):
            done = self.silt(*args)
            self.assertEqual(done.code, 4, done.err)
            self.assertIn("fromTheFuture", done.err)

    def test_warehouse_option_wins_over_the_environment(self):
        other = os.path.join(self.dir, "other")
        os.makedirs(other, exist_ok=True)
        self.sql("CREATE TABLE t1 (a INT) USING delta", "--warehouse", other)
        self.assertTrue(os.path.isdir(os.path.join(other, "t1", "_delta_log")))
        done = subprocess.run(
            [cli_support.SILT, "schema", "t1"], env=dict(self.env, SILT_WAREHOUSE=other), cwd=self.dir, check=True, capture_output=True
        )
        self.assertEqual(done.stdout, b"name,type,nullable,partition,comment\na,int,true,false,\n")

    def test_time_zone_option_is_the_zone_of_literals_without_one(self):
        zone = ("--time-zone", "Asia/Tokyo")
        self.assert_prints("t\n2025-12-31T15:00:00Z\n", "sql", "SELECT TIMESTAMPTZ '2026-01-01 00:00:00' AS t", *zone)
        self.assert_prints("key,value\nspark.sql.session.timeZone,Asia/Tokyo\n", "sql", "SET timezone", *zone)
        self.assert_prints("key,value\nspark.sql.session.timeZone,UTC\n", "sql", "SET timezone")
        self.sql("CREATE TABLE zoned (t TIMESTAMP); INSERT INTO zoned VALUES (TIMESTAMP '2026-01-01 00:00:00')", *zone)
        self.assert_prints("t\n2025-12-31T15:00:00Z\n", "read", "zoned")
        self.assert_prints("t\n2025-12-31T15:00:00Z\n", "read", "zoned", "--where", "t = '2026-01-01'", *zone)

    def test_zone_in_a_text_of_json_goes_before_the_sessions(self):
        self.sql("CREATE TABLE instants (t TIMESTAMP, n TIMESTAMP_NTZ, s STRUCT<t: TIMESTAMP>, d DATE, x STRING)")
        day = "2026-01-01"
        texts = [f"{day}T00:00:00Z", f"{day}T00:00:00+05:00", f"{day} 00:00:00"]
        with open(os.path.join(self.dir, "instants.jsonl"), "w", encoding="utf-8") as file:
            for text in texts:
                file.write('{"t":"%s","n":"%sT01:00:00","s":{"t":"%s"},"d":"%s","x":"%s"}\n' % (text, day, text, day, text))
        self.assertEqual(self.silt("append", "instants", "instants.jsonl", "--time-zone", "Asia/Tokyo").code, 0)
        instants = ["2026-01-01T00:00:00Z", "2025-12-31T19:00:00Z", "2025-12-31T15:00:00Z"]
        self.assertEqual(
            self.silt("read", "instants", "-o", "jsonl").out,
            "".join(
                '{"t":"%s","n":"%sT01:00:00","s":{"t":"%s"},"d":"%s","x":"%s"}\n' % (i, day, i, day, x)
                for i, x in zip(instants, texts)
            ),
        )

    def test_zone_that_is_none_is_refused_before_anything_runs(self):
        error = (
            "error: [INVALID_TIMEZONE] there is no time zone 'Asia/Tokio'\n"
            "hint: write a region, such as Europe/Berlin, or UTC"
        )
        self.assert_fails(1, error, "sql", "SELECT 1", "--time-zone", "Asia/Tokio")
        self.assert_fails(1, error, "sql", "SET TIME ZONE 'Asia/Tokio'")

    def test_file_and_text_together_are_wrong_usage(self):
        self.assert_fails(
            2,
            "error: [SILT_USAGE] statements come from --file or from the command line, not both",
            "sql", "-f", "q.sql", "SELECT 1",
        )

    def test_interrupt_cancels_the_statement_and_ends_by_the_signal(self):
        query = "SELECT count(*) FROM range(1000000000000) t(i) WHERE i % 7 = 3"
        with subprocess.Popen(
            [cli_support.SILT, "sql", f"SELECT 1 AS a; {query}"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.dir, env=self.env,
        ) as process:
            self.assertEqual(process.stdout.readline() + process.stdout.readline(), b"a\n1\n")  # now the second one begins
            time.sleep(0.2)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=cli_support.PATIENCE)
            self.assertEqual(out, b"")
            self.assertTrue(err.startswith(b"error: [SILT_CANCELLED]"), err)
            self.assertEqual(process.returncode, -signal.SIGINT)

    def test_a_table_that_is_not_there_has_one_exit_code(self):
        for text in ("SELECT * FROM nosuch", "DESCRIBE nosuch", "DESCRIBE HISTORY nosuch", "INSERT INTO nosuch VALUES (1)",
                     f"SELECT * FROM delta.`{self.dir}/nosuch`", "EXPLAIN SELECT * FROM nosuch", "FROM 'nosuch.parquet'"):  # fmt: skip
            done = self.silt("sql", text)
            self.assertEqual((done.code, done.out), (4, ""), text + done.err)
        self.assertEqual(self.silt("read", "nosuch").code, 4)


if __name__ == "__main__":
    cli_support.main()
