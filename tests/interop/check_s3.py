"""A bucket that silt, Spark, delta-rs and DuckDB share: each reads what the others wrote, at every version and by checkpoints alone; then
delta-rs and four processes of silt append at the same time, all by conditional puts.

Needs a server of S3, whose place and keys stand in the environment (AWS_ENDPOINT_URL, …), with SILT_INTEROP_S3, a folder in a bucket:
`tests/stores/run s3-peers` starts one. Spark's store for S3 (S3SingleDriverLogStore) excludes other writers within its own process only,
so it writes in turns.
"""
import glob
import json
import os
import subprocess
import sys
import threading
from urllib.parse import urlsplit

import deltalake
import pyarrow as pa
from pyarrow import fs

import samples
import silt_program
from check_concurrent import prefixes
from check_mixed import COLUMNS, batch
from check_partitions import is_text, short, stored
from harness import same
from peers import PEERS_DIR
from values import arrow_table

HERE = os.path.dirname(os.path.abspath(__file__))
TYPED = [("id", pa.int64())] + [(name, kind) for name, (kind, _) in (samples.SCALARS | samples.NESTED).items()]
PARTITIONED = [("id", pa.int64()), ("p", pa.string())]
WHO = [("id", pa.int64()), ("who", pa.string())]
TEXTS = samples.HARD_TEXTS + [None]
PROCESSES, APPENDS = 4, 15


def typed_rows():
    columns = [values for _, values in (samples.SCALARS | samples.NESTED).values()]
    return [(number, *(values[number % len(values)] for values in columns)) for number in range(max(map(len, columns)))]


class Bucket:
    """The log of a table, for those who look at files."""

    def __init__(self):
        self.files = fs.S3FileSystem(
            access_key=os.environ["AWS_ACCESS_KEY_ID"], secret_key=os.environ["AWS_SECRET_ACCESS_KEY"],
            region=os.environ["AWS_REGION"], scheme="http", endpoint_override=urlsplit(os.environ["AWS_ENDPOINT_URL"]).netloc)

    def log(self, path):
        folder = urlsplit(path)
        found = self.files.get_file_info(fs.FileSelector(f"{folder.netloc}{folder.path}/_delta_log", allow_not_found=True))
        return {os.path.basename(info.path): info.path for info in found}

    def versions(self, path):
        return sorted(int(name[:20]) for name in self.log(path) if name.endswith(".json") and name[:20].isdigit() and len(name) == 25)

    def checkpoints(self, path):
        return sorted({int(name[:20]) for name in self.log(path) if ".checkpoint." in name and not name.startswith(".")})

    def actions(self, path, version):
        with self.files.open_input_file(self.log(path)[f"{version:020}.json"]) as file:
            return [json.loads(line) for line in file.read().splitlines()]

    def leave_checkpoint(self, path, version):
        """The checkpoint is all that is left of the versions up to it, but for the commit of its own."""
        for name, file in self.log(path).items():
            number = int(name[:20]) if name[:20].isdigit() else version + 1
            if (name.endswith(".json") and number < version) or (name.endswith(".crc") and number <= version):
                self.files.delete_file(file)


def place(name):
    return f"{os.environ['SILT_INTEROP_S3']}/{name}"


def reach(run):
    """Spark and DuckDB are told by settings what silt and delta-rs read in the environment."""
    endpoint = urlsplit(os.environ["AWS_ENDPOINT_URL"])
    s3a = {
        "endpoint": os.environ["AWS_ENDPOINT_URL"], "endpoint.region": os.environ["AWS_REGION"], "path.style.access": "true",
        "access.key": os.environ["AWS_ACCESS_KEY_ID"], "secret.key": os.environ["AWS_SECRET_ACCESS_KEY"],
        "connection.ssl.enabled": "false", "impl": "org.apache.hadoop.fs.s3a.S3AFileSystem",
    }
    settings = {f"spark.hadoop.fs.s3a.{name}": value for name, value in s3a.items()}
    settings["spark.hadoop.fs.s3.impl"] = s3a["impl"]  # by the name that the others use
    run.spark.add(settings, glob.glob(os.path.join(PEERS_DIR, "s3-jars", "*.jar")))
    extension, = glob.glob(os.path.join(PEERS_DIR, "s3-packages", "**", "httpfs.duckdb_extension"), recursive=True)
    duckdb = run.duckdb.connection()
    duckdb.execute(f"LOAD '{extension}'")
    duckdb.execute(f"CREATE SECRET (TYPE s3, KEY_ID '{s3a['access.key']}', SECRET '{s3a['secret.key']}', REGION '{s3a['endpoint.region']}', "
                   f"ENDPOINT '{endpoint.netloc}', URL_STYLE 'path', USE_SSL false)")


