"""Makes tables with large logs and no data; run by the peers' Python: make_log.py FOLDER [--files N] [KIND...].

Every kind is a table of its own in FOLDER. Names, values and times follow from the file's number by MD5, so the same N gives the same
table. Checkpoints are written by DuckDB's COPY as other writers lay them out; commits are text written here. A finished table has the file
".done", which no reader of Delta looks at.

    plain            checkpoint, no statistics, 100 partitions, in the order of the partitions
    crc              the same with a version checksum beside it
    flat             the same without partitions
    json, json_hash  statistics as JSON, in the order of the partitions or of hashes
    parsed, parsed_hash   statistics as stats_parsed only
    peer             JSON statistics, uncompressed, one row group, in the order of hashes
    tail             plain, then 100 commits that add a tenth of N and remove a twentieth
    commits          checkpoint of N / 10 files, 1,000 commits of 100 adds
    small            10 commits of 100 adds, no checkpoint
    one_commit       N adds in one commit
    vectors          like plain, every tenth file with a deletion vector, row tracking
"""
import argparse
import json
import os
import shutil

import duckdb

TIME_MS = 1_767_225_600_000
GROUP_ROWS = 122_880
SCHEMA = [("id", "long"), ("name", "string"), ("value", "double"), ("day", "date")]
ZSTD = f"FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 3, ROW_GROUP_SIZE {GROUP_ROWS}"
PEER = "FORMAT parquet, COMPRESSION uncompressed, ROW_GROUP_SIZE 1048576"

# kind: partitioned, statistics, order, COPY options
CHECKPOINTS = {
    "plain": (True, None, "part", ZSTD),
    "crc": (True, None, "part", ZSTD),
    "flat": (False, None, "part", ZSTD),
    "json": (True, "json", "part", ZSTD),
    "json_hash": (True, "json", "hash", ZSTD),
    "parsed": (True, "parsed", "part", ZSTD),
    "parsed_hash": (True, "parsed", "hash", ZSTD),
    "peer": (True, "json", "hash", PEER),
    "vectors": (True, None, "part", ZSTD),
}


def line(action):
    return json.dumps(action, separators=(",", ":")) + "\n"


def protocol(kind):
    if kind == "vectors":
        features = ["deletionVectors"]
        return {"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": features,
                "writerFeatures": features + ["rowTracking", "domainMetadata"]}
    return {"minReaderVersion": 1, "minWriterVersion": 2}


def metadata(kind, partitioned):
    fields = [{"name": n, "type": t, "nullable": True, "metadata": {}} for n, t in SCHEMA]
    return {"id": "5fba94ed-9794-4965-ba6e-6ee3c0d22af9", "format": {"provider": "parquet", "options": {}},
            "schemaString": json.dumps({"type": "struct", "fields": fields}, separators=(",", ":")),
            "partitionColumns": ["day"] if partitioned else [], "configuration": {}, "createdTime": TIME_MS}


def files_sql(first, last, total):
    """One row a file: what Spark would have put into its add; days go evenly over the numbers below total."""
    return f"""
        SELECT i, md5(i::VARCHAR) AS h, (DATE '2026-01-01' + ((i * 100 // {total}) % 100)::INTEGER)::VARCHAR AS day,
               printf('part-%05d-%s-%s-4%s-8%s-%s.c000.snappy.parquet', i % 100000, h[1:8], h[9:12], h[13:15], h[16:18],
                      h[19:30]) AS name,
               10000000 + (hash(i) % 1000000)::BIGINT AS size, {TIME_MS} + i AS time,
               1000 + (hash(i + 7) % 1000)::BIGINT AS rows
        FROM range({first}, {last}) t(i)"""


def stats_json_sql():
    return """printf('{"numRecords":%d,"minValues":{"id":%d,"name":"a%s","value":%d.25},"maxValues":{"id":%d,"name":"z%s",'
        || '"value":%d.75},"nullCount":{"id":0,"name":0,"value":%d}}', rows, i * 2000, h[1:6], i % 1000, i * 2000 + 1999, h[7:12],
        i % 1000 + 1000, i % 10)"""


