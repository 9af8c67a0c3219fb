"""The conflict check beside Delta Spark's: one side begins, the other commits, the first commits; then with the sides changed.

The same operations as raw actions, under both isolation levels, which are set in the log. Where the two verdicts differ, the
difference must be one of DIFFERENCES, and each of those must be met: docs/concurrency.md lists them.
"""
import os
import shutil

from conflict_ops import SiltSide, SparkSide, commit_path, operation, write_table
from harness import same

CHECKSUMS = "spark.databricks.delta.writeChecksumFile.enabled"
LEVELS = ("WriteSerializable", "Serializable")
PLACED = ("INSERT", "INSERT SELECT", "UPDATE", "DELETE", "OPTIMIZE", "STREAM")
LOSERS = ("INSERT", "INSERT SELECT", "UPDATE", "OVERWRITE", "OPTIMIZE", "ALTER", "ADD CONSTRAINT", "FEATURE", "STREAM",
          "DOMAIN")


def winners():
    for kind in PLACED:
        for place in ("overlapping", "statistics", "partition"):
            yield kind, place
    for kind in ("OVERWRITE", "ALTER", "FEATURE"):
        yield kind, "overlapping"
    for place in ("overlapping", "partition"):
        yield "DOMAIN", place


# (name, why, whether it explains the verdicts of silt and Spark for winners and a loser)
DIFFERENCES = [
    ("statistics", "Spark compares what winners added with the partition part of a condition only; silt also looks at the "
     "statistics of the files",
     lambda won, lost, ours, theirs: lost.name in ("INSERT SELECT", "UPDATE") and won[-1].where == "statistics" and
     won[-1].adds and not won[-1].moves and (ours, theirs) == ("committed", "ConcurrentAppend")),
    ("moved", "files that the winner only moved count as added in Spark; silt asks whether what was read has gone",
     lambda won, lost, ours, theirs: won[-1].moves and ours in ("committed", "ConcurrentDeleteRead") and
     theirs == "ConcurrentAppend"),
    ("skipped", "an application id that the winner recorded with the same or a later version is a conflict in Spark; silt "
     "ends with success, as the work is done",
     lambda won, lost, ours, theirs: "app" in lost.cells and won[-1].cells.get("app") == lost.cells["app"] and
     (ours, theirs) == ("skipped", "ConcurrentTransaction")),
    ("write skew", "Spark passes over a blind append under WriteSerializable although a later winner may have read it; silt "
     "refuses, for no serial order gives that result",
     lambda won, lost, ours, theirs: len(won) == 2 and (ours, theirs) == ("ConcurrentAppend", "committed")),
]


class Cases:
    def __init__(self, run):
        self.run, self.met, self.counts, self.commits = run, set(), {}, {}
        self.silt, self.spark = SiltSide(), SparkSide(run.spark.session())

    def winning(self, level, won, winner):
        """The commit files that the winner writes, one after the other. The same for every loser, so written once."""
        key = (winner.name, level, tuple((op.name, op.where, tuple(op.removes)) for op in won))
        if key not in self.commits:
            path = self.run.path("winner")
            write_table(path, level)
            for op in won:
                same("committed", winner.commit(winner.begin(path, op, level)))
            self.commits[key] = []
            for version in range(1, 1 + len(won)):
                with open(commit_path(path, version), "rb") as file:
                    self.commits[key].append(file.read())
            shutil.rmtree(path)
        return self.commits[key]

    def stage(self, level, won, lost, loser, winner):
        """The loser's verdict."""
        commits = self.winning(level, won, winner)
        path = self.run.path("table")
        write_table(path, level)
        begun = loser.begin(path, lost, level)
        for version, content in enumerate(commits, 1):
            with open(commit_path(path, version), "xb") as file:
                file.write(content)
        verdict = loser.commit(begun)
        same(verdict == "committed", os.path.exists(commit_path(path, len(commits) + 1)))
        for version, content in enumerate(commits, 1):
            with open(commit_path(path, version), "rb") as file:
                same(content, file.read())
        shutil.rmtree(path)
        return verdict

    def one(self, level, won, lost):
        ours = self.stage(level, won, lost, self.silt, self.spark)
        theirs = self.stage(level, won, lost, self.spark, self.silt)
        self.counts[ours] = self.counts.get(ours, 0) + 1
        if ours == theirs:
            return
        for name, _, explains in DIFFERENCES:
            if explains(won, lost, ours, theirs):
                self.met.add(name)
                return
        raise AssertionError(f"silt says {ours}, Spark says {theirs}")


def pairs(run, cases):
    for level in LEVELS:
        for kind, place in winners():
            won = operation(kind, place, 1)
            for loser in LOSERS:
                lost = operation(loser, "overlapping", 2)
                if level == "Serializable" and (lost.reads is None or not won.adds or won.moves):
                    continue  # the level is about added rows and who reads them
                run.case("spark", f"{level}: {won} ({place}), then {lost}", cases.one, level, [won], lost)


def chains(run, cases):
    for level in LEVELS:
        for second, place in (("UPDATE", "overlapping"), ("INSERT", "overlapping"), ("OPTIMIZE", "partition"),
                              ("UPDATE", "partition")):
            won = [operation("INSERT", "overlapping", 1), operation(second, place, 3)]
            if second == "UPDATE":
                won[1].removes = ["f3"]  # of rows that the loser does not read: only what it may have read counts
                won[1].adds = [("n3.parquet", "b", 31, 39)]
            lost = operation("UPDATE", "overlapping", 2)
            run.case("spark", f"{level}: INSERT, {second} ({place}), then UPDATE", cases.one, level, won, lost)


def check(run):
    cases = Cases(run)
    session = run.spark.session()
    session.conf.set(CHECKSUMS, "false")  # else every commit of Spark's reads the table once more
    try:
        pairs(run, cases)
        chains(run, cases)
    finally:
        session.conf.unset(CHECKSUMS)
    run.case("spark", "every listed difference is met", lambda: same(sorted(name for name, _, _ in DIFFERENCES),
                                                                     sorted(cases.met)))
    print("conflicts: verdicts of silt: " + ", ".join(f"{name} {n}" for name, n in sorted(cases.counts.items())))
