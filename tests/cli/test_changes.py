"""silt changes: the rows that versions inserted and deleted, by versions and by times, in every form of output."""
import csv
import io
import json
import os

import cli_support

TOLD = ["_change_type", "_commit_version", "_commit_timestamp"]


class Changes(cli_support.CliTest):
    @classmethod
    def prepare(cls):
        cls.sql(
            "CREATE TABLE rentals (id BIGINT, city STRING) USING delta PARTITIONED BY (city) "
            "TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')"
        )
        cls.sql("INSERT INTO rentals VALUES (1, 'Oslo'), (2, NULL)")
        cls.sql("INSERT INTO rentals VALUES (3, 'Bergen')")
        cls.sql("INSERT OVERWRITE rentals VALUES (4, 'Oslo')")
        cls.sql("CREATE TABLE plain (id BIGINT) USING delta")
        done = cls.silt("history", "rentals", "-o", "jsonl")
        cls.times = {row["version"]: row["timestamp"] for row in map(json.loads, done.out.splitlines())}

    def rows(self, *args):
        done = self.silt("changes", *args, "-o", "jsonl")
        self.assertEqual((done.err, done.code), ("", 0))
        return [json.loads(line) for line in done.out.splitlines()]

    def ids(self, *args):
        return sorted((row["_commit_version"], row["_change_type"], row["id"]) for row in self.rows("rentals", *args))

    ALL = [
        (1, "insert", 1), (1, "insert", 2), (2, "insert", 3),
        (3, "delete", 1), (3, "delete", 2), (3, "delete", 3), (3, "insert", 4),
    ]

    def test_versions_bound_the_range(self):
        self.assertEqual(self.ids("--from", "0"), self.ALL)
        self.assertEqual(self.ids("--from", "1", "--to", "2"), self.ALL[:3])
        self.assertEqual(self.ids("--from", "2", "--to", "2"), self.ALL[2:3])
        self.assertEqual(self.ids("--from", "3", "--to", "99"), self.ALL[3:])
        self.assertEqual(self.ids("--from", "0", "--to", "0"), [])

    def test_times_bound_the_range(self):
        self.assertEqual(self.ids("--from", self.times[2]), self.ALL[2:])
        self.assertEqual(self.ids("--from", self.times[1], "--to", self.times[2]), self.ALL[:3])
        self.assertEqual(self.ids("--from", "2000-01-01", "--to", self.times[1]), self.ALL[:2])
        self.assertEqual(self.ids("--from", "1", "--to", self.times[2]), self.ALL[:3])

    def test_rows_have_the_tables_columns_and_what_is_told_of_changes(self):
        rows = self.rows("rentals", "--from", "1", "--to", "1")
        self.assertEqual(list(rows[0]), ["id", "city"] + TOLD)
        self.assertEqual({row["_commit_timestamp"] for row in rows}, {self.times[1]})
        self.assertEqual({row["id"]: row["city"] for row in rows}, {1: "Oslo", 2: None})

    def test_rows_come_in_the_order_of_versions(self):
        versions = [row["_commit_version"] for row in self.rows("rentals", "--from", "0")]
        self.assertEqual(versions, sorted(versions))

    def test_columns_rows_and_limits_can_be_asked_for(self):
        self.assert_prints(
            "id,_change_type\n3,insert\n", "changes", "rentals", "--from", "2", "--to", "2", "--columns", "id, _change_type"
        )
        self.assertEqual(self.ids("--from", "0", "--where", "_change_type = 'insert' AND id > 2"), [self.ALL[2], self.ALL[6]])
        self.assertEqual(self.ids("--from", "0", "--where", "city IS NULL"), [(1, "insert", 2), (3, "delete", 2)])
        self.assertEqual(len(self.rows("rentals", "--from", "0", "--limit", "4")), 4)
        self.assertEqual(self.rows("rentals", "--from", "0", "--limit", "0"), [])

    def test_every_form_of_output_has_them(self):
        for form in ("csv", "json", "jsonl", "table"):
            done = self.silt("changes", "rentals", "--from", "2", "--to", "2", "-o", form)
            self.assertEqual((done.err, done.code), ("", 0), form)
            for text in ("Bergen", "insert", "_commit_version"):
                self.assertIn(text, done.out, form)
        head, row = csv.reader(io.StringIO(self.silt("changes", "rentals", "--from", "2", "--to", "2", "-o", "csv").out))
        self.assertEqual(head, ["id", "city"] + TOLD)
        self.assertEqual(row[:4], ["3", "Bergen", "insert", "2"])

    def test_parquet_holds_the_types(self):
        done = self.silt("changes", "rentals", "--from", "0", "-o", "parquet", binary=True)
        self.assertEqual((done.err, done.code), ("", 0))
        with open(os.path.join(self.dir, "changes.parquet"), "wb") as file:
            file.write(done.out)
        out = self.sql(
            "SELECT count(*), any_value(typeof(_commit_version)), any_value(typeof(_commit_timestamp)) FROM 'changes.parquet'",
            "-o", "csv",
        )
        self.assertEqual(out.splitlines()[1], "7,BIGINT,TIMESTAMP WITH TIME ZONE")

    def test_tables_are_named_as_elsewhere(self):
        path = os.path.join(self.dir, "rentals")
        for name in (path, "./rentals", "file://" + path):
            self.assertEqual(len(self.rows(name, "--from", "2", "--to", "2")), 1, name)
        odd = os.path.join(self.dir, "o'dd `name` %20; y")
        quoted = odd.replace("`", "``")
        self.sql(f"CREATE TABLE delta.`{quoted}` (a INT) USING delta TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')")
        self.sql(f"INSERT INTO delta.`{quoted}` VALUES (7)")
        self.assertEqual([row["a"] for row in self.rows(odd, "--from", "0")], [7])

    def test_range_without_a_beginning_is_wrong_usage(self):
        self.assert_fails(
            2, "error: [SILT_USAGE] --from is missing: the first version or time of the changes", "changes", "rentals"
        )
        self.assertEqual(self.silt("changes", "rentals", "--from").code, 2)
        self.assertEqual(self.silt("changes").code, 2)
        self.assertEqual(self.silt("changes", "rentals@v1", "--from", "0").code, 2)

    def test_bounds_that_are_none_are_named(self):
        done = self.silt("changes", "rentals", "--from", "yesterday")
        self.assertEqual(done.code, 1)
        self.assertIn("[DELTA_CDC_READ_NULL_RANGE_BOUNDARY]", done.err)
        self.assertIn("yesterday", done.err)
        for args, code in (
            (("--from", "9"), "DELTA_CDC_START_VERSION_AFTER_LATEST"),
            (("--from", "2", "--to", "1"), "DELTA_INVALID_CDC_RANGE"),
            (("--from", "2999-01-01"), "DELTA_TIMESTAMP_GREATER_THAN_COMMIT"),
            (("--from", "0", "--to", "2000-01-01"), "DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION"),
        ):
            done = self.silt("changes", "rentals", *args)
            self.assertEqual((done.code, done.out), (1, ""), args)
            self.assertIn(f"[{code}]", done.err, args)

    def test_table_that_does_not_record_is_refused_with_what_to_do(self):
        done = self.silt("changes", "plain", "--from", "0")
        self.assertEqual((done.code, done.out), (1, ""))
        self.assertIn("[DELTA_MISSING_CHANGE_DATA]", done.err)
        self.assertIn("delta.enableChangeDataFeed", done.err)

    def test_mistyped_table_suggests_the_near_one(self):
        done = self.silt("changes", "rentasl", "--from", "0")
        self.assertEqual((done.code, done.out), (4, ""))
        self.assertTrue(done.err.endswith("\nhint: did you mean rentals?\n"), done.err)


if __name__ == "__main__":
    cli_support.main()