def stats_parsed_sql():
    return """{'numRecords': rows, 'minValues': {'id': i * 2000, 'name': 'a' || h[1:6], 'value': (i % 1000 + 0.25)::DOUBLE},
        'maxValues': {'id': i * 2000 + 1999, 'name': 'z' || h[7:12], 'value': (i % 1000 + 1000.75)::DOUBLE},
        'nullCount': {'id': 0::BIGINT, 'name': 0::BIGINT, 'value': (i % 10)::BIGINT}}"""


def add_sql(partitioned, stats, vectors):
    path = "'day=' || day || '/' || name" if partitioned else "name"
    values = "map(['day'], [day])" if partitioned else "map([], [])::MAP(VARCHAR, VARCHAR)"
    no_dv = "NULL::STRUCT(storageType VARCHAR, pathOrInlineDv VARCHAR, \"offset\" INTEGER, sizeInBytes INTEGER, cardinality BIGINT)"
    dv = f"""CASE WHEN i % 10 = 0 THEN {{'storageType': 'u', 'pathOrInlineDv': h[1:20], 'offset': (i % 1000 + 1)::INTEGER,
             'sizeInBytes': 40::INTEGER, 'cardinality': (i % 7)::BIGINT}} ELSE {no_dv} END""" if vectors else no_dv
    parts = [f"'path': {path}", f"'partitionValues': {values}", "'size': size", "'modificationTime': time", "'dataChange': false",
             f"'stats': {stats_json_sql() if stats == 'json' else 'NULL::VARCHAR'}", "'tags': NULL::MAP(VARCHAR, VARCHAR)",
             f"'deletionVector': {dv}", f"'baseRowId': {'i * 2000' if vectors else 'NULL'}::BIGINT",
             f"'defaultRowCommitVersion': {'i % 100' if vectors else 'NULL'}::BIGINT",
             "'clusteringProvider': NULL::VARCHAR"]
    if stats == "parsed":
        parts.append(f"'stats_parsed': {stats_parsed_sql()}")
    return "{" + ", ".join(parts) + "}"


def text(value):
    return "'" + json.dumps(value).replace("'", "''") + "'"


def write_checkpoint(db, log, kind, version, n):
    partitioned, stats, order, options = CHECKPOINTS[kind if kind in CHECKPOINTS else "plain"]
    meta = metadata(kind, partitioned)
    proto = protocol(kind)
    features = ("NULL", "NULL") if "readerFeatures" not in proto else (str(proto["readerFeatures"]), str(proto["writerFeatures"]))
    columns = str(meta["partitionColumns"]) + "::VARCHAR[]"
    schema_text = meta["schemaString"].replace("'", "''")
    path = os.path.join(log, f"{version:020}.checkpoint.parquet")
    ordering = "h" if order == "hash" else "day, i"
    db.execute(f"""COPY (
        SELECT NULL::STRUCT(appId VARCHAR, version BIGINT, lastUpdated BIGINT) AS txn, a AS add,
               NULL::STRUCT(path VARCHAR, deletionTimestamp BIGINT, dataChange BOOLEAN, extendedFileMetadata BOOLEAN,
                            partitionValues MAP(VARCHAR, VARCHAR), size BIGINT) AS remove, m AS "metaData", p AS protocol,
               NULL::STRUCT(domain VARCHAR, configuration VARCHAR, removed BOOLEAN) AS "domainMetadata"
        FROM (
        SELECT 0 AS part, 0 AS i, '' AS h, '' AS day, NULL AS a, NULL AS m,
               {{'minReaderVersion': {proto["minReaderVersion"]}::INTEGER, 'minWriterVersion': {proto["minWriterVersion"]}::INTEGER,
                'readerFeatures': {features[0]}::VARCHAR[], 'writerFeatures': {features[1]}::VARCHAR[]}} AS p
        UNION ALL
        SELECT 1, 0, '', '', NULL, {{'id': '{meta["id"]}', 'name': NULL::VARCHAR, 'description': NULL::VARCHAR,
               'format': {{'provider': 'parquet', 'options': map([], [])::MAP(VARCHAR, VARCHAR)}},
               'schemaString': '{schema_text}', 'partitionColumns': {columns},
               'configuration': map([], [])::MAP(VARCHAR, VARCHAR), 'createdTime': {TIME_MS}::BIGINT}}, NULL
        UNION ALL
        SELECT 2, i, h, day, {add_sql(partitioned, stats, kind == "vectors")}, NULL, NULL FROM ({files_sql(0, n, n)}))
        ORDER BY part, {ordering}) TO '{path}' ({options})""")
    with open(os.path.join(log, "_last_checkpoint"), "w", encoding="utf-8") as out:
        out.write(json.dumps({"version": version, "size": n + 2}))


