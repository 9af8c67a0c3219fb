"""Cases, their outcome, and the closing table."""
import os
import resource
import shutil
import time
import traceback

import pyarrow.parquet as pq

from peers import DeltaRs, DuckDb, Silt, Spark
from values import arrow_table, canonical_rows


class Mismatch(Exception):
    """Two sides that must be equal are not."""


def first_difference(expected, found):
    """The smallest text that shows how two lists of rows differ."""
    if len(expected) != len(found):
        note = f"expected {len(expected)} rows, found {len(found)}"
    else:
        note = "rows differ"
    missing = [row for row in expected if row not in found][:1]
    extra = [row for row in found if row not in expected][:1]
    if missing and extra and isinstance(missing[0], list) and len(missing[0]) == len(extra[0]):
        # rows have an id in front: show its columns only
        for row in found:
            if row[:1] == missing[0][:1]:
                columns = [i for i, pair in enumerate(zip(missing[0], row)) if pair[0] != pair[1]]
                parts = [f"column {i}: expected {missing[0][i]!r:.160}, found {row[i]!r:.160}" for i in columns[:4]]
                return f"{note}; id {row[0]}: " + "; ".join(parts)
    return f"{note}; missing {missing!r:.300}; extra {extra!r:.300}"


def same(expected, found):
    if expected != found:
        if isinstance(expected, list) and isinstance(found, list):
            raise Mismatch(first_difference(expected, found))
        raise Mismatch(f"expected {expected!r:.300}, found {found!r:.300}")


class Run:
    """What the cases of one run share. One thread."""

    def __init__(self, scratch):
        self.scratch = scratch
        self.spark, self.delta_rs, self.duckdb, self.silt = Spark(scratch), DeltaRs(), DuckDb(), Silt()
        self.judges = [self.spark, self.delta_rs, self.duckdb]
        self.everyone = self.judges + [self.silt]
        self.counts = {}
        self.failures = []
        self.made, self.newest = {}, {}  # tables that several areas begin with, by name: where they are; their columns and rows
        self.area = ""

    def begin(self, area):
        self.area = area
        self.started = time.monotonic(), self.processor_seconds()

    def end(self):
        """What the area took: by the clock, and of the processor (the peers in this process, silt and such, Spark's JVM)."""
        before, spent = self.started
        here, programs, jvm = (now - then for now, then in zip(self.processor_seconds(), spent))
        print(f"{self.area}: {time.monotonic() - before:.1f} s, of the processor {here + programs + jvm:.1f} s "
              f"(here {here:.1f}, programs {programs:.1f}, Spark {jvm:.1f})", flush=True)

    def processor_seconds(self):
        """Seconds so far in this process, in programs that have ended, and in Spark's JVM."""
        here, programs = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
        return here.ru_utime + here.ru_stime, programs.ru_utime + programs.ru_stime, self.spark.processor_seconds()

    def path(self, name):
        """A fresh place for a table."""
        path = os.path.join(self.scratch, "tables", f"{self.area}-{name}")
        shutil.rmtree(path, ignore_errors=True)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return path

    def source(self, name, columns, rows):
        """The rows in a Parquet file."""
        path = os.path.join(self.scratch, "sources", f"{self.area}-{name}.parquet")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        pq.write_table(arrow_table(columns, rows), path, store_schema=False)
        return path

    def case(self, who, name, function, *arguments):
        """Runs one case; counts it under the area and the peer. Returns whether it passed."""
        outcome = self.attempt(who, name, function, *arguments)
        passed, failed = self.counts.get((self.area, who), (0, 0))
        self.counts[(self.area, who)] = (passed + outcome, failed + (not outcome))
        return outcome

    def step(self, who, name, function, *arguments):
        """A step that later cases rest on: counted only if it fails."""
        outcome = self.attempt(who, name, function, *arguments)
        if not outcome:
            passed, failed = self.counts.get((self.area, who), (0, 0))
            self.counts[(self.area, who)] = (passed, failed + 1)
        return outcome

    def attempt(self, who, name, function, *arguments):
        try:
            function(*arguments)
            return True
        except Exception as error:  # any failure of a peer is a failed case, not the end of the run
            text = " ".join(str(error).strip().split("\n")[:2])[:600]
            self.failures.append(f"{self.area}/{name} [{who}]: {type(error).__name__}: {text}")
            print("FAILED " + self.failures[-1], flush=True)
            if os.environ.get("SILT_INTEROP_TRACE"):
                traceback.print_exc()
            return False

    def check_rows(self, name, path, columns, rows, readers=None, **options):
        """Every reader sees exactly these rows."""
        expected = canonical_rows(columns, rows)
        for reader in readers or self.everyone:
            self.case(reader.name, name, lambda r=reader: same(expected, r.rows(path, columns, **options)))

    def check_counts(self, name, path, conditions, readers=None):
        """Every reader counts as many rows under each condition: a list of (SQL, expected)."""
        for where, expected in conditions:
            for reader in readers or self.everyone:
                self.case(reader.name, f"{name}: {where}", lambda r=reader, w=where, e=expected: same(e, r.count(path, w)))

    def table(self):
        who = [reader.name for reader in self.everyone]
        areas = list(dict.fromkeys(area for area, _ in self.counts))
        width = max(len(area) for area in areas + ["passed/all"])
        print("\n" + "passed/all".ljust(width) + "".join(name.rjust(12) for name in who))
        for area in areas:
            cells = [self.counts.get((area, name)) for name in who]
            print(area.ljust(width) + "".join(
                ("-" if cell is None else f"{cell[0]}/{sum(cell)}").rjust(12) for cell in cells))
        passed = sum(cell[0] for cell in self.counts.values())
        failed = sum(cell[1] for cell in self.counts.values())
        if self.failures:
            print("\nfailed:\n  " + "\n  ".join(self.failures))
        print(f"\n{passed} passed, {failed} failed", flush=True)
        return failed == 0 and passed > 0