# ---- each reads what another wrote -------------------------------------------------------------------------------------------
def by_spark(run, path, name, columns, rows, partitions=()):
    run.spark.frame(run.source(name, columns, rows)).write.format("delta").partitionBy(*partitions).save(path)


def by_silt(path, columns, rows, partitions=()):
    silt_program.create(path, columns, partitions)
    silt_program.insert(path, columns, rows)


def values(run):
    rows = typed_rows()
    path = place("types-silt")
    if run.step("silt", "types: write", by_silt, path, TYPED, rows):
        run.check_rows("types: silt wrote", path, TYPED, rows)
    path = place("types-spark")
    if run.step("spark", "types: write", by_spark, run, path, "types", TYPED, rows):
        run.check_rows("types: spark wrote", path, TYPED, rows, [run.silt])
        run.check_rows("types: spark wrote, by its own name", path.replace("s3://", "s3a://"), TYPED, rows, [run.silt, run.spark])


def partitions(run):
    rows = [(number, text) for number, text in enumerate(TEXTS) if text is None or (is_text(text) and short(text))]
    read = [(number, stored(value)) for number, value in rows]
    path = place("hard-silt")
    if run.step("silt", "hard text: write", by_silt, path, PARTITIONED, rows, ["p"]):
        run.check_rows("hard text: silt wrote", path, PARTITIONED, read)
    path = place("hard-spark")
    if run.step("spark", "hard text: write", by_spark, run, path, "hard", PARTITIONED, rows, ["p"]):
        run.check_rows("hard text: spark wrote", path, PARTITIONED, read, [run.silt])
        run.case("silt", "hard text: append to spark's", silt_program.insert, path, PARTITIONED, [(1000, "a b/%")])
        run.check_rows("hard text: silt appended", path, PARTITIONED, read + [(1000, "a b/%")])
    path = place("hard-delta-rs")
    if run.step("delta-rs", "hard text: write", lambda: deltalake.write_deltalake(
            path, arrow_table(PARTITIONED, rows), partition_by=["p"])):
        run.check_rows("hard text: delta-rs wrote", path, PARTITIONED, read, [run.silt])


# ---- in turns, and by checkpoints alone --------------------------------------------------------------------------------------
def append(run, writer, path, number):
    if writer == "silt":
        silt_program.insert(path, COLUMNS, batch(number))
    elif writer == "spark":
        run.spark.append_parquet(path, run.source(f"batch{number}", COLUMNS, batch(number)))
    else:
        deltalake.write_deltalake(path, arrow_table(COLUMNS, batch(number)), mode="append")


def rows_at(version):
    """Version 0 is empty, each of the next has a batch more."""
    return [row for number in range(version) for row in batch(number)]


def turns(run, bucket):
    """Three writers in turn; every version is read; then checkpoints of silt and of Spark stand alone."""
    path = place("turns")
    run.step("silt", "turns: create", silt_program.create, path, COLUMNS, ["Name"], {"delta.checkpointInterval": "100"})
    for number, writer in enumerate(["silt", "spark", "delta-rs", "spark", "silt", "delta-rs", "silt"]):
        run.case(writer, f"turns: append {number}", append, run, writer, path, number)
    for version in (0, 2, 5, 7):
        run.check_rows(f"turns: version {version}", path, COLUMNS, rows_at(version), version=version)
    run.case("silt", "turns: checkpoint", silt_program.run, "checkpoint", path)
    same([7], bucket.checkpoints(path))
    bucket.leave_checkpoint(path, 7)
    run.check_rows("turns: silt's checkpoint alone", path, COLUMNS, rows_at(7))
    run.spark.sql(f"ALTER TABLE delta.`{path}` SET TBLPROPERTIES ('delta.checkpointInterval' = '2')")  # version 8
    for number, writer in enumerate(["silt", "spark"], start=7):
        run.case(writer, f"turns: append {number}", append, run, writer, path, number)
    same([7, 8, 10], bucket.checkpoints(path))
    bucket.leave_checkpoint(path, 10)
    run.check_rows("turns: spark's checkpoint alone", path, COLUMNS, rows_at(9))
    run.case("silt", "turns: overwrite", silt_program.insert, path, COLUMNS, batch(20), "OVERWRITE")
    run.check_rows("turns: overwritten", path, COLUMNS, batch(20))
    run.check_rows("turns: before", path, COLUMNS, rows_at(9), version=10)
    same([10, 11], bucket.versions(path))