def write_commit(log, version, lines):
    info = {"commitInfo": {"timestamp": TIME_MS + version * 1000, "operation": "WRITE",
                           "operationParameters": {"mode": "Append", "partitionBy": "[]"}}}
    with open(os.path.join(log, f"{version:020}.json"), "w", encoding="utf-8") as out:
        out.write(line(info))
        out.writelines(lines)


def write_checksum(db, log, kind, version, n):
    size = db.execute(f"SELECT sum(size)::BIGINT FROM ({files_sql(0, n, n)})").fetchone()[0]
    with open(os.path.join(log, f"{version:020}.crc"), "w", encoding="utf-8") as out:
        out.write(json.dumps({"tableSizeBytes": size, "numFiles": n, "numMetadata": 1, "numProtocol": 1, "setTransactions": [],
                              "domainMetadata": [], "metadata": metadata(kind, True), "protocol": protocol(kind)}))


def adds(db, first, last, total):
    """Lines of add actions, with JSON statistics, for files of these numbers."""
    query = f"SELECT 'day=' || day || '/' || name, day, size, time, {stats_json_sql()} FROM ({files_sql(first, last, total)}) ORDER BY i"
    reader = db.execute(query)
    while rows := reader.fetchmany(10000):
        for path, day, size, time, stats in rows:
            yield line({"add": {"path": path, "partitionValues": {"day": day}, "size": size, "modificationTime": time,
                                "dataChange": True, "stats": stats}})


def removes(db, first, last, n):
    """Lines of remove actions for every tenth file of those numbers of a table of n."""
    rows = db.execute(f"SELECT 'day=' || day || '/' || name, day, size FROM ({files_sql(first, last, n)}) "
                      "WHERE i % 10 = 3").fetchall()
    for path, day, size in rows:
        yield line({"remove": {"path": path, "deletionTimestamp": TIME_MS + 5, "dataChange": True, "extendedFileMetadata": True,
                               "partitionValues": {"day": day}, "size": size}})


def make_tail(db, log, n):
    write_checkpoint(db, log, "plain", 10, n)
    for c in range(100):
        step = n // 1000
        gone = list(removes(db, c * step * 5, (c + 1) * step * 5, n))
        write_commit(log, 11 + c, list(adds(db, n + c * step, n + (c + 1) * step, n)) + gone)


def make(db, folder, kind, n):
    table = os.path.join(folder, kind)
    if os.path.exists(os.path.join(table, ".done")):
        return
    shutil.rmtree(table, ignore_errors=True)
    log = os.path.join(table, "_delta_log")
    os.makedirs(log)
    head = [line({"protocol": protocol(kind)}), line({"metaData": metadata(kind, True)})]
    if kind in CHECKPOINTS:
        write_checkpoint(db, log, kind, 10, n)
        write_commit(log, 10, [])
        if kind == "crc":
            write_checksum(db, log, kind, 10, n)
    elif kind == "tail":
        make_tail(db, log, n)
    elif kind == "commits":
        write_checkpoint(db, log, "plain", 10, n // 10)
        for c in range(1000):
            write_commit(log, 11 + c, adds(db, n + c * 100, n + (c + 1) * 100, n))
    elif kind == "small":
        for c in range(10):
            write_commit(log, c, (head if c == 0 else []) + list(adds(db, c * 100, (c + 1) * 100, 1000)))
    else:
        write_commit(log, 0, (x for part in (head, adds(db, 0, n, n)) for x in part))
    with open(os.path.join(table, ".done"), "w", encoding="utf-8"):
        pass


def main():
    kinds = list(CHECKPOINTS) + ["tail", "commits", "small", "one_commit"]
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("kinds", nargs="*", help=", ".join(kinds))
    parser.add_argument("--files", type=int, default=1_000_000)
    options = parser.parse_args()
    db = duckdb.connect(config={"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"})
    for kind in options.kinds or kinds:
        make(db, options.folder, kind, options.files)


if __name__ == "__main__":
    main()
