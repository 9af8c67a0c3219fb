"""Tables that Spark writes, one for each feature that a reader can meet: a name, settings, and statements in which {t} is the
table. A statement may be a function of (spark session, path). Every statement that commits makes a version that silt must read.
"""


def dv(more=""):
    return f"TBLPROPERTIES ('delta.enableDeletionVectors' = 'true'{more})"


NO_DV = "'delta.enableDeletionVectors' = 'false'"


def props(*pairs):
    return "TBLPROPERTIES (" + ", ".join([NO_DV] + [f"'{key}' = '{value}'" for key, value in pairs]) + ")"


# ---- names ---------------------------------------------------------------------------------------------------------
def mapping(mode):
    """Column mapping: odd names, nested fields, renamed, dropped, added again under the same name, partitioned."""
    return [
        "CREATE TABLE {t} (id BIGINT, `a.b` INT, a STRUCT<b: STRING, `x y`: STRUCT<`d.e`: DATE>>, `Extract Year` INT, "
        "`tick``s` STRING, `quo\"te` DOUBLE, `日本 é` TIMESTAMP, l ARRAY<STRUCT<f: INT, g: STRING>>, "
        "m MAP<STRUCT<k: INT>, STRUCT<v: STRING>>, `part col` STRING, p2 INT) USING delta "
        "PARTITIONED BY (`part col`, p2) " + props(("delta.columnMapping.mode", mode)),
        "INSERT INTO {t} VALUES (1, 10, struct('x', struct(DATE'2020-01-01')), 2020, 't', 1.5, TIMESTAMP'2020-01-01 00:00:00', "
        "array(struct(1, 'g1'), null), map(struct(1), struct('v')), 'p=1/%', 1), "
        "(2, null, null, null, null, null, null, null, null, null, 2), "
        "(3, 30, struct(null, null), 3, '', double('NaN'), TIMESTAMP'1582-10-10 00:00:00', array(), map(), ' ', null)",
        "ALTER TABLE {t} RENAME COLUMN `a.b` TO renamed",
        "ALTER TABLE {t} RENAME COLUMN a.b TO `b.2`",
        "INSERT INTO {t} VALUES (4, 40, struct('y', struct(DATE'1999-12-31')), 4, 'u', -0.0, TIMESTAMP'2021-01-01 00:00:00', "
        "array(struct(4, 'g4')), map(struct(4), struct('w')), 'p', 1)",
        "ALTER TABLE {t} DROP COLUMN renamed",
        "ALTER TABLE {t} ADD COLUMN (renamed STRING)",
        "INSERT INTO {t} VALUES (5, struct('z', null), 5, 'v', 0.0, null, null, null, 'q', 5, 'back')",
        "ALTER TABLE {t} RENAME COLUMN `part col` TO part",
        "INSERT INTO {t} VALUES (6, null, 6, 'v', 0.0, null, array(struct(6, null)), null, 'r', 5, 'again')",
        "ALTER TABLE {t} RENAME COLUMN l.element.f TO ff",
        "ALTER TABLE {t} RENAME COLUMN m.value.v TO vv",
        "ALTER TABLE {t} DROP COLUMN a.`x y`",
        "ALTER TABLE {t} ADD COLUMN (a.`x y` INT)",
        "INSERT INTO {t} VALUES (7, struct('seven', 7), 7, 'v', 7.0, null, array(struct(7, 'g7')), map(struct(7), struct('v7')), "
        "'r', 7, 'seven')",
    ]


def upgraded(session, path):
    """Files of a table without mapping, then mapped by name: physical names are the old names, files have no ids."""
    session.sql(f"ALTER TABLE delta.`{path}` SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name', "
                "'delta.minReaderVersion' = '2', 'delta.minWriterVersion' = '5')")


MAPPING_UPGRADE = [
    "CREATE TABLE {t} (id BIGINT, s STRUCT<a: INT, b: STRING>, p STRING) USING delta PARTITIONED BY (p) " + props(),
    "INSERT INTO {t} VALUES (1, struct(1, 'one'), 'x'), (2, null, null)",
    upgraded,
    "ALTER TABLE {t} RENAME COLUMN s.a TO renamed",
    "ALTER TABLE {t} RENAME COLUMN p TO q",
    "INSERT INTO {t} VALUES (3, struct(3, 'three'), 'x')",
]

