#!/usr/bin/env python3
"""silt checkpoint: what it writes and says, and what it refuses."""
import glob
import hashlib
import json
import os
import urllib.parse

import cli_support


def leaves(value, path=()):
    """Paths and values of PROTOCOL.md "JSON checksum", texts as it has them."""
    if isinstance(value, (dict, list)):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for key, member in pairs:
            yield from leaves(member, path + (str(key) if isinstance(key, int) else canonical(key),))
    else:
        yield "+".join(path), canonical(value)


def canonical(scalar):
    return f'"{urllib.parse.quote(scalar, safe="")}"' if isinstance(scalar, str) else json.dumps(scalar)


def checksum(document):
    pairs = [f"{path}={value}" for path, value in leaves({key: member for key, member in document.items() if key != "checksum"})]
    return hashlib.md5(",".join(sorted(pairs)).encode()).hexdigest()


class Checkpoint(cli_support.CliTest):
    def setUp(self):
        self.table = f"t{self._testMethodName}"[:60]
        self.sql(f"CREATE TABLE {self.table} (id BIGINT, p STRING) PARTITIONED BY (p)")
        for i in range(3):
            self.sql(f"INSERT INTO {self.table} VALUES ({i}, 'a'), ({i}, 'b')")
        self.folder = os.path.join(self.dir, self.table, "_delta_log")

    def log(self, pattern):
        return sorted(os.path.basename(path) for path in glob.glob(os.path.join(self.folder, pattern)))

    def checkpoint(self, *words):
        done = self.silt("checkpoint", *words, "-o", "json")
        self.assertEqual((done.code, done.err), (0, ""))
        return json.loads(done.out)[0]

    def test_a_classic_checkpoint_stands_for_the_commits(self):
        row = self.checkpoint(self.table)
        self.assertEqual((row["version"], row["written"], row["numFiles"], row["numActions"]), (3, True, 6, 8))
        self.assertEqual(self.log("*.checkpoint.*"), [f"{3:020}.checkpoint.parquet"])
        self.assertEqual(row["sizeInBytes"], os.path.getsize(os.path.join(self.folder, f"{3:020}.checkpoint.parquet")))
        with open(os.path.join(self.folder, "_last_checkpoint"), encoding="utf-8") as hint:
            self.assertEqual(json.load(hint)["version"], 3)
        done = self.silt("fsck", self.table, "-o", "jsonl")
        self.assertEqual((done.code, done.out), (0, ""))
        for version in range(3):
            os.remove(os.path.join(self.folder, f"{version:020}.json"))
        done = self.silt("sql", f"SELECT count(*) AS n, sum(id) AS s FROM {self.table}", "-o", "jsonl")
        self.assertEqual(json.loads(done.out), {"n": 6, "s": 6})

    def test_the_hint_has_the_checksum_of_the_protocol(self):
        self.assertEqual(checksum({"b": {"y": None, "x": "https://delta.io"}, "a": 10}),
                         hashlib.md5(b'"a"=10,"b"+"x"="https%3A%2F%2Fdelta.io","b"+"y"=null').hexdigest())
        self.sql("CREATE TABLE sums (id BIGINT, `a/\u00e9` STRUCT<x: DATE>) "
                 "TBLPROPERTIES ('delta.feature.v2Checkpoint' = 'supported')")
        self.sql("INSERT INTO sums VALUES (1, NULL)")
        for table, words in ((self.table, ()), (self.table, ("--parts", "2")), ("sums", ()), ("sums", ("--v2",))):
            if words or table == "sums":  # of a version of its own
                self.sql(f"INSERT INTO {table} BY NAME SELECT 7 AS id")
            self.checkpoint(table, *words)
            with open(os.path.join(self.dir, table, "_delta_log", "_last_checkpoint"), encoding="utf-8") as file:
                hint = json.load(file)
            self.assertEqual("v2Checkpoint" in hint, "--v2" in words)
            self.assertEqual("\u00e9" in json.dumps(hint, ensure_ascii=False), table == "sums")  # something is encoded
            self.assertEqual(hint["checksum"], checksum(hint), words)

    def test_one_that_is_there_is_left_alone(self):
        self.checkpoint(self.table)
        row = self.checkpoint(self.table)
        self.assertEqual((row["written"], row["numFiles"], row["sizeInBytes"]), (False, None, None))

    def test_of_an_older_version(self):
        row = self.checkpoint(f"{self.table}@v1")
        self.assertEqual((row["version"], row["numFiles"]), (1, 2))
        row = self.checkpoint(self.table, "--version", "2")
        self.assertEqual((row["version"], row["numFiles"]), (2, 4))

    def test_parts(self):
        row = self.checkpoint(self.table, "--parts", "3")
        self.assertEqual(row["numCheckpointFiles"], 3)
        self.assertEqual(self.log("*.checkpoint.*"), [f"{3:020}.checkpoint.{i:010}.{3:010}.parquet" for i in (1, 2, 3)])
        done = self.silt("fsck", self.table, "-o", "jsonl")
        self.assertEqual((done.code, done.out), (0, ""))

    def test_v2_needs_the_feature(self):
        done = self.silt("checkpoint", self.table, "--v2")
        self.assertEqual(done.code, 1)
        self.assertIn("v2Checkpoint", done.err)
        self.assertIn("\nhint: a table gets it by the property delta.checkpointPolicy = 'v2'", done.err)
        self.assertEqual(self.log("*.checkpoint.*"), [])

    def test_v2_has_sidecars(self):
        self.sql("CREATE TABLE v2 (id BIGINT) TBLPROPERTIES ('delta.checkpointPolicy' = 'v2')")
        self.sql("INSERT INTO v2 VALUES (1)")
        row = self.checkpoint("v2")
        folder = os.path.join(self.dir, "v2", "_delta_log")
        self.assertEqual(row["numCheckpointFiles"], 2)
        self.assertEqual(len(glob.glob(os.path.join(folder, "_sidecars", "*.parquet"))), 1)
        self.assertEqual(len(glob.glob(os.path.join(folder, "*.checkpoint.*-*.parquet"))), 1)
        done = self.silt("checkpoint", "v2", "--parts", "2")
        self.assertNotEqual(done.code, 0)

    def test_wrong_usage(self):
        self.assertEqual(self.silt("checkpoint", "nothing").code, 4)
        self.assertEqual(self.silt("checkpoint", self.table, "--parts", "0").code, 2)
        self.assertEqual(self.silt("checkpoint", self.table, "--v2", "--parts", "2").code, 2)


if __name__ == "__main__":
    cli_support.main()
