"""What silt leaves in a log besides commits: version checksums that Delta Spark verifies against its own count of the state, compacted
files, logs that were cleaned up. Also the mixture: each derives its checksums from the other's."""
import glob
import json
import os

import deltalake
import pyarrow as pa

import silt_program
from harness import Mismatch, same

COLUMNS = [("id", pa.int64()), ("part", pa.string()), ("value", pa.decimal128(12, 2))]
DAY = 86400

# All that Delta Spark can do to find a wrong checksum.
STRICT = {
    "spark.databricks.delta.incremental.commit.verify": "true",
    "spark.databricks.delta.checksum.mismatch.fatal": "true",
    "spark.databricks.delta.versionChecksum.forcedValidationInterval": "0",
    "spark.databricks.delta.versionChecksum.forcedValidationMinTimeIntevalMinutes": "0",
    "spark.databricks.delta.allFilesInCrc.verificationMode.enabled": "true",
}


def batch(number):
    return [(number * 100 + i, "abc"[i % 3], i) for i in range(5)]


def log_file(path, version, ending):
    return os.path.join(path, "_delta_log", f"{version:020}.{ending}")


def checksum(path, version):
    with open(log_file(path, version, "crc"), encoding="utf-8") as file:
        return json.load(file)


class Log:
    """Delta Spark's own objects, through its JVM."""

    def __init__(self, run, path):
        self.jvm = run.spark.session()._jvm
        delta = self.jvm.org.apache.spark.sql.delta.DeltaLog
        delta.clearCache()
        self.log = delta.forTable(run.spark.session()._jsparkSession, path)
        self.none = getattr(getattr(self.jvm.scala, "None$"), "MODULE$")
        self.no_context = getattr(getattr(self.jvm.scala, "Predef$"), "MODULE$").Map().empty()

    def snapshot(self, version):
        return self.log.getSnapshotAt(version, self.none, self.none, False)

    # Spark's own comparison of the files (validateFileListAgainstCRC) takes absent tags for other than absent ones: in 4.4.0 it
    # rejects what Spark itself wrote.
    @staticmethod
    def described(file):
        return [str(file.productElement(i)) for i in range(file.productArity()) if file.productElementName(i) != "tags"]

    def listed(self, snapshot):
        return sorted(self.described(file) for file in snapshot.allFilesViaStateReconstruction().collectAsList())

    def told(self, checksum):
        files = checksum.allFiles().get()
        return sorted(self.described(files.apply(i)) for i in range(files.size()))

    def validate(self, version):
        snapshot = self.snapshot(version)
        found = snapshot.checksumOpt()
        if found.isEmpty():
            raise Mismatch(f"Spark takes no checksum of version {version}")
        if not snapshot.validateChecksum(self.no_context):
            raise Mismatch(f"Spark finds the checksum of version {version} wrong")
        if found.get().allFiles().isDefined():  # Spark leaves them out at times, and so does who derives from its checksum
            same(self.listed(snapshot), self.told(found.get()))


def validate(run, path, versions):
    log = Log(run, path)
    for version in versions:
        log.validate(version)
    sound(path)


def sound(path):
    same("", silt_program.run("fsck", path, "-o", "jsonl"))


def write(path, partitions, properties=None):
    silt_program.create(path, COLUMNS, partitions, {"my.key": "its value", **(properties or {})})
    for number in (1, 2, 3):
        silt_program.insert(path, COLUMNS, batch(number))
    silt_program.insert(path, COLUMNS, batch(4), mode="OVERWRITE")
    silt_program.insert(path, COLUMNS, batch(5))