# ---- deletion vectors ------------------------------------------------------------------------------------------------
VECTORS = [
    "CREATE TABLE {t} (id BIGINT, s STRING, v DOUBLE) USING delta " + dv(),
    "INSERT INTO {t} SELECT id, concat('row ', id), id / 3 FROM range(0, 5000, 1, 1)",
    "DELETE FROM {t} WHERE id % 7 = 0",
    "DELETE FROM {t} WHERE id BETWEEN 1000 AND 1999",
    "UPDATE {t} SET s = 'changed' WHERE id % 1000 = 1",
    "INSERT INTO {t} SELECT id, concat('row ', id), id / 3 FROM range(5000, 6000, 1, 1)",
    "MERGE INTO {t} t USING (SELECT id * 2 AS id, 'merged' AS s FROM range(2000, 2700)) u ON t.id = u.id "
    "WHEN MATCHED AND t.id % 3 = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET s = u.s "
    "WHEN NOT MATCHED THEN INSERT (id, s) VALUES (u.id, u.s)",
    "DELETE FROM {t} WHERE id >= 5000 AND id < 5990",
    "OPTIMIZE {t}",
    "DELETE FROM {t} WHERE id = 4321",
    "REORG TABLE {t} APPLY (PURGE)",
    "RESTORE TABLE {t} TO VERSION AS OF 3",
]
VECTORS_PARTITIONED = [
    "CREATE TABLE {t} (id BIGINT, p STRING) USING delta PARTITIONED BY (p) "
    + dv(", 'delta.checkpointInterval' = '3', 'delta.randomizeFilePrefixes' = 'true'"),
    "INSERT INTO {t} SELECT id, concat('p ', id % 5, '/%') FROM range(1000)",
    "DELETE FROM {t} WHERE id % 3 = 0",
    "DELETE FROM {t} WHERE p = 'p 1/%' AND id > 500",
    "DELETE FROM {t} WHERE id % 5 = 2",
    "INSERT INTO {t} SELECT id, null FROM range(2000, 2100)",
    "DELETE FROM {t} WHERE p IS NULL AND id < 2050",
]

