"""Writing a checkpoint of a large table (make_log.py), of which nothing is in memory: whole processes, from the path to the hint.

The table has a checkpoint with JSON statistics and one commit after it. Peers write JSON statistics only, so that is what silt is asked
for where it is compared; what it writes by default (typed columns too) is shown beside. The limit is libduckdb's COPY of the columns of
the older checkpoint.
"""
import glob
import json
import os
import shutil
import tempfile

import contest
from area_log import FILES, FOLDER, table
from contest import run_timed, tool
from ways import KERNEL, REPEAT, SILT, THREADS, peer

VERSION = 11
JSON_ONLY = {"delta.checkpoint.writeStatsAsStruct": "false"}
V2 = {"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": ["v2Checkpoint"], "writerFeatures": ["v2Checkpoint"]}
COPY = "FORMAT parquet, PARQUET_VERSION v1, COMPRESSION zstd, COMPRESSION_LEVEL 1, ROW_GROUP_SIZE 20480"


def prepare(source, place, properties, protocol):
    """The log of the source and a commit. The hint is a copy: who writes another one in its place must not change the source."""
    log, theirs = os.path.join(place, "_delta_log"), os.path.join(source, "_delta_log")
    os.makedirs(log)
    for name in os.listdir(theirs):
        if name == "_last_checkpoint":
            shutil.copy(os.path.join(theirs, name), log)
        else:
            os.link(os.path.join(theirs, name), os.path.join(log, name))
    fields = [{"name": n, "type": t, "nullable": True, "metadata": {}}
              for n, t in (("id", "long"), ("name", "string"), ("value", "double"), ("day", "date"))]
    lines = [{"metaData": {"id": "5fba94ed-9794-4965-ba6e-6ee3c0d22af9", "format": {"provider": "parquet", "options": {}},
                           "schemaString": json.dumps({"type": "struct", "fields": fields}), "partitionColumns": ["day"],
                           "configuration": properties, "createdTime": 1}},
             {"add": {"path": "day=2026-01-05/new.parquet", "partitionValues": {"day": "2026-01-05"}, "size": 1000,
                      "modificationTime": 1767225700000, "dataChange": True, "stats": "{\"numRecords\":5}"}}]
    lines += [{"protocol": protocol}] if protocol else []
    with open(os.path.join(log, f"{VERSION:020}.json"), "w", encoding="utf-8") as out:
        out.writelines(json.dumps(line) + "\n" for line in lines)
    shutil.copy(os.path.join(log, "_last_checkpoint"), os.path.join(place, "hint"))


def clear(place):
    """What was written goes; returns how many bytes it had."""
    log = os.path.join(place, "_delta_log")
    written = glob.glob(os.path.join(log, f"{VERSION:020}.checkpoint*")) + glob.glob(os.path.join(log, "_sidecars", "*"))
    size = sum(os.path.getsize(path) for path in written)
    for path in written:
        os.unlink(path)
    shutil.copy(os.path.join(place, "hint"), os.path.join(log, "_last_checkpoint"))
    return size


def take_turns(report, case, contestants, threads):
    """contestants: (who, role, command, place)."""
    found = [contest.Measured(who, role) for who, role, *_ in contestants]
    sizes = {}
    for _ in range(max(REPEAT, 7)):
        for measured, (who, _, command, place) in zip(found, contestants):
            process, _ = run_timed(command, threads)
            measured.take_process(process)
            measured.times += process["wall_us"]
            measured.cpu += process["cpu_us"]
            sizes[who] = clear(place) if place else None
            if sizes[who] == 0:
                raise contest.Failed(f"{who} wrote no checkpoint")
    report.add(case, threads, found, "P 3, L 2")
    report.fact(case, "peak of the process", found[0].rss_kb / 1024, "MB", "350")
    report.fact(case, "size", sizes["silt"] / 1e6, "MB", "compressed")


def measure(report, _):
    source = table("json")
    copy = f"COPY (SELECT * FROM read_parquet('{source}/_delta_log/{10:020}.checkpoint.parquet')) TO '{{}}' ({COPY})"
    with tempfile.TemporaryDirectory(prefix="checkpoint-", dir=FOLDER) as scratch:
        places = {}
        for name, properties, protocol in (("v1", JSON_ONLY, None), ("default", {}, None), ("v2", JSON_ONLY, V2), ("peer", JSON_ONLY, None),
                                           ("kernel-v1", JSON_ONLY, None), ("kernel-v2", JSON_ONLY, V2)):
            places[name] = os.path.join(scratch, name)
            prepare(source, places[name], properties, protocol)
        for threads in THREADS:
            limit = ("libduckdb COPY", "limit", [tool("bench_duck"), "--threads", str(threads), "--repeat", "1",
                                                 copy.format(os.path.join(scratch, "limit.parquet"))], None)
            delta_rs = ("delta-rs", "peer", peer("delta-rs", "--threads", str(threads), "--checkpoint", places["peer"]), places["peer"])

            def silt(place, *more, role="silt", who="silt", n=threads):
                return (who, role, [SILT, "checkpoint", place, "--threads", str(n), *more], place)

            def kernel(kind, n=threads):
                place = places[f"kernel-{kind}"]
                return [("kernel-rs", "peer", [KERNEL, place, str(n), "1", "checkpoint", kind], place)] if KERNEL else []
            take_turns(report, f"checkpoint: V1 of {FILES} files", [
                silt(places["v1"]), silt(places["default"], role="info", who="silt, typed statistics too"), delta_rs,
                *kernel("v1"), limit], threads)
            take_turns(report, f"checkpoint: V2 of {FILES} files", [silt(places["v2"], "--v2"), delta_rs, *kernel("v2"), limit], threads)


AREAS = {"checkpoint": measure}
