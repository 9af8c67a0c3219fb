"""Commands about one table: read, schema, history, detail, files, log, append."""
import csv
import io
import json
import os
import re

import cli_support


class Tables(cli_support.CliTest):
    @classmethod
    def prepare(cls):
        cls.sql(
            """CREATE TABLE rides (
                 id BIGINT NOT NULL COMMENT 'of the ride', city STRING, fare DECIMAL(6,2),
                 stops ARRAY<STRUCT<name: STRING NOT NULL, at: TIMESTAMP>>, tags MAP<STRING, INT>
               ) USING delta PARTITIONED BY (city) TBLPROPERTIES ('delta.appendOnly' = 'false')"""
        )
        cls.sql("INSERT INTO rides SELECT 1, 'Oslo', 1.50, NULL, NULL")
        cls.sql("INSERT INTO rides SELECT 2, 'Bergen', 2.50, NULL, NULL UNION ALL SELECT 3, 'Oslo', 3.00, NULL, NULL")

    def rows(self, *args):
        return [json.loads(line) for line in self.silt(*args, "-o", "jsonl").out.splitlines()]

    # read

    def test_read_shows_columns_rows_and_limits_that_are_asked_for(self):
        rows = self.rows("read", "rides", "--columns", "id, fare", "--where", "city = 'Oslo'")
        self.assertEqual(sorted(rows, key=lambda row: row["id"]), [{"id": 1, "fare": 1.5}, {"id": 3, "fare": 3.0}])
        self.assertEqual(len(self.rows("read", "rides", "--limit", "2")), 2)
        self.assertEqual(self.rows("read", "rides", "--limit", "0"), [])

    def test_read_shows_fields_of_metadata(self):
        rows = self.rows("read", "rides", "--columns", "id, _metadata.row_index,_metadata.file_name", "--where", "id = 1")
        self.assertEqual([list(row) for row in rows], [["id", "row_index", "file_name"]])
        self.assertEqual((rows[0]["row_index"], rows[0]["file_name"].endswith(".parquet")), (0, True))
        self.assertIn("[FIELD_NOT_FOUND]", self.silt("read", "rides", "--columns", "_metadata.row_id").err)

    def test_read_takes_paths_uris_and_names(self):
        path = os.path.join(self.dir, "rides")
        for name in ("rides", path, path + "/", "./rides", "file://" + path):
            self.assertEqual(len(self.rows("read", name)), 3, name)

    def test_read_takes_tables_whose_path_needs_quoting(self):
        path = os.path.join(self.dir, "o'dd `name` %20 \"x\"; y")
        self.sql(f"CREATE TABLE delta.`{path.replace('`', '``')}` (a INT) USING delta")
        self.assert_prints("a\n", "read", path)
        self.assertEqual(len(self.rows("history", path)), 1)
        self.assertEqual(self.rows("detail", path)[0]["location"], path)

    def test_read_travels_in_time_in_every_spelling(self):
        times = {row["version"]: row["timestamp"] for row in self.rows("history", "rides")}
        for args in (["rides@v1"], ["rides", "--version", "1"], ["rides", "--timestamp", times[1]]):
            self.assertEqual([row["id"] for row in self.rows("read", *args)], [1], args)
        self.assertEqual(self.rows("read", "rides@v0"), [])
        stamp = re.sub(r"[^0-9]", "", times[1])[:17].ljust(17, "0")
        self.assertEqual([row["id"] for row in self.rows("read", f"rides@{stamp}")], [1])

    def test_version_given_twice_is_wrong_usage(self):
        self.assert_fails(
            2, "error: [SILT_USAGE] the version of rides is given in more than one way", "read", "rides@v1", "--version", "1"
        )

    def test_time_that_is_none_is_wrong_usage(self):
        done = self.silt("read", "rides", "--timestamp", "yesterday")
        self.assertEqual(done.code, 2)
        self.assertTrue(done.err.startswith("error: [SILT_USAGE] yesterday is no time that can be understood\nhint: "), done.err)

    def test_history_over_a_gap_says_so(self):
        self.sql("CREATE TABLE gappy (id BIGINT)")
        for i in range(3):
            self.sql(f"INSERT INTO gappy VALUES ({i})")
        os.remove(os.path.join(self.dir, "gappy", "_delta_log", f"{2:020}.json"))
        done = self.silt("history", "gappy", "-o", "csv")
        self.assertEqual((done.code, [line.split(",")[0] for line in done.out.splitlines()]), (0, ["version", "3", "1", "0"]))
        self.assertIn("the log has a gap between versions 1 and 3: the history is not whole\n", done.err)
        self.assertEqual(self.silt("history", "gappy", "--limit", "1").err, "")

    def test_version_that_is_not_there_fails(self):
        self.assert_fails(
            1, "error: [DELTA_VERSION_NOT_FOUND] version 9 is not available: expected one of 0 to 2", "read", "rides@v9"
        )

    def test_condition_cannot_smuggle_statements_in(self):
        self.assert_fails(
            2,
            "error: [SILT_USAGE] --where takes one condition, without a semicolon",
            "read", "rides", "--where", "true); SELECT (1",
        )

    def test_errors_of_a_condition_are_placed_in_it(self):
        done = self.silt("read", "rides", "--where", "id > ")
        self.assertTrue(done.err.endswith("(line 1, column 6)\n"), done.err)

    def test_condition_may_end_with_a_comment(self):
        self.assert_prints("id\n2\n", "read", "rides", "--columns", "id", "--where", "id = 2 -- only that")

    def test_mistyped_table_suggests_the_near_one(self):
        for command in ("read", "schema", "history", "detail", "files", "log"):
            done = self.silt(command, "ridse")
            self.assertEqual((done.code, done.out), (4, ""), command)
            self.assertTrue(done.err.endswith("\nhint: did you mean rides?\n"), f"{command}: {done.err}")

    def test_folder_without_a_log_is_no_table(self):
        os.makedirs(os.path.join(self.dir, "plain"), exist_ok=True)
        for command in ("read", "schema", "history", "detail", "files", "log"):
            self.assertEqual(self.silt(command, "plain").code, 4, command)

    def test_file_or_version_in_place_of_a_table_is_explained(self):
        with open(os.path.join(self.dir, "plain.csv"), "w", encoding="utf-8") as file:
            file.write("a\n1\n")
        for command in ("read", "schema", "files", "log"):
            done = self.silt(command, "plain.csv")
            self.assertEqual((done.code, done.out), (4, ""), command)
            self.assertTrue(done.err.endswith("hint: plain.csv is a file; silt sql \"FROM 'plain.csv'\" reads Parquet, CSV and JSON\n"))
            done = self.silt(command, "rides@1")
            self.assertEqual(done.code, 4, command)
            self.assertTrue(done.err.endswith("\nhint: a version is written rides@v1\n"), f"{command}: {done.err}")

    # schema

    def test_schema_is_a_tree_for_people(self):
        self.assert_prints(
            "rides, version 2\n"
            "├─ id: bigint, not null  -- of the ride\n"
            "├─ city: string, partition\n"
            "├─ fare: decimal(6,2)\n"
            "├─ stops: array\n"
            "│  └─ element: struct\n"
            "│     ├─ name: string, not null\n"
            "│     └─ at: timestamp\n"
            "└─ tags: map<string,int>\n",
            "schema", "rides", "-o", "table",
        )

    def test_schema_is_rows_for_programs(self):
        rows = list(csv.reader(io.StringIO(self.silt("schema", "rides").out)))
        self.assertEqual(
            rows,
            [
                ["name", "type", "nullable", "partition", "comment"],
                ["id", "bigint", "false", "false", "of the ride"],
                ["city", "string", "true", "true", ""],
                ["fare", "decimal(6,2)", "true", "false", ""],
                ["stops", "array<struct<name:string,at:timestamp>>", "true", "false", ""],
                ["stops.element.name", "string", "false", "false", ""],
                ["stops.element.at", "timestamp", "true", "false", ""],
                ["tags", "map<string,int>", "true", "false", ""],
            ],
        )

    def test_schema_as_json_is_the_logs_own(self):
        with open(os.path.join(self.dir, "rides/_delta_log", "0" * 20 + ".json"), encoding="utf-8") as file:
            actions = [json.loads(line) for line in file]
        schema = next(a["metaData"]["schemaString"] for a in actions if "metaData" in a)
        self.assertEqual(json.loads(self.silt("schema", "rides", "-o", "json").out), json.loads(schema))

    # history and detail

    def test_history_has_sparks_columns_newest_first(self):
        rows = self.rows("history", "rides")
        self.assertEqual(
            list(rows[0]),
            ["version", "timestamp", "userId", "userName", "operation", "operationParameters", "job", "notebook", "clusterId",
             "readVersion", "isolationLevel", "isBlindAppend", "operationMetrics", "userMetadata", "engineInfo"],
        )
        self.assertEqual([row["version"] for row in rows], [2, 1, 0])
        self.assertEqual([row["operation"] for row in rows], ["WRITE", "WRITE", "CREATE TABLE"])
        self.assertEqual(rows[0]["operationMetrics"]["numOutputRows"], "2")
        self.assertRegex(rows[0]["timestamp"], r"\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z\Z")

    def test_history_is_limited(self):
        self.assertEqual([row["version"] for row in self.rows("history", "rides", "--limit", "1")], [2])
        self.assert_fails(2, "error: [SILT_USAGE] --limit takes a number from 1 on here", "history", "rides", "--limit", "0")

    def test_history_of_a_version_is_wrong_usage(self):
        self.assert_fails(2, "error: [SILT_USAGE] rides@v1 takes no version of the table here", "history", "rides@v1")

    def test_detail_has_sparks_columns(self):
        (row,) = self.rows("detail", "rides")
        self.assertEqual(row["format"], "delta")
        self.assertEqual(row["location"], os.path.join(self.dir, "rides"))
        self.assertEqual(row["partitionColumns"], ["city"])
        self.assertEqual(row["numFiles"], 3)
        self.assertEqual(row["properties"], {"delta.appendOnly": "false"})

    # files

    def test_files_lists_live_files_and_prunes_by_condition(self):
        rows = self.rows("files", "rides")
        self.assertEqual(list(rows[0]), ["path", "size", "modificationTime", "partitionValues", "stats",
                                         "deletionVector", "baseRowId", "defaultRowCommitVersion", "tags"])
        self.assertEqual(sorted(row["partitionValues"]["city"] for row in rows), ["Bergen", "Oslo", "Oslo"])
        for row in rows:
            self.assertEqual(os.path.getsize(row["path"]), row["size"])
        self.assertEqual(len(self.rows("files", "rides", "--where", "city = 'Bergen'")), 1)
        self.assertEqual(len(self.rows("files", "rides", "--where", "id > 2")), 1)
        self.assertEqual(len(self.rows("files", "rides@v1")), 1)

    def test_files_places_errors_of_the_condition(self):
        done = self.silt("files", "rides", "--where", "city = 'Oslo' AND idd = 1")
        self.assertEqual(done.code, 1)
        self.assertIn("(line 1, column 19)\nhint: did you mean 'id'?\n", done.err)

    # log

    def test_log_shows_actions_as_they_are_newest_commit_first(self):
        lines = self.silt("log", "rides").out.splitlines()
        expected = []
        for version in (2, 1, 0):
            with open(os.path.join(self.dir, "rides/_delta_log", f"{version:020}.json"), encoding="utf-8") as file:
                expected += [f'{{"version":{version},' + line.rstrip("\n")[1:] for line in file]
        self.assertEqual(lines, expected)
        self.assertEqual(self.silt("log", "rides", "-o", "jsonl").out.splitlines(), expected)

    def test_log_shows_one_version_or_the_newest(self):
        versions = [json.loads(line)["version"] for line in self.silt("log", "rides", "--limit", "2").out.splitlines()]
        self.assertEqual(sorted(set(versions), reverse=True), [2, 1])
        for args in (["rides", "--version", "0"], ["rides@v0"]):
            actions = [json.loads(line) for line in self.silt("log", *args).out.splitlines()]
            self.assertEqual([next(k for k in a if k != "version") for a in actions], ["commitInfo", "protocol", "metaData"])
        self.assert_fails(
            1,
            "error: [DELTA_VERSION_NOT_FOUND] the log has no commit of version 7; it has 0 to 2",
            "log", "rides", "--version", "7",
        )

    def test_log_as_rows_has_version_action_and_content(self):
        rows = list(csv.reader(io.StringIO(self.silt("log", "rides@v0", "-o", "csv").out)))
        self.assertEqual([row[:2] for row in rows], [["version", "action"], ["0", "commitInfo"], ["0", "protocol"], ["0", "metaData"]])
        self.assertEqual(json.loads(rows[2][2])["minReaderVersion"], 1)

    def test_log_names_the_line_that_is_broken(self):
        log = os.path.join(self.dir, "broken", "_delta_log")
        os.makedirs(log)
        with open(os.path.join(log, "0" * 20 + ".json"), "w", encoding="utf-8") as file:
            file.write('{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}\n{"add":\n')
        done = self.silt("log", "broken")
        self.assertEqual(done.code, 4)
        self.assertIn("line 2 of 00000000000000000000.json is no JSON object", done.err)

    # append

    def test_append_creates_and_fills_a_table_from_files(self):
        for name, text in (("a.csv", "id,city\n1,Oslo\n2,Bergen\n"), ("b.csv", "id,city\n3,Oslo\n"), ("c.jsonl", '{"city":"Rome","id":4}\n')):
            with open(os.path.join(self.dir, name), "w", encoding="utf-8") as file:
                file.write(text)
        done = self.silt("append", "fresh", "a.csv")
        self.assertEqual(done.code, 4)
        self.assertTrue(done.err.endswith("--create creates the table\n"), done.err)
        self.assertEqual(self.silt("append", "fresh", "a.csv", "b.csv", "--create", "--partition-by", "city").err, "")
        self.assertEqual(self.silt("append", "fresh", "c.jsonl").err, "")
        self.sql("SELECT 5 AS id, 'Oslo' AS city", "-o", "parquet", "-O", "d.parquet")
        self.assertEqual(self.silt("append", "fresh", "d.parquet", "--create").err, "")
        rows = sorted((row["id"], row["city"]) for row in self.rows("read", "fresh"))
        self.assertEqual(rows, [(1, "Oslo"), (2, "Bergen"), (3, "Oslo"), (4, "Rome"), (5, "Oslo")])
        self.assertEqual(len(self.rows("history", "fresh")), 3)
        self.assertEqual(self.rows("detail", "fresh")[0]["partitionColumns"], ["city"])

    def test_append_refuses_files_it_cannot_tell(self):
        self.assert_fails(
            2,
            "error: [SILT_USAGE] x.bin: expected a name that ends with .parquet, .csv, .tsv, .json, .jsonl or .ndjson",
            "append", "rides", "x.bin",
        )
        self.assert_fails(
            2, "error: [SILT_USAGE] x.csv and y.json are of different formats", "append", "rides", "x.csv", "y.json"
        )


if __name__ == "__main__":
    cli_support.main()