# ---- types -----------------------------------------------------------------------------------------------------------
WIDENING = [
    "CREATE TABLE {t} (id BIGINT, b_s TINYINT, b_i TINYINT, b_l TINYINT, s_i SMALLINT, s_l SMALLINT, i_l INT, f_d FLOAT, "
    "b_d TINYINT, s_d SMALLINT, i_d INT, d_d DECIMAL(5,2), d_s DECIMAL(5,2), b_c TINYINT, s_c SMALLINT, i_c INT, l_c BIGINT, "
    "da_n DATE, st STRUCT<x: INT, y: FLOAT>, ar ARRAY<SMALLINT>, ma MAP<TINYINT, DATE>) USING delta "
    + props(("delta.enableTypeWidening", "true"), ("delta.feature.timestampNtz", "supported")),
    "INSERT INTO {t} VALUES (1, 127, -128, 1, 32767, -32768, 2147483647, 0.1, 1, -1, 2147483647, 999.99, -999.99, 127, 32767, "
    "-2147483648, 9223372036854775807, DATE'2020-02-29', struct(1, 0.1), array(1, null, -32768), map(1, DATE'1582-10-04')), "
    "(2, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null), "
    "(3, 0, 0, 0, 0, 0, 0, double('NaN'), 0, 0, 0, 0, 0, 0, 0, 0, 0, DATE'0001-01-01', struct(null, null), array(), map())",
] + [f"ALTER TABLE {{t}} ALTER COLUMN {column} TYPE {kind}" for column, kind in (
    ("b_s", "SMALLINT"), ("b_i", "INT"), ("b_l", "BIGINT"), ("s_i", "INT"), ("s_l", "BIGINT"), ("i_l", "BIGINT"),
    ("f_d", "DOUBLE"), ("b_d", "DOUBLE"), ("s_d", "DOUBLE"), ("i_d", "DOUBLE"), ("d_d", "DECIMAL(12,2)"),
    ("d_s", "DECIMAL(20,6)"), ("b_c", "DECIMAL(12,1)"), ("s_c", "DECIMAL(12,1)"), ("i_c", "DECIMAL(14,2)"),
    ("l_c", "DECIMAL(22,1)"), ("da_n", "TIMESTAMP_NTZ"), ("st.x", "BIGINT"), ("st.y", "DOUBLE"), ("ar.element", "INT"),
    ("ma.key", "INT"), ("ma.value", "TIMESTAMP_NTZ"))] + [
    "INSERT INTO {t} VALUES (4, 32767, 2147483647, 9223372036854775807, 2147483647, 9223372036854775807, 9223372036854775807, "
    "1.0E300D, 1.5D, 1.5D, 1.5D, 1234567890.12, 12345678901234.123456, 12345678901.5, 12345678901.5, 123456789012.25, "
    "123456789012345678901.5, TIMESTAMP_NTZ'2020-02-29 12:34:56.123456', struct(9223372036854775807, 1.0E300D), "
    "array(2147483647), map(2147483647, TIMESTAMP_NTZ'2020-01-01 00:00:00.5'))",
    "ALTER TABLE {t} ALTER COLUMN b_s TYPE INT",
    "ALTER TABLE {t} ALTER COLUMN b_s TYPE BIGINT",
]
WIDENING_PARTITIONS = [
    "CREATE TABLE {t} (id BIGINT, pi INT, pd DATE, pf FLOAT) USING delta PARTITIONED BY (pi, pd, pf) "
    + props(("delta.enableTypeWidening", "true"), ("delta.feature.timestampNtz", "supported")),
    "INSERT INTO {t} VALUES (1, 7, DATE'2020-01-01', 0.1), (2, null, null, null), (3, -2147483648, DATE'1500-01-01', -0.0)",
    "ALTER TABLE {t} ALTER COLUMN pi TYPE BIGINT",
    "ALTER TABLE {t} ALTER COLUMN pd TYPE TIMESTAMP_NTZ",
    "ALTER TABLE {t} ALTER COLUMN pf TYPE DOUBLE",
    "INSERT INTO {t} VALUES (4, 9223372036854775807, TIMESTAMP_NTZ'2020-01-01 01:02:03.000004', 0.1)",
]
TIMES = [
    "CREATE TABLE {t} (id BIGINT, n TIMESTAMP_NTZ, z TIMESTAMP, pn TIMESTAMP_NTZ, pz TIMESTAMP, pd DATE, pb BINARY, "
    "pc DECIMAL(38,18), pf DOUBLE, po BOOLEAN) USING delta PARTITIONED BY (pn, pz, pd, pb, pc, pf, po) " + props(),
    "INSERT INTO {t} VALUES (1, TIMESTAMP_NTZ'2020-01-01 00:00:00.1', TIMESTAMP'2020-01-01 00:00:00.1Z', "
    "TIMESTAMP_NTZ'2020-05-05 00:00:00.123456', TIMESTAMP'2020-05-05 00:00:00.123456Z', DATE'0001-01-01', X'41C3A9', "
    "1.5, -0.0D, true), "
    "(2, TIMESTAMP_NTZ'0001-01-01 00:00:00', TIMESTAMP'9999-12-31 23:59:59.999999Z', TIMESTAMP_NTZ'9999-12-31 23:59:59.999999', "
    "TIMESTAMP'0001-01-01 00:00:00Z', DATE'9999-12-31', X'', -12345678901234567890.123456789012345678, double('NaN'), false), "
    "(3, null, null, null, null, null, null, null, null, null), "
    "(4, null, null, TIMESTAMP_NTZ'2020-05-05 00:00:00.1', TIMESTAMP'2020-05-05 00:00:00Z', DATE'1582-10-15', X'61622F25', 0, "
    "double('Infinity'), true)",
]
VARIANTS = [
    "CREATE TABLE {t} (id BIGINT, v VARIANT, s STRUCT<v: VARIANT, i: INT>, l ARRAY<VARIANT>, m MAP<STRING, VARIANT>) USING delta "
    + props(),
    """INSERT INTO {t} SELECT 1, parse_json('{{"a": [1, 2.5, "x", null, true], "b": {{"c": {{}}}}, "é": "日本"}}'),
       struct(parse_json('1'), 1), array(parse_json('[]'), null, parse_json('null')), map('k', parse_json('{{"z": 1}}'))""",
    "INSERT INTO {t} SELECT 2, null, null, null, null",
    "INSERT INTO {t} SELECT 3, parse_json('null'), struct(null, 3), array(), map()",
    "INSERT INTO {t} SELECT 4, to_variant_object(struct(DATE'2020-01-01' AS d, 12345678901234567890.123456789BD AS c, "
    "X'00FF' AS b, float('1.5') AS f, 1.0E300D AS g, 9223372036854775807L AS l)), null, null, null",
    "INSERT INTO {t} SELECT id, parse_json(concat('{{\"n\": ', id, ', \"t\": \"', repeat('x', 100), '\"}}')), null, null, null "
    "FROM range(10, 20)",
]
SHREDDED = [
    "CREATE TABLE {t} (id BIGINT, v VARIANT) USING delta " + props(("delta.enableVariantShredding", "true")),
    """INSERT INTO {t} SELECT id, parse_json(concat('{{"a": ', id, ', "b": "', id, '", "c": [', id, ']}}')) FROM range(100)""",
    "INSERT INTO {t} SELECT id, CASE WHEN id % 3 = 0 THEN null WHEN id % 3 = 1 THEN parse_json('null') "
    "ELSE parse_json(concat('{{\"a\": \"text ', id, '\", \"z\": {{\"q\": 1.25}}}}')) END FROM range(200, 230)",
]
TEXTS = [
    "CREATE TABLE {t} (id BIGINT, c CHAR(5), v VARCHAR(5), s STRUCT<c: CHAR(3)>, n STRING) USING delta " + props(),
    "INSERT INTO {t} VALUES (1, 'a', 'a', struct('b'), 'x'), (2, null, null, null, null), (3, 'abcde', 'abcde', struct('abc'), '')",
]
VOIDS = [
    "CREATE TABLE {t} (id BIGINT, s STRUCT<a: INT, n: VOID>, n VOID) USING delta " + props(),
    "INSERT INTO {t} (id, s, n) VALUES (1, struct(1, null), null), (2, null, null)",
]
NULL_STRUCTS = [
    "CREATE TABLE {t} (id BIGINT, s STRUCT<a: INT, b: STRUCT<c: STRING>>, l ARRAY<STRUCT<x: INT>>, m MAP<STRING, STRUCT<y: INT>>) "
    "USING delta " + props(),
    "INSERT INTO {t} VALUES (1, null, null, null), (2, struct(null, null), array(null, struct(null)), map('k', null)), "
    "(3, struct(1, struct(null)), array(struct(3)), map('k', struct(3))), (4, struct(1, struct('c')), array(), map())",
    "ALTER TABLE {t} ADD COLUMNS (s.d INT, s.b.e STRING, l.element.z STRING, m.value.w STRUCT<q: INT>, extra STRING)",
    "INSERT INTO {t} VALUES (5, struct(5, struct('c', 'e'), 5), array(struct(5, 'z')), map('k', struct(5, struct(5))), 'more')",
]

