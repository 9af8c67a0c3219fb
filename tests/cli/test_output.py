"""Formats of results: every type as CSV and JSON, tables, files, and readers that go away."""
import json
import os
import subprocess

import cli_support

SCALARS = r"""SELECT true AS b, 1::TINYINT AS i8, '-32768'::SMALLINT AS i16, 7::INT AS i32,
  9223372036854775807::BIGINT AS i64, 18446744073709551615::UBIGINT AS u64,
  170141183460469231731687303715884105727::HUGEINT AS i128, 1.5::FLOAT AS f32, 0.1::DOUBLE AS f64,
  123.450::DECIMAL(9,3) AS d9, '-12345678901234567890123456789012345.678'::DECIMAL(38,3) AS d38, 0.05::DECIMAL(4,2) AS d4,
  '\x00\xFFa'::BLOB AS bin, DATE '0001-01-01' AS day, TIME '10:20:30.5' AS clock,
  TIMESTAMP '2020-01-01 00:00:00.123456' AS ntz, TIMESTAMPTZ '2020-01-01 00:00:00+02' AS tz,
  TIMESTAMP_NS '2020-01-01 00:00:00.000000001' AS ns, TIMESTAMP_S '1969-12-31 23:59:59' AS s,
  INTERVAL '1 year 2 months 3 days 04:05:06.7' AS iv, 'x'::ENUM('x', 'y') AS en,
  UUID '00112233-4455-6677-8899-aabbccddeeff' AS id, NULL AS nothing"""