def vectors(run):
    """Rows that Spark deleted by deletion vectors, small ones in the log and large ones in files."""
    path = place("vectors")
    run.spark.sql(f"CREATE TABLE delta.`{path}` (id BIGINT, who STRING) USING delta TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')")
    run.spark.sql(f"INSERT INTO delta.`{path}` SELECT id, concat('w', id) FROM range(0, 3000, 1, 1)")
    run.spark.sql(f"DELETE FROM delta.`{path}` WHERE id % 3 = 1")
    run.spark.sql(f"DELETE FROM delta.`{path}` WHERE id BETWEEN 1000 AND 1999")
    rows = [(number, f"w{number}") for number in range(3000) if number % 3 != 1]
    left = [row for row in rows if not 1000 <= row[0] <= 1999]
    run.check_rows("vectors: deleted twice", path, WHO, left)
    run.check_rows("vectors: deleted once", path, WHO, rows, [run.silt], version=2)
    run.case("silt", "vectors: append", silt_program.insert, path, WHO, [(5000, "silt")])
    run.check_rows("vectors: appended", path, WHO, left + [(5000, "silt")])


# ---- at the same time --------------------------------------------------------------------------------------------------------
class Race:
    """Processes that append to one table, a row a commit, and one that reads."""

    def __init__(self, run, path):
        self.run, self.path = run, path
        self.problems, self.reads = [], []
        self.left = PROCESSES + 1
        self.lock = threading.Lock()

    def silt(self, who):
        text = "; ".join(f"INSERT INTO delta.`{self.path}` VALUES ({number}, '{who}')" for number in range(APPENDS))
        silt_program.sql(text, timeout=600)

    def delta_rs(self, who):
        lines = "".join(f"{number}\n" for number in range(APPENDS))
        done = subprocess.run([sys.executable, os.path.join(HERE, "delta_rs_writer.py"), self.path, who], input=lines,
                              capture_output=True, text=True, timeout=600, check=False)
        same((0, lines), (done.returncode, done.stdout + done.stderr[-300:]))

    def guarded(self, function, *arguments):
        def work():
            try:
                function(*arguments)
            except Exception as error:  # reported by finish()
                self.problems.append(f"{arguments}: {type(error).__name__}: {str(error).strip()[:300]}")
            with self.lock:
                self.left -= 1
        thread = threading.Thread(target=work)
        thread.start()
        return thread

    def finish(self):
        threads = [self.guarded(self.silt, f"silt-{number}") for number in range(PROCESSES)]
        threads.append(self.guarded(self.delta_rs, "delta-rs"))
        while self.left and not self.problems:
            self.reads.append(self.run.silt.rows(self.path, WHO))
        for thread in threads:
            thread.join()
        same([], self.problems)


def committed(bucket, path):
    """The rows in the order of the log, which has a commit for every version and a row in each but the first."""
    versions = bucket.versions(path)
    same(list(range(len(versions))), versions)
    rows = []
    for version in versions[1:]:
        add, = [action["add"] for action in bucket.actions(path, version) if "add" in action]
        least = json.loads(add["stats"])["minValues"]
        rows.append((least["id"], least["who"]))
    return rows


def together(run, bucket):
    path = place("together")
    run.step("silt", "together: create", silt_program.create, path, WHO)
    race = Race(run, path)
    if not run.step("silt", "together: to the end", race.finish):
        return
    rows = committed(bucket, path)
    writers = [f"silt-{number}" for number in range(PROCESSES)] + ["delta-rs"]
    for who in writers:
        run.case(who.split("-")[0] if who.startswith("silt") else who, f"together: all of {who}, in its order, once",
                 lambda w=who: same(list(range(APPENDS)), [number for number, other in rows if other == w]))
    run.case("silt", "together: nothing else", lambda: same(APPENDS * len(writers), len(rows)))
    run.case("silt", "together: each read is a prefix", prefixes, rows, race.reads)
    run.case("silt", "together: fsck", lambda: same("", silt_program.run("fsck", path, "-o", "jsonl")))
    run.check_rows("together", path, WHO, rows)
    print(f"s3: together: {len(rows)} commits, {len(race.reads)} reads, checkpoints {bucket.checkpoints(path)}")


def check(run):
    if "SILT_INTEROP_S3" not in os.environ:
        raise RuntimeError("there is no server: tests/stores/run s3-peers starts one")
    reach(run)
    bucket = Bucket()
    for part in (values, partitions, vectors):
        run.step("silt", f"{part.__name__}: to the end", part, run)
    for part in (turns, together):
        run.step("silt", f"{part.__name__}: to the end", part, run, bucket)