# ---- rows and what writers leave ----------------------------------------------------------------------------------------
ROW_IDS = [
    "CREATE TABLE {t} (id BIGINT, s STRING) USING delta " + props(("delta.enableRowTracking", "true")),
    "INSERT INTO {t} SELECT id, concat('r', id) FROM range(0, 100, 1, 2)",
    "INSERT INTO {t} SELECT id, concat('r', id) FROM range(100, 150, 1, 1)",
    "UPDATE {t} SET s = 'u' WHERE id % 10 = 3",
    "DELETE FROM {t} WHERE id % 10 = 4",
    "MERGE INTO {t} t USING (SELECT id * 3 AS id FROM range(60)) u ON t.id = u.id WHEN MATCHED THEN UPDATE SET s = 'm' "
    "WHEN NOT MATCHED THEN INSERT (id, s) VALUES (u.id, 'n')",
    "OPTIMIZE {t}",
]
ROW_IDS_VECTORS = [statement.replace(NO_DV, "'delta.enableDeletionVectors' = 'true'") for statement in ROW_IDS]
ROW_IDS_LATE = [
    "CREATE TABLE {t} (id BIGINT) USING delta " + props(),
    "INSERT INTO {t} SELECT id FROM range(0, 20, 1, 2)",
    "ALTER TABLE {t} SET TBLPROPERTIES ('delta.enableRowTracking' = 'true')",
    "INSERT INTO {t} SELECT id FROM range(20, 25)",
]


def identity(session, path):
    from delta.tables import DeltaTable, IdentityGenerator
    (DeltaTable.create(session).location(path)
     .addColumn("i", "BIGINT", generatedAlwaysAs=IdentityGenerator(start=10, step=5)).addColumn("s", "STRING")
     .addColumn("g", "INT", generatedAlwaysAs="length(s)").addColumn("d", "DATE", generatedAlwaysAs="CAST(at AS DATE)")
     .addColumn("at", "TIMESTAMP").partitionedBy("d").execute())