class Output(cli_support.CliTest):
    def test_scalars_as_json_keep_all_digits(self):
        self.assertEqual(
            self.sql(SCALARS, "-o", "jsonl"),
            '{"b":true,"i8":1,"i16":-32768,"i32":7,"i64":9223372036854775807,"u64":18446744073709551615,'
            '"i128":170141183460469231731687303715884105727,"f32":1.5,"f64":0.1,"d9":123.450,'
            '"d38":-12345678901234567890123456789012345.678,"d4":0.05,"bin":"AP9h","day":"0001-01-01","clock":"10:20:30.5",'
            '"ntz":"2020-01-01T00:00:00.123456","tz":"2019-12-31T22:00:00Z","ns":"2020-01-01T00:00:00.000000001",'
            '"s":"1969-12-31T23:59:59","iv":"P1Y2M3DT4H5M6.7S","en":"x","id":"00112233-4455-6677-8899-aabbccddeeff",'
            '"nothing":null}\n',
        )

    def test_scalars_as_csv_are_the_same_without_quotes(self):
        self.assertEqual(
            self.sql(SCALARS, "-o", "csv").splitlines()[1],
            "true,1,-32768,7,9223372036854775807,18446744073709551615,170141183460469231731687303715884105727,1.5,0.1,123.450,"
            "-12345678901234567890123456789012345.678,0.05,AP9h,0001-01-01,10:20:30.5,2020-01-01T00:00:00.123456,"
            "2019-12-31T22:00:00Z,2020-01-01T00:00:00.000000001,1969-12-31T23:59:59,P1Y2M3DT4H5M6.7S,x,"
            "00112233-4455-6677-8899-aabbccddeeff,",
        )

    def test_numbers_that_json_lacks_are_text(self):
        self.assertEqual(
            self.sql("SELECT 'nan'::DOUBLE AS n, 'inf'::FLOAT AS i, '-inf'::DOUBLE AS m, [1.5, 'inf'::DOUBLE] AS l", "-o", "jsonl"),
            '{"n":"NaN","i":"Infinity","m":"-Infinity","l":[1.5,"Infinity"]}\n',
        )

    def test_nested_values_are_json(self):
        query = """SELECT [1, NULL, 3] AS l, [[1], []] AS ll, {'a': 1, 'b "q"': 'x'} AS st, MAP {'k': 1, 'z': NULL} AS m,
                   MAP {1: 'a'} AS mi, [DATE '2020-01-01'] AS ld, {'d': 1.50::DECIMAL(4,2), 't': NULL} AS sd, [1, 2]::INT[2] AS f"""
        expected = (
            '{"l":[1,null,3],"ll":[[1],[]],"st":{"a":1,"b \\"q\\"":"x"},"m":{"k":1,"z":null},'
            '"mi":[{"key":1,"value":"a"}],"ld":["2020-01-01"],"sd":{"d":1.50,"t":null},"f":[1,2]}'
        )
        self.assertEqual(self.sql(query, "-o", "jsonl"), expected + "\n")
        self.assertEqual(self.sql(query, "-o", "json"), "[\n" + expected + "\n]\n")
        self.assertEqual(self.sql("SELECT {'a': 'x'} AS s", "-o", "csv"), 's\n"{""a"":""x""}"\n')

    def test_csv_tells_null_from_empty_text_and_quotes_what_must_be(self):
        self.assertEqual(
            self.sql("SELECT NULL AS a, '' AS b, 'x,y' AS c, 'say \"hi\"' AS d, 'two\nlines' AS e, ' pad ' AS f, 'plain' AS g"),
            'a,b,c,d,e,f,g\n,"","x,y","say ""hi""","two\nlines"," pad ",plain\n',
        )

    def test_csv_header_is_quoted_as_well(self):
        self.assertEqual(self.sql('SELECT 1 AS "a,b", 2 AS "c""d"'), '"a,b","c""d"\n1,2\n')

    def test_results_without_rows_have_their_frame(self):
        query = "SELECT 1 AS a, 'x' AS b WHERE false"
        self.assertEqual(self.sql(query, "-o", "csv"), "a,b\n")
        self.assertEqual(self.sql(query, "-o", "json"), "[]\n")
        self.assertEqual(self.sql(query, "-o", "jsonl"), "")
        self.assertEqual(self.sql(query, "-o", "table"), "┌───┬───┐\n│ a │ b │\n├───┼───┤\n└───┴───┘\n")

    def test_json_strings_are_escaped(self):
        out = self.sql("SELECT 'a\tb\\c/\"d\"\n\x01é日' AS s", "-o", "jsonl")
        self.assertEqual(json.loads(out)["s"], 'a\tb\\c/"d"\n\x01é日')

    def test_table_aligns_numbers_right_and_counts_wide_characters(self):
        self.assertEqual(
            self.sql("SELECT * FROM (VALUES ('日本', 1.25), (NULL, 100), ('é', NULL)) t(name, n)", "-o", "table"),
            "┌──────┬────────┐\n"
            "│ name │      n │\n"
            "├──────┼────────┤\n"
            "│ 日本 │   1.25 │\n"
            "│ NULL │ 100.00 │\n"
            "│ é    │   NULL │\n"
            "└──────┴────────┘\n",
        )

    def test_table_shows_control_characters_instead_of_sending_them(self):
        out = self.sql("SELECT 'a\nb\t' || chr(27) || '[31m' AS x", "-o", "table")
        self.assertIn("│ a\\nb\\t\\x1b[31m │", out)
        self.assertNotIn("\x1b", out)

    def test_table_in_a_pipe_is_not_cut(self):
        self.assertIn("x" * 500, self.sql("SELECT repeat('x', 500) AS x", "-o", "table"))

    def test_results_of_several_statements_follow_each_other(self):
        self.assertEqual(self.sql("SELECT 1 AS a; SELECT 2 AS b", "-o", "csv"), "a\n1\nb\n2\n")
        self.assertEqual(self.sql("SELECT 1 AS a; SELECT 2 AS b", "-o", "json"), '[\n{"a":1}\n]\n[\n{"b":2}\n]\n')

    def test_many_rows_come_complete_and_in_order(self):
        lines = self.sql("SELECT i FROM range(300000) t(i) ORDER BY i").splitlines()
        self.assertEqual(lines, ["i"] + [str(i) for i in range(300000)])

    def test_parquet_goes_to_a_pipe_and_to_a_file(self):
        done = self.silt("sql", "SELECT 42 AS x, 'a' AS y -- a comment", "-o", "parquet", binary=True)
        self.assertEqual((done.code, done.err), (0, ""))
        self.assertEqual((done.out[:4], done.out[-4:]), (b"PAR1", b"PAR1"))
        self.assert_prints("", "sql", "SELECT 43 AS x;", "-o", "parquet", "-O", "x.parquet")
        self.assertEqual(self.sql("SELECT * FROM 'x.parquet'"), "x\n43\n")
        self.assertEqual([name for name in os.listdir(self.dir) if name.startswith(("silt-", "x.parquet."))], [])

    def test_parquet_of_several_statements_is_refused(self):
        self.assert_fails(
            2, "error: [SILT_USAGE] expected one query, not 2 statements", "sql", "SELECT 1; SELECT 2", "-o", "parquet"
        )

    def test_parquet_of_a_faulty_query_keeps_the_errors_place(self):
        done = self.silt("sql", "SELECT 1,\n  nope", "-o", "parquet")
        self.assertIn("(line 2, column 3)", done.err)
        self.assertEqual((done.code, done.out), (1, ""))

    def test_output_file_appears_only_when_all_went_well(self):
        path = os.path.join(self.dir, "out.csv")
        self.assertEqual(self.silt("sql", "SELECT 1 AS a; SELECT nope", "-O", "out.csv").code, 1)
        self.assertFalse(os.path.exists(path))
        self.assert_prints("", "sql", "SELECT 1 AS a", "-O", "out.csv")
        with open(path, encoding="utf-8") as file:
            self.assertEqual(file.read(), "a\n1\n")
        self.assertEqual([name for name in os.listdir(self.dir) if name.startswith("out.csv.")], [])

    def test_ending_of_the_output_file_tells_the_format(self):
        expected = {"e.json": '[\n{"a":1}\n]\n', "e.jsonl": '{"a":1}\n', "e.ndjson": '{"a":1}\n', "e.csv": "a\n1\n", "json": "a\n1\n"}
        for name, text in expected.items():
            self.assert_prints("", "sql", "SELECT 1 AS a", "-O", name)
            with open(os.path.join(self.dir, name), encoding="utf-8") as file:
                self.assertEqual(file.read(), text, name)
        self.assert_prints("", "sql", "SELECT 1 AS a", "-O", "e.parquet")
        for name in ("e.xml", "folder.csv/e.txt", "e.csv.bak"):
            done = self.silt("sql", "SELECT 1 AS a", "-O", name)
            self.assertEqual(done.code, 2)
            self.assertIn(f"error: [SILT_USAGE] {name}: the ending {name[name.rindex('.'):]} tells no format", done.err)
            self.assertFalse(os.path.exists(os.path.join(self.dir, name)))
        self.assert_prints("", "sql", "SELECT 1 AS a", "-O", "e.xml", "-o", "csv")
        self.assert_prints("", "sql", "SELECT 1 AS a", "-O", "plain")
        self.assert_prints("a\n1\n", "sql", "FROM 'e.parquet'")
        self.assert_prints("", "sql", "SELECT 1 AS a", "-O", "e.json", "-o", "csv")
        self.assert_fails(
            2,
            "error: [SILT_USAGE] unknown format e.csv, expected table, csv, json, jsonl or parquet\n"
            "hint: -O e.csv names the file of the result",
            "sql", "SELECT 1", "-o", "e.csv",
        )

    def test_a_result_that_cannot_be_written_says_what_is_committed(self):
        self.sql("CREATE TABLE unseen (i INT) USING delta")
        with open("/dev/full", "wb") as full:
            done = subprocess.run([cli_support.SILT, "sql", "INSERT INTO unseen VALUES (1)"], stdout=full, stderr=subprocess.PIPE,
                                  env=self.env, cwd=self.dir, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("note: version 1 is committed, only the result could not be written\n", done.stderr)
        self.assertIn("error: [SILT_OUTPUT] ", done.stderr)
        done = self.silt("sql", "INSERT INTO unseen VALUES (2)", "-O", "/dev/full", "-o", "csv")
        self.assertIn("note: version 2 is committed", done.err)
        self.assertNotIn("note:", self.silt("sql", "FROM unseen", "-O", "/dev/full", "-o", "csv").err)

    def test_output_that_cannot_be_opened_or_written_is_a_failure(self):
        done = self.silt("sql", "SELECT 1", "-O", "no/such/folder/x")
        self.assertEqual(done.code, 1)
        self.assertIn("error: [SILT_OUTPUT] ", done.err)
        done = self.silt("sql", "SELECT 1", "-O", "/dev/full")
        self.assertEqual(done.code, 1)
        self.assertIn("error: [SILT_OUTPUT] ", done.err)

    def test_reader_that_goes_away_ends_the_program_quietly(self):
        query = "SELECT i FROM range(100000000) t(i)"
        with subprocess.Popen(
            [cli_support.SILT, "sql", query], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.dir, env=self.env
        ) as process:
            process.stdout.readline()
            process.stdout.close()
            self.assertEqual(process.stderr.read(), b"")
            self.assertEqual(process.wait(cli_support.PATIENCE), -13)  # by SIGPIPE, as other programs


if __name__ == "__main__":
    cli_support.main()
