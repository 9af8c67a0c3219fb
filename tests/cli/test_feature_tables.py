"""Tables of each feature that silt writes: made, appended to and overwritten by the program, read back, found sound by fsck; and tables
that ask for what it does not write: refused by name, with nothing changed."""
import hashlib
import json
import os

import cli_support

NESTED = "s STRUCT<x: INT, y: ARRAY<STRUCT<p: BIGINT>>>, m MAP<STRING, STRUCT<q: INT>>"
# feature, properties, and what the protocol must list
FEATURES = (
    ("mapped by name", {"delta.columnMapping.mode": "name"}, "columnMapping"),
    ("mapped by id", {"delta.columnMapping.mode": "id"}, "columnMapping"),
    ("deletion vectors", {"delta.enableDeletionVectors": "true"}, "deletionVectors"),
    ("vectors listed only", {"delta.feature.deletionVectors": "supported"}, "deletionVectors"),
    ("change data", {"delta.enableChangeDataFeed": "true"}, "changeDataFeed"),
    ("type widening", {"delta.enableTypeWidening": "true"}, "typeWidening"),
    ("type widening preview", {"delta.feature.typeWidening-preview": "supported"}, "typeWidening-preview"),
    ("v2 checkpoints", {"delta.checkpointPolicy": "v2"}, "v2Checkpoint"),
    ("row tracking", {"delta.enableRowTracking": "true"}, "rowTracking"),
    ("row tracking listed only", {"delta.feature.rowTracking": "supported"}, "rowTracking"),
    ("commit timestamps", {"delta.enableInCommitTimestamps": "true"}, "inCommitTimestamp"),
    ("domain metadata", {"delta.feature.domainMetadata": "supported"}, "domainMetadata"),
    ("vacuum check", {"delta.feature.vacuumProtocolCheck": "supported"}, "vacuumProtocolCheck"),
    ("checkpoint protection", {"delta.feature.checkpointProtection": "supported"}, "checkpointProtection"),
    ("materialised", {"delta.enableMaterializePartitionColumnsFeature": "true"}, "materializePartitionColumns"),
    ("iceberg v2", {"delta.enableIcebergCompatV2": "true"}, "icebergCompatV2"),
    ("shredding", {"delta.enableVariantShredding": "true"}, "variantShredding"),
    ("defaults listed only", {"delta.feature.allowColumnDefaults": "supported"}, "allowColumnDefaults"),
    ("constraints listed only", {"delta.feature.checkConstraints": "supported"}, "checkConstraints"),
    ("generated listed only", {"delta.feature.generatedColumns": "supported"}, "generatedColumns"),
    ("identity listed only", {"delta.feature.identityColumns": "supported"}, "identityColumns"),
    ("collations listed only", {"delta.feature.collations": "supported"}, "collations"),
)
ROWS = [
    {"id": 1, "s": {"x": 1, "y": [{"p": 2}, None]}, "m": {"k": {"q": 3}}, "part": "a b"},
    {"id": 2, "s": None, "m": None, "part": None},
]
VALUES = "(1, {'x': 1, 'y': [{'p': 2}, NULL]}, MAP {'k': {'q': 3}}, 'a b'), (2, NULL, NULL, NULL)"


