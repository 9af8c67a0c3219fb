#!/usr/bin/env python3
"""silt clean-log and silt compact-log: what they say, what they leave."""
import csv
import glob
import io
import json
import os

import cli_support

DAY = 86400
# The commits as the rows of a checkpoint, all of whose files are live.
STATE = """
SELECT protocol, metaData, add FROM read_json('{log}/0000000000000000000[0-{last}].json', format = 'newline_delimited', columns = {{
    protocol: 'STRUCT(minReaderVersion INT, minWriterVersion INT)',
    metaData: 'STRUCT(id VARCHAR, format STRUCT(provider VARCHAR, options MAP(VARCHAR, VARCHAR)), schemaString VARCHAR,
               partitionColumns VARCHAR[], configuration MAP(VARCHAR, VARCHAR), createdTime BIGINT)',
    add: 'STRUCT(path VARCHAR, partitionValues MAP(VARCHAR, VARCHAR), size BIGINT, modificationTime BIGINT, dataChange BOOLEAN,
          stats VARCHAR)'}})
WHERE protocol IS NOT NULL OR metaData IS NOT NULL OR add IS NOT NULL
"""


class Maintain(cli_support.CliTest):
    def setUp(self):
        self.table = f"t{self._testMethodName}"[:60]
        self.sql(f"CREATE TABLE {self.table} (id BIGINT)")
        for i in range(4):
            self.sql(f"INSERT INTO {self.table} VALUES ({i})")
        self.folder = os.path.join(self.dir, self.table, "_delta_log")

    def log(self, pattern="*"):
        return sorted(os.path.basename(path) for path in glob.glob(os.path.join(self.folder, pattern)))

    def checkpoint(self, version):
        path = os.path.join(self.folder, f"{version:020}.checkpoint.parquet")
        done = self.silt("sql", STATE.format(log=self.folder, last=version), "-O", path)
        self.assertEqual((done.code, done.err), (0, ""))

    def age(self, days, version):
        """The version's commit was that many days ago."""
        path = os.path.join(self.folder, f"{version:020}.json")
        time = os.path.getmtime(path) - days * DAY
        os.utime(path, (time, time))

    def test_nothing_goes_that_is_young_or_without_a_checkpoint(self):
        self.assert_prints(f"{self.table}: nothing of the log has expired\n", "clean-log", self.table, "-o", "table")
        for version in range(5):
            self.age(100 - version, version)
        self.assert_prints(
            f"{self.table}: nothing was deleted: no checkpoint at or before the newest expired commit could stand for it\n",
            "clean-log", self.table, "-o", "table",
        )
        self.assertEqual(len(self.log("*.json")), 5)

    def test_what_has_expired_goes_and_the_rest_reads_as_before(self):
        self.checkpoint(2)
        for version in range(5):
            self.age(100 - version, version)
        done = self.silt("clean-log", self.table, "--dry-run", "-o", "csv")
        self.assertEqual((done.code, done.err), (0, ""))
        doomed = [row["file"] for row in csv.DictReader(io.StringIO(done.out))]
        self.assertIn("00000000000000000000.json", doomed)
        self.assertEqual(len(self.log("*.json")), 5)
        self.assert_prints(
            f"{self.table}: {len(doomed)} files of the log would be deleted; the oldest version that stays is 2\n",
            "clean-log", self.table, "--dry-run", "-o", "table",
        )
        self.assert_prints(
            f"{self.table}: {len(doomed)} files of the log deleted; the oldest version that stays is 2\n",
            "clean-log", self.table, "-o", "table",
        )
        self.assertEqual(self.log("*.json"), [f"{version:020}.json" for version in (2, 3, 4)])
        self.assertEqual(self.sql(f"SELECT count(*) FROM {self.table}", "-o", "csv"), "count_star()\n4\n")
        self.assertEqual(self.sql(f"SELECT count(*) FROM {self.table} VERSION AS OF 3", "-o", "csv"), "count_star()\n3\n")
        self.assertEqual(self.silt("fsck", self.table, "-o", "jsonl").code, 0)
        self.assert_prints("", "clean-log", self.table, "-o", "jsonl")
        self.assert_prints(
            f"{self.table}: nothing was deleted: no file is from before the checkpoint of version 2, the newest that is old enough to "
            "stand for what has expired\n",
            "clean-log", self.table, "-o", "table",
        )

    def test_a_checkpoint_whose_time_hangs_on_older_commits_is_named_as_the_reason(self):
        self.checkpoint(2)
        for version, days in enumerate((90, 100, 100, 100, 90)):
            self.age(days, version)
        done = self.silt("clean-log", self.table, "-o", "table")
        self.assertEqual((done.code, done.err), (0, ""))
        self.assertIn("nothing was deleted: file times do not ascend", done.out)
        self.assertEqual(len(self.log("*.json")), 5)

    def test_commits_write_the_checkpoints_that_are_due_and_clean_up_after_them(self):
        table = self.table[:20] + "_due"
        self.folder = os.path.join(self.dir, table, "_delta_log")
        self.sql(f"CREATE TABLE {table} (id BIGINT) TBLPROPERTIES ('delta.checkpointInterval' = '3')")
        for i in range(1, 6):
            self.sql(f"INSERT INTO {table} VALUES ({i})")
        self.assertEqual(self.log("*.checkpoint.parquet"), ["00000000000000000003.checkpoint.parquet"])
        self.assertEqual(self.log("*.crc"), [f"{version:020}.crc" for version in range(6)])
        for name in self.log("*.crc"):
            os.remove(os.path.join(self.folder, name))
        for version in range(6):
            self.age(100 - version, version)
        for i in range(6, 8):
            self.sql(f"INSERT INTO {table} VALUES ({i})")
        # Nothing to derive the first checksum from: the checkpoint counts anew, and later ones follow it.
        self.assertEqual(self.log("*.crc"), [f"{version:020}.crc" for version in (6, 7)])
        self.assertEqual(self.log("*.checkpoint.parquet"), [f"{version:020}.checkpoint.parquet" for version in (3, 6)])
        self.assertEqual(self.log("*.json"), [f"{version:020}.json" for version in range(3, 8)])
        self.assertEqual(self.sql(f"SELECT sum(id) AS s FROM {table}", "-o", "csv"), "s\n28\n")
        self.assert_prints("", "fsck", table, "-o", "jsonl")
        beyond = self.silt("sql", f"SELECT * FROM {table} VERSION AS OF 99")
        self.assertTrue(beyond.err.startswith("error: [DELTA_VERSION_NOT_FOUND]"), beyond.err)

    def test_commits_are_compacted_and_read_as_before(self):
        done = self.silt("compact-log", self.table, "--from", "1", "--to", "3", "-o", "json")
        self.assertEqual((done.code, done.err), (0, ""))
        row = json.loads(done.out)[0]
        self.assertEqual((row["fromVersion"], row["toVersion"], row["actions"]), (1, 3, 3))
        self.assertEqual(self.log("*.compacted.json"), ["00000000000000000001.00000000000000000003.compacted.json"])
        self.assertEqual(self.sql(f"SELECT sum(id) AS s FROM {self.table}", "-o", "csv"), "s\n6\n")
        self.assertEqual(self.silt("fsck", self.table, "-o", "jsonl").code, 0)
        self.assert_prints(
            f"{self.table}: versions 1 to 3 are compacted already\n",
            "compact-log", self.table, "--from", "1", "--to", "3", "-o", "table",
        )

    def test_faults_have_exit_codes(self):
        self.assertEqual(self.silt("clean-log", "nothing").code, 4)
        self.assertEqual(self.silt("compact-log", "nothing").code, 4)
        self.assertEqual(self.silt("compact-log", self.table, "--from", "3", "--to", "2").code, 1)
        self.assertEqual(self.silt("clean-log", f"{self.table}@v1").code, 2)
        self.assertEqual(self.silt("clean-log", self.table, "-o", "parquet").code, 2)


if __name__ == "__main__":
    cli_support.main()