GENERATED = [
    identity,
    "INSERT INTO {t} (s, at) VALUES ('a', TIMESTAMP'2020-01-01 23:00:00Z'), ('bbb', null)",
    "INSERT INTO {t} (s, at) VALUES ('cc', TIMESTAMP'1500-01-01 00:00:00Z')",
]
CONSTRAINED = [
    "CREATE TABLE {t} (id BIGINT NOT NULL, v INT DEFAULT 42, t STRING DEFAULT 'x y', s STRUCT<a: INT NOT NULL>) USING delta "
    + props(("delta.feature.allowColumnDefaults", "supported")),
    "INSERT INTO {t} (id, s) VALUES (1, struct(1))",
    "ALTER TABLE {t} ADD CONSTRAINT positive CHECK (id > 0)",
    "INSERT INTO {t} VALUES (2, DEFAULT, null, struct(2))",
    "ALTER TABLE {t} ADD COLUMN (late INT)",
    "ALTER TABLE {t} ALTER COLUMN late SET DEFAULT 7",
    "INSERT INTO {t} (id, s) VALUES (3, struct(3))",
]
CLUSTERED = [
    "CREATE TABLE {t} (id BIGINT, k INT, s STRING) USING delta CLUSTER BY (k, s)",
    "INSERT INTO {t} SELECT id, id % 10, concat('s', id % 7) FROM range(1000)",
    "OPTIMIZE {t}",
    "INSERT INTO {t} SELECT id, id % 10, concat('s', id % 7) FROM range(1000, 1100)",
    "ALTER TABLE {t} CLUSTER BY (id)",
    "OPTIMIZE {t} FULL",
]
LEGACY_PROTOCOLS = {
    f"protocol-{reader}-{writer}": [
        f"CREATE TABLE {{t}} (id BIGINT, p STRING) USING delta PARTITIONED BY (p) TBLPROPERTIES ('delta.minReaderVersion' = "
        f"'{reader}', 'delta.minWriterVersion' = '{writer}', {NO_DV})",
        "INSERT INTO {t} VALUES (1, 'a'), (2, null)",
        "DELETE FROM {t} WHERE id = 1",
    ] for reader, writer in ((1, 1), (1, 2), (1, 3), (1, 4), (2, 5), (2, 6), (3, 7))}

# ---- the log -------------------------------------------------------------------------------------------------------------
INSERTS = [f"INSERT INTO {{t}} VALUES ({n}, 'row {n}', {n % 3})" for n in range(1, 9)]


def logged(*pairs, partitioned=True):
    by = " PARTITIONED BY (p)" if partitioned else ""
    return ["CREATE TABLE {t} (id BIGINT, s STRING, p INT) USING delta" + by + " " + props(*pairs)] + INSERTS + [
        "DELETE FROM {t} WHERE p = 1", "INSERT INTO {t} VALUES (100, 'last', 9)"]


def cleaned(session, path):
    """Commits before the newest checkpoint go."""
    import glob
    import os
    log = os.path.join(path, "_delta_log")
    newest = max(os.path.basename(name)[:20] for name in glob.glob(os.path.join(log, "*.checkpoint*")))
    for name in os.listdir(log):
        if name.lstrip(".")[:20].isdigit() and name.lstrip(".")[:20] < newest and os.path.isfile(os.path.join(log, name)):
            os.remove(os.path.join(log, name))
    session.catalog.clearCache()


COMMIT_TIMES_LATE = [
    "CREATE TABLE {t} (id BIGINT, s STRING, p INT) USING delta " + props()] + INSERTS[:3] + [
    "ALTER TABLE {t} SET TBLPROPERTIES ('delta.enableInCommitTimestamps' = 'true')"] + INSERTS[3:6]