class FeatureTables(cli_support.CliTest):
    def log(self, table, version):
        with open(os.path.join(self.dir, table, "_delta_log", f"{version:020}.json"), encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    def action(self, table, version, kind):
        found = [action[kind] for action in self.log(table, version) if kind in action]
        self.assertEqual(len(found), 1)
        return found[0]

    def rows(self, table, order="id", where=""):
        text = self.sql(f"SELECT * FROM delta.`{self.dir}/{table}` {where} ORDER BY {order}", "-o", "jsonl")
        return [json.loads(line) for line in text.splitlines()]

    def assert_sound(self, table):
        self.assert_prints("", "fsck", os.path.join(self.dir, table), "-o", "jsonl")

    def create(self, table, columns, properties, partitions="", *more):
        listed = ", ".join(f"'{key}' = '{value}'" for key, value in properties.items())
        create = f"CREATE TABLE delta.`{self.dir}/{table}` ({columns}) USING delta {partitions} TBLPROPERTIES ({listed})"
        self.sql("; ".join((create,) + more))

    def test_each_feature_is_created_appended_to_and_overwritten(self):
        for name, properties, feature in FEATURES:
            with self.subTest(name):
                table = name.replace(" ", "_")
                target = f"delta.`{self.dir}/{table}`"
                self.create(table, f"id BIGINT, {NESTED}, part STRING", properties, "PARTITIONED BY (part)",
                            f"INSERT INTO {target} VALUES {VALUES}", f"INSERT INTO {target} VALUES (3, NULL, NULL, 'c')")
                protocol = self.action(table, 0, "protocol")
                # an old version that implies just the features says as much as a list of them
                self.assertIn(feature, protocol.get("writerFeatures", ["checkConstraints"] if protocol["minWriterVersion"] == 3 else []))
                self.assertEqual(self.rows(table), ROWS + [{"id": 3, "s": None, "m": None, "part": "c"}])
                self.sql(f"INSERT OVERWRITE {target} VALUES {VALUES}")
                self.assertEqual(self.rows(table, "id", "WHERE part = 'a b' AND s.x = 1"), ROWS[:1])
                self.assertEqual(self.rows(table), ROWS)
                self.assert_sound(table)

    def test_mapped_files_hide_the_names_of_columns(self):
        self.create("hidden", "`a secret, (name)` INT, part STRING", {"delta.columnMapping.mode": "name"},
                    "PARTITIONED BY (part)")
        self.sql(f"INSERT INTO delta.`{self.dir}/hidden` VALUES (7, 'x'), (8, 'y')")
        schema = json.loads(self.action("hidden", 0, "metaData")["schemaString"])
        physical = [field["metadata"]["delta.columnMapping.physicalName"] for field in schema["fields"]]
        for entry in (action["add"] for action in self.log("hidden", 1) if "add" in action):
            self.assertEqual(list(entry["partitionValues"]), physical[1:])
            self.assertEqual(list(json.loads(entry["stats"])["minValues"]), physical[:1])
            self.assertRegex(entry["path"], r"^[0-9A-Za-z]{2}/part-")
        self.assertEqual(self.rows("hidden", "1"), [{"a secret, (name)": 7, "part": "x"}, {"a secret, (name)": 8, "part": "y"}])
        self.assert_sound("hidden")

    def test_statistics_of_mapped_columns_go_by_the_names_that_users_know(self):
        self.create("chosen", "a INT, s STRUCT<x: INT, y: INT>, z INT",
                    {"delta.columnMapping.mode": "name", "delta.dataSkippingStatsColumns": "s.y,z"})
        self.sql(f"INSERT INTO delta.`{self.dir}/chosen` VALUES (1, {{'x': 2, 'y': 3}}, 4)")
        fields = {f["name"]: f for f in json.loads(self.action("chosen", 0, "metaData")["schemaString"])["fields"]}
        name = "delta.columnMapping.physicalName"
        inner = {f["name"]: f["metadata"][name] for f in fields["s"]["type"]["fields"]}
        stats = json.loads(self.action("chosen", 1, "add")["stats"])
        self.assertEqual(stats["minValues"], {fields["s"]["metadata"][name]: {inner["y"]: 3}, fields["z"]["metadata"][name]: 4})
        self.assert_sound("chosen")

    def test_variants_keep_null_and_the_null_variant_apart(self):
        self.create("variants", "id INT, v VARIANT, s STRUCT<w: VARIANT>, l ARRAY<VARIANT>, m MAP<STRING, VARIANT>", {"a": "b"})
        self.assertIn("variantType", self.action("variants", 0, "protocol")["readerFeatures"])
        self.sql(f"""INSERT INTO delta.`{self.dir}/variants`
            SELECT 1, '{{"a": [1, 2.5, null, "x"]}}'::JSON::VARIANT, {{'w': 5::VARIANT}}, [1::VARIANT, NULL, 'x'::VARIANT], MAP {{'k': true::VARIANT}}
            UNION ALL SELECT 2, NULL, NULL, NULL, NULL UNION ALL SELECT 3, 1.25::DECIMAL(5,2)::VARIANT, {{'w': NULL}}, [], MAP {{}}""")
        self.assertEqual(self.rows("variants"), [
            {"id": 1, "v": {"a": [1, 2.5, None, "x"]}, "s": {"w": 5}, "l": [1, None, "x"], "m": {"k": True}},
            {"id": 2, "v": None, "s": None, "l": None, "m": None},
            {"id": 3, "v": 1.25, "s": {"w": None}, "l": [], "m": {}}])
        stats = json.loads(self.action("variants", 1, "add")["stats"])
        self.assertEqual(stats["nullCount"], {"id": 0, "v": 1, "s": {"w": 2}})
        self.assert_sound("variants")
        done = self.silt("sql", f"INSERT INTO delta.`{self.dir}/variants` (id, v) VALUES (4, 7)")
        self.assertEqual(done.code, 1)
        self.assertIn("variant", done.err)

    def test_iceberg_tables_keep_partition_columns_and_nested_ids_in_their_files(self):
        self.create("iceberg", "id INT, l ARRAY<ARRAY<INT>>, m MAP<STRING, INT>, part DATE", {"delta.enableIcebergCompatV2": "true"},
                    "PARTITIONED BY (part)")
        self.sql(f"INSERT INTO delta.`{self.dir}/iceberg` VALUES (1, [[1, 2]], MAP {{'k': 3}}, DATE '2020-02-29')")
        entry = self.action("iceberg", 1, "add")
        file = os.path.join(self.dir, "iceberg", entry["path"])
        found = json.loads(self.sql(
            f"SELECT list(field_id ORDER BY field_id) AS ids FROM parquet_schema('{file}') WHERE field_id IS NOT NULL", "-o", "jsonl"))
        self.assertEqual(found["ids"], [1, 2, 3, 4, 5, 6, 7, 8])
        names = self.sql(f"SELECT name FROM parquet_schema('{file}') ORDER BY field_id DESC NULLS LAST LIMIT 1", "-o", "csv")
        self.assertEqual(names.splitlines()[1], list(entry["partitionValues"])[0])
        self.assertEqual(self.rows("iceberg"), [{"id": 1, "l": [[1, 2]], "m": {"k": 3}, "part": "2020-02-29"}])

    # ---- what is refused ------------------------------------------------------------------------------------------

    def content(self, table):
        """Names and bytes of all files of a table."""
        found = {}
        for folder, _, names in os.walk(os.path.join(self.dir, table)):
            for name in names:
                path = os.path.join(folder, name)
                with open(path, "rb") as file:
                    found[os.path.relpath(path, self.dir)] = hashlib.sha256(file.read()).hexdigest()
        return found

    def by_hand(self, table, features, column=None, properties=None):
        """A table that another writer could have left, with one row to be."""
        field = {"name": "id", "type": "long", "nullable": True, "metadata": column or {}}
        protocol = {"minReaderVersion": 1, "minWriterVersion": 7, "writerFeatures": list(features)}
        if "columnMapping" in features:
            protocol["minReaderVersion"] = 2
        actions = [{"protocol": protocol}, {"metaData": {
            "id": "5fba94ed-9794-4965-ba6e-6ee3c0d22af9", "format": {"provider": "parquet", "options": {}},
            "schemaString": json.dumps({"type": "struct", "fields": [field]}), "partitionColumns": [],
            "configuration": properties or {}, "createdTime": 1700000000000}}]
        log = os.path.join(self.dir, table, "_delta_log")
        os.makedirs(log)
        with open(os.path.join(log, f"{0:020}.json"), "w", encoding="utf-8") as file:
            file.writelines(json.dumps(action) + "\n" for action in actions)

    def test_what_silt_does_not_write_is_refused_by_name_and_changes_nothing(self):
        unsupported = "DELTA_UNSUPPORTED_FEATURES_FOR_WRITE"
        compat = "DELTA_ICEBERG_COMPAT_VIOLATION."
        cases = (
            (["checkConstraints"], None, {"delta.constraints.c": "id > 0"}, unsupported, "checkConstraints"),
            ([], None, {"delta.constraints.c": "id > 0"}, unsupported, "checkConstraints"),
            (["invariants"], {"delta.invariants": "{}"}, None, unsupported, "invariants"),
            (["generatedColumns"], {"delta.generationExpression": "1"}, None, unsupported, "generatedColumns"),
            (["identityColumns"], {"delta.identity.step": 1}, None, unsupported, "identityColumns"),
            (["allowColumnDefaults"], {"CURRENT_DEFAULT": "1"}, None, unsupported, "allowColumnDefaults"),
            (["collations", "domainMetadata"], {"__COLLATIONS": {"id": "ICU.UNICODE"}}, None, unsupported, "collations"),
            (["icebergCompatV3"], None, {"delta.enableIcebergCompatV3": "true"}, unsupported, "icebergCompatV3"),
            (["icebergWriterCompatV1"], None, None, unsupported, "icebergWriterCompatV1"),
            (["columnMappingUsageTracking"], None, None, unsupported, "columnMappingUsageTracking"),
            (["coordinatedCommits-preview"], None, None, unsupported, "coordinatedCommits-preview"),
            (["redirectWriterOnly-preview"], None, None, unsupported, "redirectWriterOnly-preview"),
            (["icebergCompatV1"], None, {"delta.enableIcebergCompatV1": "true"}, compat + "WRONG_REQUIRED_TABLE_PROPERTY",
             "delta.columnMapping.mode"),
            (["icebergCompatV1", "icebergCompatV2"], None,
             {"delta.enableIcebergCompatV1": "true", "delta.enableIcebergCompatV2": "true"}, compat + "VERSION_MUTUAL_EXCLUSIVE", "one"),
            (["domainMetadata"], None, {"delta.enableRowTracking": "true", "delta.rowTrackingSuspended": "true"},
             "DELTA_ROW_TRACKING_ILLEGAL_PROPERTY_COMBINATION", "delta.rowTrackingSuspended"),
        )
        for number, (features, column, properties, name, part) in enumerate(cases):
            with self.subTest(features=features, name=name):
                table = f"refused{number}"
                self.by_hand(table, features, column, properties)
                before = self.content(table)
                for verb in ("INTO", "OVERWRITE"):
                    done = self.silt("sql", f"INSERT {verb} delta.`{self.dir}/{table}` VALUES (1)")
                    self.assertNotEqual(done.code, 0)
                    self.assertIn(f"error: [{name}]", done.err)
                    self.assertIn(part, done.err)
                self.assertEqual(self.content(table), before)
                self.assertEqual(self.rows(table), [])

    def test_tables_that_cannot_be_made_leave_nothing(self):
        compat = "DELTA_ICEBERG_COMPAT_VIOLATION."
        cases = (
            ("a INT", {"delta.columnMapping.mode": "both"}, "DELTA_ILLEGAL_OPTION"),
            ("a INT", {"delta.columnMapping.maxColumnId": "9"}, "DELTA_CANNOT_MODIFY_TABLE_PROPERTY"),
            ("`a b` INT", {"delta.columnMapping.mode": "none"}, "DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES"),
            ("a INT", {"silt.nonsense": "1"}, "DELTA_UNKNOWN_CONFIGURATION"),
            ("a INT", {"delta.nonsense": "1"}, "DELTA_UNKNOWN_CONFIGURATION"),
            ("a INT", {"delta.feature.nonsense": "supported"}, "DELTA_UNSUPPORTED_FEATURES_IN_CONFIG"),
            ("a INT", {"delta.feature.clustering": "supported"}, "DELTA_CREATE_TABLE_SET_CLUSTERING_TABLE_FEATURE_NOT_ALLOWED"),
            ("a INT", {"delta.enableIcebergCompatV2": "true", "delta.columnMapping.mode": "none"},
             compat + "WRONG_REQUIRED_TABLE_PROPERTY"),
            ("a INT", {"delta.enableIcebergCompatV1": "true", "delta.enableIcebergCompatV2": "true"},
             compat + "VERSION_MUTUAL_EXCLUSIVE"),
            ("a INT", {"delta.enableIcebergCompatV2": "true", "delta.enableDeletionVectors": "true"},
             compat + "DELETION_VECTORS_SHOULD_BE_DISABLED"),
            ("a ARRAY<INT>", {"delta.enableIcebergCompatV1": "true"}, compat + "UNSUPPORTED_DATA_TYPE"),
            ("a VARIANT", {"delta.enableIcebergCompatV2": "true"}, compat + "UNSUPPORTED_DATA_TYPE"),
            ("a INT", {"delta.constraints.c": "a > 0"}, "DELTA_UNSUPPORTED_FEATURES_FOR_WRITE"),
            ("a INT", {"delta.universalFormat.enabledFormats": "iceberg"}, "DELTA_UNIVERSAL_FORMAT_VIOLATION"),
            ("a INT", {"delta.logRetentionDuration": "interval 1 month"}, "DELTA_INVALID_INTERVAL"),
            ("a INT", {"delta.checkpointInterval": "0"}, "DELTA_ILLEGAL_OPTION"),
            ("a INT", {"delta.checkpointInterval": "99999999999"}, "DELTA_ILLEGAL_OPTION"),
            ("a INT", {"delta.appendOnly": "true", "Delta.AppendOnly": "false"}, "DUPLICATE_KEY"),
            ("a INT", {"delta.dataSkippingStatsColumns": "b"}, "DELTA_COLUMN_NOT_FOUND_IN_SCHEMA"),
            ("a INT, _change_type INT", {"delta.enableChangeDataFeed": "true"}, "DELTA_TABLE_ALREADY_CONTAINS_CDC_COLUMNS"),
            ("a INT", {"delta.inCommitTimestampEnablementVersion": "0"}, "DELTA_CANNOT_MODIFY_TABLE_PROPERTY"),
        )
        for number, (columns, properties, name) in enumerate(cases):
            with self.subTest(properties=properties):
                listed = ", ".join(f"'{key}' = '{value}'" for key, value in properties.items())
                path = os.path.join(self.dir, f"never{number}")
                done = self.silt("sql", f"CREATE TABLE delta.`{path}` ({columns}) USING delta TBLPROPERTIES ({listed})")
                self.assertNotEqual(done.code, 0)
                self.assertIn(f"error: [{name}]", done.err)
                self.assertFalse(os.path.exists(path))


if __name__ == "__main__":
    cli_support.main()
