#!/usr/bin/env python3
"""What replaces, evolves, drops and is done once, through the program: exit codes, notes, and nothing left behind."""

import glob
import json
import os
import threading
import unittest

import cli_support
from cli_support import CliTest

CHANGES = "table_changes('one', 0)"


class Writes(CliTest):
    @classmethod
    def prepare(cls):
        cls.sql("CREATE TABLE base (id BIGINT, p STRING) USING delta PARTITIONED BY (p); INSERT INTO base VALUES (1, 'a'), (2, 'b')")

    def files(self, table):
        found = glob.glob(os.path.join(self.dir, table, "**"), recursive=True, include_hidden=True)
        return sorted(name for name in found if not os.path.isdir(name))

    def last_commit(self, table):
        name = sorted(glob.glob(os.path.join(self.dir, table, "_delta_log", "*.json")))[-1]
        with open(name, encoding="utf-8") as f:
            return [json.loads(line) for line in f]

    def test_a_repeated_write_is_skipped_with_a_note(self):
        self.sql("CREATE TABLE once (id BIGINT) USING delta")
        once = ("--txn-app-id", "it's a \\job", "--txn-version", "7")
        first = self.silt("sql", "INSERT INTO once VALUES (1)", *once)
        self.assertEqual((first.code, first.out, first.err), (0, "num_affected_rows,num_inserted_rows\n1,1\n", ""))
        again = self.silt("sql", "INSERT INTO once VALUES (1)", *once)
        self.assertEqual((again.code, again.out), (0, "num_affected_rows,num_inserted_rows\n0,0\n"))
        self.assertIn("note: skipped", again.err)
        self.assertEqual(self.sql("SELECT * FROM once"), "id\n1\n")
        txn = [action["txn"] for action in self.last_commit("once") if "txn" in action]
        self.assertEqual([(t["appId"], t["version"]) for t in txn], [("it's a \\job", 7)])

    def test_an_append_is_done_once_too(self):
        self.sql("COPY (SELECT 1 AS id) TO 'in.csv'")
        once = ("--txn-app-id", "a", "--txn-version", "1")
        self.assertEqual(self.silt("append", "appended", "in.csv", "--create", *once).code, 0)
        again = self.silt("append", "appended", "in.csv", *once)
        self.assertEqual(again.code, 0)
        self.assertIn("note: skipped", again.err)
        self.assertEqual(self.sql("SELECT count(*) AS n FROM appended"), "n\n1\n")

    def test_an_id_older_than_the_retention_counts_no_longer(self):
        self.sql("CREATE TABLE old (id BIGINT) USING delta TBLPROPERTIES (delta.setTransactionRetentionDuration = 'interval 1 day')")
        once = ("--txn-app-id", "job", "--txn-version", "1")
        self.assertEqual(self.silt("sql", "INSERT INTO old VALUES (1)", *once).code, 0)
        name = sorted(glob.glob(os.path.join(self.dir, "old", "_delta_log", "*1.json")))[-1]
        with open(name, encoding="utf-8") as f:
            lines = [json.loads(line) for line in f]
        for action in lines:
            if "txn" in action:
                action["txn"]["lastUpdated"] -= 2 * 86400 * 1000
        with open(name, "w", encoding="utf-8") as f:
            f.writelines(json.dumps(action, separators=(",", ":")) + "\n" for action in lines)
        for crc in glob.glob(os.path.join(self.dir, "old", "_delta_log", "*.crc")):
            os.remove(crc)
        self.assertNotIn("skipped", self.silt("sql", "INSERT INTO old VALUES (2)", *once).err)
        self.assertEqual(self.sql("SELECT count(*) AS n FROM old"), "n\n2\n")

    def test_the_options_of_an_application_id_belong_together(self):
        for options in (("--txn-app-id", "a"), ("--txn-version", "1"), ("--txn-app-id", "a", "--txn-version", "x"),
                        ("--txn-app-id", "a", "--txn-version", "-1"), ("--txn-app-id", "", "--txn-version", "1")):
            done = self.silt("sql", "SELECT 1", *options)
            self.assertEqual(done.code, 2, options)
            self.assertIn("[SILT_USAGE]", done.err)

    def test_a_refusal_leaves_no_file(self):
        before = self.files("base")
        for text in ("INSERT INTO base REPLACE WHERE p = 'a' VALUES (1, 'a'), (2, 'c')",
                     "INSERT INTO base REPLACE WHERE id > 1 VALUES (1, 'b')",
                     "INSERT OVERWRITE base PARTITION (id = 1) VALUES ('x')",
                     "CREATE OR REPLACE TABLE base AS SELECT CAST('x' AS INT) AS a",
                     "INSERT WITH SCHEMA EVOLUTION INTO base BY NAME SELECT 3 AS id, NULL AS q",
                     f"DROP TABLE delta.`{self.dir}/base`"):
            done = self.silt("sql", text)
            self.assertEqual((done.code, done.out), (1, ""), text)
            self.assertEqual(self.files("base"), before, text)
        self.assertEqual(self.silt("fsck", "base").code, 0)

    def test_a_cast_that_fails_names_the_column_of_the_table(self):
        self.sql("CREATE TABLE casts (id BIGINT, amount INT, day DATE) PARTITIONED BY (day)")
        for query, column in (("SELECT 1, b, DATE '2020-01-01' FROM (VALUES (3000000000)) t(b)", "amount"),
                              ("SELECT 1, 2, s FROM (VALUES ('xx')) t(s)", "day")):  # fmt: skip
            done = self.silt("sql", f"INSERT INTO casts {query}")
            self.assertEqual(done.code, 1)
            self.assertRegex(done.err, rf"\Aerror: \[CAST_INVALID_INPUT\] column {column}: .*\n\Z")
            self.assertNotIn("source column", done.err)
        done = self.silt("sql", "INSERT INTO casts SELECT 1, c1::INT, DATE '2020-01-01' FROM (VALUES (3000000000)) t(c1)")
        self.assertIn("from source column c1 (line 1, ", done.err)  # the query's own

    def test_another_number_of_columns_is_told_with_the_way_to_have_it(self):
        self.sql("CREATE TABLE wide (a INT, b INT)")
        overwrite = "hint: SET silt.write.overwriteSchema = true lets the overwrite of a whole table bring its own columns"
        for query in ("SELECT 1", "SELECT 1, 2, 3"):
            self.assertIn(overwrite, self.silt("sql", f"INSERT OVERWRITE wide {query}").err)
        self.assertIn("the query has 1 column, the table needs 2\n", self.silt("sql", "INSERT INTO wide SELECT 1").err)
        self.assertIn("hint: INSERT WITH SCHEMA EVOLUTION", self.silt("sql", "INSERT INTO wide SELECT 1, 2, 3").err)

    def test_an_append_merges_the_schema_if_it_is_told_to(self):
        self.sql("CREATE TABLE merged (a INT)")
        with open(os.path.join(self.dir, "more.csv"), "w", encoding="utf-8") as file:
            file.write("a,more\n1,x\n")
        done = self.silt("append", "merged", "more.csv")
        self.assertEqual(done.code, 1)
        self.assertRegex(done.err, r"\Aerror: \[UNRESOLVED_COLUMN\S* .* has no column more\nhint: --merge-schema adds the columns that the table lacks\n\Z")
        self.assertIn("hint: INSERT WITH SCHEMA EVOLUTION", self.silt("sql", "INSERT INTO merged BY NAME FROM 'more.csv'").err)
        self.assertEqual(self.silt("append", "merged", "more.csv", "--merge-schema").code, 0)
        self.assertEqual(self.sql("FROM merged"), "a,more\n1,x\n")

    def test_an_append_to_a_table_of_other_partitions_is_refused_with_both_lists(self):
        with open(os.path.join(self.dir, "parted.csv"), "w", encoding="utf-8") as file:
            file.write("a,b,c\n1,x,y\n")
        append = ("append", "parted", "parted.csv", "--create")
        self.assertEqual(self.silt(*append, "--partition-by", "b,c").code, 0)
        self.assertEqual(self.silt(*append, "--partition-by", "B, c").code, 0)
        self.assertEqual(self.silt(*append).code, 0)
        for given in ("b", "c,b", "b,c,a", "a"):
            done = self.silt(*append, "--partition-by", given)
            self.assertEqual((done.code, done.out), (1, ""))
            self.assertIn(f"error: [SILT_PARTITION_COLUMNS_MISMATCH] --partition-by names {given}, but the table is partitioned by b,c\n", done.err)
        self.silt("append", "whole", "parted.csv", "--create")
        done = self.silt("append", "whole", "parted.csv", "--create", "--partition-by", "a")
        self.assertIn("but the table is partitioned by nothing\n", done.err)
        self.assertEqual(self.sql("SELECT count(*) AS n FROM parted"), "n\n3\n")

    def test_drop_says_what_is_no_table(self):
        os.makedirs(os.path.join(self.dir, "plain"), exist_ok=True)
        with open(os.path.join(self.dir, "plain", "x.parquet"), "wb") as f:
            f.write(b"x")
        done = self.silt("sql", "DROP TABLE plain")
        self.assertEqual(done.code, 4)
        self.assertIn("[DELTA_TABLE_NOT_FOUND]", done.err)
        self.assertTrue(os.path.exists(os.path.join(self.dir, "plain", "x.parquet")))
        self.assertEqual(self.sql("CREATE TABLE gone AS SELECT 1 AS a; DROP TABLE gone; DROP TABLE IF EXISTS gone").count("1"), 2)
        self.assertFalse(os.path.exists(os.path.join(self.dir, "gone")))

    def test_a_lost_race_is_a_conflict(self):
        """Many that replace the same rows at once: those that lose say so by code 3 and a class, and nothing of theirs stays."""
        self.sql("CREATE TABLE race (id BIGINT, n BIGINT) USING delta; INSERT INTO race VALUES (1, 0)")
        results = []

        def replace(n):
            results.append(self.silt("sql", f"INSERT INTO race REPLACE WHERE id = 1 VALUES (1, {n})"))

        threads = [threading.Thread(target=replace, args=(n,)) for n in range(1, 9)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        done = [r for r in results if r.code == 0]
        self.assertEqual(self.sql("SELECT count(*) AS n FROM race"), "n\n1\n")
        self.assertGreaterEqual(len(done), 1)
        for lost in (r for r in results if r.code != 0):
            self.assertEqual(lost.code, 3, lost.err)
            self.assertRegex(lost.err, r"\Aerror: \[DELTA_CONCURRENT_(APPEND|DELETE_READ|DELETE_DELETE)\]")
        self.assertEqual(len(glob.glob(os.path.join(self.dir, "race", "*.parquet"))), 1 + len(done))

    def while_it_is_prepared(self, statement, between):
        """Runs a statement; `between` runs when it comes to WAIT, whose reading of a pipe holds it up."""
        self.sql("DROP TABLE IF EXISTS one; CREATE TABLE one TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true') AS SELECT 1 AS id")
        self.sql("CREATE TABLE IF NOT EXISTS other (id INT) USING delta")
        pipe = os.path.join(self.dir, "pipe")
        os.mkfifo(pipe)
        wait = f"SELECT id FROM other VERSION AS OF (SELECT content FROM read_text('{pipe}'))"
        results = []
        writer = threading.Thread(target=lambda: results.append(self.silt("sql", statement.replace("WAIT", wait))))
        writer.start()
        try:
            with open(pipe, "w", encoding="utf-8") as f:
                self.sql(between)
                f.write("0")
            writer.join()
        finally:
            os.remove(pipe)
        return results[0]

    def test_what_a_statement_replaces_is_what_its_query_read(self):
        for replaces in ("INSERT OVERWRITE one", "INSERT INTO one REPLACE WHERE id < 10"):
            for query in ("SELECT id FROM one UNION ALL WAIT", "WAIT UNION ALL SELECT id FROM one"):
                with self.subTest(replaces, query=query):
                    done = self.while_it_is_prepared(f"{replaces} {query}", "INSERT INTO one VALUES (2)")
                    self.assertEqual(done.code, 0, done.err)
                    self.assertEqual(self.sql("SELECT id FROM one ORDER BY id"), "id\n1\n2\n")

    def test_a_table_is_not_replaced_by_what_was_read_before_a_commit(self):
        for query in ("SELECT id FROM one UNION ALL WAIT", "WAIT UNION ALL SELECT id FROM one"):
            with self.subTest(query):
                done = self.while_it_is_prepared(f"CREATE OR REPLACE TABLE one AS {query}", "INSERT INTO one VALUES (2)")
                self.assertIn(done.code, (0, 3), done.err)
                self.assertEqual(self.sql("SELECT id FROM one ORDER BY id"), "id\n1\n2\n")

    def test_a_query_sees_one_version_of_a_table(self):
        for first, second in (("one", "one"), ("one", CHANGES), (CHANGES, "one"), (CHANGES, CHANGES.replace(", 0)", ", 0, 9)"))):
            with self.subTest(first, second=second):
                done = self.while_it_is_prepared(f"SELECT id FROM {first} UNION ALL WAIT UNION ALL SELECT id FROM {second}",
                                                 "INSERT INTO one VALUES (2)")
                self.assertEqual((done.code, done.out), (0, "id\n1\n1\n"), done.err)

    def test_what_a_statement_replaces_is_what_the_changes_told(self):
        for replaces in ("INSERT OVERWRITE one", "INSERT INTO one REPLACE WHERE id < 10"):
            for changes in (CHANGES, CHANGES.replace(", 0)", ", 0, 9)")):
                for query in (f"SELECT id FROM {changes} UNION ALL WAIT", f"WAIT UNION ALL SELECT id FROM {changes}"):
                    with self.subTest(replaces, query=query):
                        done = self.while_it_is_prepared(f"{replaces} {query}", "INSERT INTO one VALUES (2)")
                        self.assertEqual(done.code, 0, done.err)
                        self.assertEqual(self.sql("SELECT id FROM one ORDER BY id"), "id\n1\n2\n")

    def test_a_table_is_not_replaced_by_changes_before_a_commit(self):
        for query in (f"SELECT id FROM {CHANGES} UNION ALL WAIT", f"WAIT UNION ALL SELECT id FROM {CHANGES}", "WAIT"):
            with self.subTest(query):
                done = self.while_it_is_prepared(f"CREATE OR REPLACE TABLE one AS {query}", "INSERT INTO one VALUES (2)")
                self.assertEqual(done.code, 3, done.err)
                self.assertEqual(self.sql("SELECT id FROM one ORDER BY id"), "id\n1\n2\n")

    def test_a_table_that_another_creates_meanwhile_exists(self):
        pipe = os.path.join(self.dir, "rows")
        statement = f"CREATE TABLE IF NOT EXISTS raced AS SELECT content FROM read_text('{pipe}')"
        for created in ("CREATE TABLE raced (id INT) USING delta", "CREATE TABLE raced AS SELECT 1 AS id; INSERT INTO raced VALUES (2)"):
            with self.subTest(created):
                self.sql("DROP TABLE IF EXISTS raced")
                os.mkfifo(pipe)
                results = []
                writer = threading.Thread(target=lambda: results.append(self.silt("sql", statement)))
                writer.start()
                with open(pipe, "w", encoding="utf-8") as f:
                    self.sql(created)
                    f.write("late")
                writer.join()
                os.remove(pipe)
                self.assertEqual((results[0].code, results[0].out, results[0].err), (0, "", ""))
                self.assertEqual(self.sql("SHOW COLUMNS IN raced"), "col_name\nid\n")
                self.assertEqual(len(glob.glob(os.path.join(self.dir, "raced", "*.parquet"))), created.count("SELECT") + created.count("INSERT"))

    def folders(self, table):
        found = glob.glob(os.path.join(self.dir, table, "**"), recursive=True, include_hidden=True)
        return sorted(os.path.relpath(name, self.dir) for name in found if os.path.isdir(name))

    def test_a_refused_write_leaves_no_folders(self):
        self.sql("CREATE TABLE tidy (a INT NOT NULL, p STRING, q INT) USING delta PARTITIONED BY (p, q); INSERT INTO tidy VALUES (1, 'a', 1)")
        os.makedirs(os.path.join(self.dir, "tidy", "p=old", "q=1"))
        before = self.folders("tidy")
        for statement in ("INSERT INTO tidy REPLACE WHERE p = 'a' VALUES (1, 'b', 1), (2, 'c', 3), (3, 'old', 1), (4, 'old', 2), (5, 'a', 7)",
                          "INSERT INTO tidy SELECT CASE WHEN i = 9 THEN NULL ELSE i END, 'x' || (i % 3), i FROM range(10) r(i)"):
            with self.subTest(statement):
                self.assertNotEqual(self.silt("sql", statement).code, 0)
                self.assertEqual(self.folders("tidy"), before)
        os.mkdir(os.path.join(self.dir, "mine"))
        for name, left in (("none", []), ("mine", ["mine"])):
            done = self.silt("sql", f"CREATE TABLE {name} PARTITIONED BY (p) AS SELECT i AS p, CAST('x' || random() AS INT) AS a FROM range(3) r(i)")
            self.assertNotEqual(done.code, 0)
            self.assertEqual(self.folders(name), left)

    def test_operation_and_its_metrics_are_those_of_delta_spark(self):
        self.sql("CREATE TABLE told (id BIGINT, p STRING) USING delta PARTITIONED BY (p); "
                 "INSERT INTO told VALUES (1, 'a'), (2, 'a'), (3, 'b')")
        self.sql("INSERT INTO told REPLACE WHERE id = 2 VALUES (2, 'c')")
        info = self.last_commit("told")[0]["commitInfo"]
        self.assertEqual(info["operationParameters"], {"mode": "Overwrite", "partitionBy": "[]", "predicate": "id = 2"})
        metrics = info["operationMetrics"]
        wanted = {"numFiles": "2", "numOutputRows": "2", "numRemovedFiles": "1", "numCopiedRows": "1", "numDeletedRows": "1",
                  "numAddedChangeFiles": "0"}
        self.assertEqual({name: metrics.get(name) for name in wanted}, wanted)
        self.assertFalse(info["isBlindAppend"])
        self.sql("SET spark.sql.sources.partitionOverwriteMode = dynamic; INSERT OVERWRITE told VALUES (9, 'c')")
        info = self.last_commit("told")[0]["commitInfo"]
        self.assertEqual(info["operationParameters"]["isDynamicPartitionOverwrite"], "true")
        self.assertEqual(info["operationMetrics"]["numRemovedFiles"], "1")
        self.sql("CREATE OR REPLACE TABLE told PARTITIONED BY (a) COMMENT 'c' TBLPROPERTIES (k = 'v') AS SELECT 1 AS a, 2 AS b")
        info = self.last_commit("told")[0]["commitInfo"]
        self.assertEqual(info["operation"], "CREATE OR REPLACE TABLE AS SELECT")
        self.assertEqual(info["operationParameters"]["partitionBy"], '["a"]')
        self.assertEqual(info["operationParameters"]["properties"], '{"k":"v"}')
        self.assertEqual(info["operationParameters"]["description"], "c")


if __name__ == "__main__":
    cli_support.main()