CHANGES = [
    "CREATE TABLE {t} (id BIGINT, s STRING, p INT) USING delta PARTITIONED BY (p) " + props(("delta.enableChangeDataFeed", "true")),
    "INSERT INTO {t} SELECT id, concat('s', id), id % 3 FROM range(30)",
    "UPDATE {t} SET s = 'u' WHERE id < 5",
    "DELETE FROM {t} WHERE id % 10 = 9",
    "DELETE FROM {t} WHERE p = 2",
    "MERGE INTO {t} t USING (SELECT id * 4 AS id FROM range(20)) u ON t.id = u.id WHEN MATCHED THEN UPDATE SET s = 'm' "
    "WHEN NOT MATCHED THEN INSERT (id, s, p) VALUES (u.id, 'n', 0)",
    "INSERT OVERWRITE {t} VALUES (1, 'over', 1), (2, 'over', 2)",
    "ALTER TABLE {t} ADD COLUMN (extra STRING)",
    "INSERT INTO {t} VALUES (3, 'x', 1, 'extra')",
    "UPDATE {t} SET extra = 'later' WHERE id = 1",
]
CHANGES_VECTORS = [statement.replace(NO_DV, "'delta.enableDeletionVectors' = 'true'") for statement in CHANGES]
CHANGES_MAPPED = [statement.replace(NO_DV, "'delta.columnMapping.mode' = 'name'") for statement in CHANGES] + [
    "OPTIMIZE {t}", "DELETE FROM {t} WHERE id = 2"]


def replace_where(session, path):
    session.sql("SELECT 50L AS id, 'replaced' AS s, 1 AS p").write.format("delta").mode("overwrite").option(
        "replaceWhere", "p = 1").save(path)


def dynamic_overwrite(session, path):
    session.sql("SELECT 60L AS id, 'dynamic' AS s, 2 AS p").write.format("delta").mode("overwrite").option(
        "partitionOverwriteMode", "dynamic").save(path)


def merge_schema(session, path):
    session.sql("SELECT 70L AS id, 'merged' AS s, 2 AS p, struct(1 AS a) AS fresh").write.format("delta").mode("append").option(
        "mergeSchema", "true").save(path)


def overwrite_schema(session, path):
    session.sql("SELECT 'another' AS word, 1.5D AS number").write.format("delta").mode("overwrite").option(
        "overwriteSchema", "true").save(path)


REWRITES = ["CREATE TABLE {t} (id BIGINT, s STRING, p INT) USING delta PARTITIONED BY (p) " + props()] + INSERTS[:4] + [
    replace_where, dynamic_overwrite, merge_schema, overwrite_schema, "RESTORE TABLE {t} TO VERSION AS OF 4",
    "TRUNCATE TABLE {t}"]


def shallow_clone(session, path):
    """A clone: its adds name the source's files by absolute paths."""
    session.sql(f"CREATE TABLE delta.`{path}/a source` (id BIGINT, p STRING) USING delta PARTITIONED BY (p)")
    session.sql(f"INSERT INTO delta.`{path}/a source` VALUES (1, 'x y+z'), (2, '%41'), (3, null)")
    session.sql(f"DELETE FROM delta.`{path}/a source` WHERE id = 3")
    session.sql(f"CREATE TABLE delta.`{path}/a clone` SHALLOW CLONE delta.`{path}/a source`")


# ---- Parquet as other settings leave it ------------------------------------------------------------------------------------
OLD_TYPES = [
    "CREATE TABLE {t} (id BIGINT, d DATE, ts TIMESTAMP, s STRUCT<d: DATE, ts: TIMESTAMP>, l ARRAY<TIMESTAMP>, "
    "m MAP<STRING, DATE>, dec5 DECIMAL(5,2), dec18 DECIMAL(18,4), dec38 DECIMAL(38,10), n ARRAY<ARRAY<INT>>) USING delta "
    + props(),
    "INSERT INTO {t} VALUES (1, DATE'1500-03-01', TIMESTAMP'1500-03-01 00:00:00.123Z', struct(DATE'0001-01-01', "
    "TIMESTAMP'0001-01-01 00:00:00Z'), array(TIMESTAMP'1582-10-04 23:59:59.999Z', TIMESTAMP'1582-10-15 00:00:00Z'), "
    "map('k', DATE'1000-02-28'), -999.99, 1.2345, 12345678901234567890.0123456789, array(array(1), null, array())), "
    "(2, DATE'2020-02-29', TIMESTAMP'2020-02-29 12:34:56.789Z', null, null, null, null, null, null, null), "
    "(3, DATE'9999-12-31', TIMESTAMP'9999-12-31 23:59:59.999Z', struct(null, null), array(), map(), 0, 0, 0, array()), "
    "(4, DATE'1582-10-15', TIMESTAMP'1899-12-31 23:59:59Z', null, null, null, 1, 1, 1, array(null)), "
    "(5, DATE'0001-01-01', TIMESTAMP'0001-01-01 00:00:00Z', null, null, null, 1, 1, 1, null)",
]
PARQUET = {
    "legacy-micros": {"spark.sql.parquet.datetimeRebaseModeInWrite": "LEGACY"},
    "legacy-millis": {"spark.sql.parquet.datetimeRebaseModeInWrite": "LEGACY",
                      "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MILLIS"},
    "legacy-int96": {"spark.sql.parquet.datetimeRebaseModeInWrite": "LEGACY",
                     "spark.sql.parquet.int96RebaseModeInWrite": "LEGACY",
                     "spark.sql.parquet.outputTimestampType": "INT96"},
    "corrected-int96": {"spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
                        "spark.sql.parquet.int96RebaseModeInWrite": "CORRECTED",
                        "spark.sql.parquet.outputTimestampType": "INT96"},
    "corrected-micros": {"spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
                         "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS"},
    "corrected-millis": {"spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
                         "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MILLIS"},
    "legacy-layout": {"spark.sql.parquet.writeLegacyFormat": "true"},
    "pages-v2": {"spark.hadoop.parquet.writer.version": "v2"},
}
CODECS = ("none", "snappy", "gzip", "zstd", "lz4", "lz4_raw")