def checksums(run):
    for name, partitions, properties in (
        ("plain", [], {}), ("partitioned", ["part"], {}), ("vectors", [], {"delta.enableDeletionVectors": "true"})):
        path = run.path(name)
        if not run.step("silt", f"{name}: write", write, path, partitions, properties):
            continue
        run.case("spark", f"{name}: checksums of silt", validate, run, path, range(6))
        members = {"allFiles", "domainMetadata", "fileSizeHistogram", "setTransactions", "txnId"}
        run.case("silt", f"{name}: members", lambda p=path, m=members: same(m, m & set(checksum(p, 5))))

    def falsified(path=run.path("false")):
        write(path, [])
        wrong = checksum(path, 5)
        wrong["tableSizeBytes"] += 1
        wrong["fileSizeHistogram"]["totalBytes"][0] += 1
        with open(log_file(path, 5, "crc"), "w", encoding="utf-8") as file:
            json.dump(wrong, file)
        try:
            Log(run, path).validate(5)
        except Exception as error:  # Spark's own, through the bridge
            same(True, "Table size (bytes)" in str(error))
        else:
            raise Mismatch("Spark does not look at the checksum")

    run.case("spark", "a wrong checksum is found", falsified)


def taking_turns(run):
    """Spark verifies before and after each commit that its own count equals what it derived from silt's checksum."""
    session = run.spark.session()
    path = run.path("turns")

    def spark_append(number):
        run.spark.append_parquet(path, run.source(f"batch{number}", COLUMNS, batch(number)))

    def check():
        write(path, ["part"], {"delta.enableDeletionVectors": "true"})
        rows = batch(4) + batch(5)
        for number in (6, 8):
            spark_append(number)
            silt_program.insert(path, COLUMNS, batch(number + 1))
            rows += batch(number) + batch(number + 1)
        run.spark.sql(f"DELETE FROM delta.`{path}` WHERE id % 100 = 4")
        rows = [row for row in rows if row[0] % 100 != 4]
        silt_program.insert(path, COLUMNS, batch(11))
        rows += batch(11)
        same([True] * 12, [os.path.exists(log_file(path, version, "crc")) for version in range(12)])
        same(True, checksum(path, 11)["numDeletedRecordsOpt"] > 0)
        validate(run, path, range(12))
        run.check_rows("turns: rows", path, COLUMNS, rows)

    for key, value in STRICT.items():
        session.conf.set(key, value)
    run.case("spark", "turns with verification", check)
    for key in STRICT:
        session.conf.unset(key)


def compacted(run):
    path = run.path("compacted")

    def make():
        write(path, ["part"])
        silt_program.run("compact-log", path, "--from", "1", "--to", "4")
        same(1, len(glob.glob(os.path.join(path, "_delta_log", "*.compacted.json"))))

    if run.step("silt", "compacted: write", make):
        for version, rows in ((4, batch(4)), (5, batch(4) + batch(5)), (3, batch(1) + batch(2) + batch(3))):
            run.check_rows(f"compacted: version {version}", path, COLUMNS, rows, version=version)
        run.case("silt", "compacted: fsck", sound, path)


def cleaned(run):
    path = run.path("cleaned")

    def make():
        # Spark refuses to travel to versions whose deleted files may be gone
        write(path, [], {"delta.deletedFileRetentionDuration": "interval 1000 days"})
        Log(run, path).log.checkpoint()
        for number in (6, 7):
            silt_program.insert(path, COLUMNS, batch(number))
        for version in range(8):
            file = log_file(path, version, "json")
            time = os.path.getmtime(file) - (100 - version) * DAY
            os.utime(file, (time, time))
        silt_program.run("clean-log", path)
        same([5, 6, 7], [int(os.path.basename(name)[:20]) for name in sorted(glob.glob(os.path.join(path, "_delta_log", "*.json")))])

    def histories():
        same([7, 6, 5], [row["version"] for row in run.spark.sql(f"DESCRIBE HISTORY delta.`{path}`").collect()])
        same([7, 6, 5], [row["version"] for row in deltalake.DeltaTable(path).history()][:3])

    if run.step("silt", "cleaned: write", make):
        rows = batch(4)
        for version in (5, 6, 7):
            rows = rows + batch(version)
            run.check_rows(f"cleaned: version {version}", path, COLUMNS, rows, version=version)
        run.case("spark", "cleaned: history", histories)
        run.case("spark", "cleaned: checksums", validate, run, path, (5, 6, 7))


def check(run):
    checksums(run)
    taking_turns(run)
    compacted(run)
    cleaned(run)