# ---- all of them: name → (settings, statements, what else is compared) ---------------------------------------------------------
TABLES = {
    "mapping-name": ({}, mapping("name")),
    "mapping-id": ({}, mapping("id")),
    "mapping-upgraded": ({}, MAPPING_UPGRADE),
    "vectors": ({}, VECTORS),
    "vectors-partitioned": ({}, VECTORS_PARTITIONED),
    "widening": ({}, WIDENING),
    "widening-partitions": ({}, WIDENING_PARTITIONS),
    "times": ({}, TIMES),
    "variant": ({}, VARIANTS),
    "variant-shredded": ({"spark.sql.variant.writeShredding.enabled": "true", "spark.sql.variant.inferShreddingSchema": "true"},
                         SHREDDED),
    "char-varchar": ({}, TEXTS),
    "void": ({}, VOIDS),
    "null-structs": ({}, NULL_STRUCTS),
    "row-ids": ({}, ROW_IDS),
    "row-ids-vectors": ({}, ROW_IDS_VECTORS),
    "row-ids-late": ({}, ROW_IDS_LATE),
    "generated": ({}, GENERATED),
    "constrained": ({}, CONSTRAINED),
    "clustered": ({}, CLUSTERED),
    **{name: ({}, statements) for name, statements in LEGACY_PROTOCOLS.items()},
    "v2-json": ({"spark.databricks.delta.checkpointV2.topLevelFileFormat": "json"},
                logged(("delta.checkpointPolicy", "v2"), ("delta.checkpointInterval", "3"))),
    "v2-parquet": ({"spark.databricks.delta.checkpointV2.topLevelFileFormat": "parquet"},
                   logged(("delta.checkpointPolicy", "v2"), ("delta.checkpointInterval", "3"))),
    "v2-json-cleaned": ({"spark.databricks.delta.checkpointV2.topLevelFileFormat": "json"},
                        logged(("delta.checkpointPolicy", "v2"), ("delta.checkpointInterval", "3")) + [cleaned]),
    "v2-parquet-cleaned": ({"spark.databricks.delta.checkpointV2.topLevelFileFormat": "parquet"},
                           logged(("delta.checkpointPolicy", "v2"), ("delta.checkpointInterval", "3")) + [cleaned]),
    "checkpoint-parts": ({"spark.databricks.delta.checkpoint.partSize": "2"},
                         logged(("delta.checkpointInterval", "3")) + [cleaned]),
    "struct-stats-only": ({}, logged(("delta.checkpointInterval", "3"), ("delta.checkpoint.writeStatsAsJson", "false"),
                                     ("delta.checkpoint.writeStatsAsStruct", "true")) + [cleaned]),
    "commit-times": ({}, logged(("delta.enableInCommitTimestamps", "true"), ("delta.checkpointInterval", "4"))),
    "commit-times-late": ({}, COMMIT_TIMES_LATE),
    "vacuum-protocol-check": ({}, logged(("delta.feature.vacuumProtocolCheck", "supported"))),
    "iceberg-compat": ({}, logged(("delta.enableIcebergCompatV2", "true"), ("delta.columnMapping.mode", "name"))),
    "changes": ({}, CHANGES),
    "changes-vectors": ({}, CHANGES_VECTORS),
    "changes-mapped": ({}, CHANGES_MAPPED),
    "rewrites": ({}, REWRITES),
    **{f"parquet-{name}": (settings, OLD_TYPES) for name, settings in PARQUET.items()},
    **{f"codec-{codec}": ({"spark.sql.parquet.compression.codec": codec}, OLD_TYPES) for codec in CODECS},
    "codec-lz4-v2": ({"spark.sql.parquet.compression.codec": "lz4", "spark.hadoop.parquet.writer.version": "v2"}, OLD_TYPES),
}
CHANGE_TABLES = ("changes", "changes-vectors", "changes-mapped")
ROW_ID_TABLES = ("row-ids", "row-ids-vectors", "row-ids-late")
CLONE = shallow_clone

# Conditions that must count as many rows as Spark counts, at the newest version.
CONDITIONS = {
    "mapping-name": ["renamed = 'back'", "p2 = 5", "part IS NULL", "`Extract Year` > 3", "a.`b.2` = 'y'", "`quo\"te` = 0",
                     "a.`x y` = 7", "renamed IS NULL", "part = 'p=1/%'", "a IS NULL"],
    "mapping-id": ["renamed = 'back'", "p2 = 5", "part IS NULL", "`Extract Year` > 3", "a.`b.2` = 'y'", "`quo\"te` = 0"],
    "variant": ["v IS NULL", "v IS NOT NULL", "s.v IS NULL", "s IS NULL"],
    "variant-shredded": ["v IS NULL", "v IS NOT NULL"],
    "vectors": ["id < 100", "s = 'changed'", "id BETWEEN 900 AND 2100", "v > 1000.5"],
    "vectors-partitioned": ["p IS NULL", "p = 'p 1/%'", "id > 900"],
    "widening": ["f_d = CAST(0.1 AS FLOAT)", "f_d > 0.1", "i_l > 2147483646", "d_s < 0", "l_c > 9223372036854775806",
                 "da_n = TIMESTAMP_NTZ'2020-02-29 00:00:00'", "st.y > 0.1", "b_s = 127", "da_n < TIMESTAMP_NTZ'0001-01-01 00:00:01'"],
    "widening-partitions": ["pi = 7", "pd = TIMESTAMP_NTZ'2020-01-01 00:00:00'", "pf > 0.1", "pf = 0.1", "pf = 0", "pi IS NULL"],
    "times": ["pz = TIMESTAMP'2020-05-05 00:00:00Z'", "pn > TIMESTAMP_NTZ'2020-05-05 00:00:00.1'", "pf = 0", "pf > 1", "pd < "
              "DATE'1582-10-15'", "pc > 0", "po", "pb = X'41C3A9'", "z > TIMESTAMP'2020-01-01 00:00:00Z'"],
    "null-structs": ["s IS NULL", "s.a IS NULL", "s.b.c IS NULL", "s.d = 5", "extra IS NULL"],
    "struct-stats-only": ["id = 100", "id < 3", "s = 'row 2'", "p = 0"],
    "clustered": ["k = 3", "s = 's1' AND k > 5", "id >= 1050"],
    "generated": ["d = DATE'2020-01-01'", "g = 3", "i > 10", "at < TIMESTAMP'1600-01-01 00:00:00Z'"],
    "parquet-legacy-micros": ["d < DATE'1582-10-15'", "ts < TIMESTAMP'1582-10-15 00:00:00Z'", "d = DATE'1500-03-01'",
                              "ts = TIMESTAMP'1500-03-01 00:00:00.123Z'"],
    "parquet-legacy-int96": ["d < DATE'1582-10-15'", "ts < TIMESTAMP'1582-10-15 00:00:00Z'",
                             "ts = TIMESTAMP'9999-12-31 23:59:59.999Z'"],
    "parquet-corrected-int96": ["ts < TIMESTAMP'1582-10-15 00:00:00Z'", "ts >= TIMESTAMP'9999-12-31 23:59:59.999Z'"],
    "parquet-corrected-millis": ["ts = TIMESTAMP'1500-03-01 00:00:00.123Z'", "d = DATE'0001-01-01'"],
}
