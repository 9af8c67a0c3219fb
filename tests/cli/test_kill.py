"""The program itself is killed in the middle of a script of INSERTs: each row of counts that it printed is a commit that stays."""
import os
import random
import signal
import subprocess
import sys
import time

from bad_tables import Case, SILT, quoted, run_cases, silt

KILLS = 20
STATEMENTS = 200
BATCH = 5


def statements(table, first):
    return "; ".join(f"INSERT INTO {table} SELECT {c} * {BATCH} + i, {c} FROM range({BATCH}) r(i)"
                     for c in range(first, first + STATEMENTS))


def killed_scripts_keep_what_they_printed():
    chance = random.Random(20260131)
    with Case() as c:
        table = quoted(c.path())
        assert silt("sql", f"CREATE TABLE {table} (id BIGINT, c BIGINT)").code == 0
        acknowledged = set()
        for turn in range(KILLS):
            first = turn * STATEMENTS
            with open(c.path("out"), "wb+") as out, subprocess.Popen(
                    [SILT, "sql", "-o", "jsonl", statements(table, first)], stdout=out, stderr=subprocess.DEVNULL) as writer:
                time.sleep(0.05 + chance.random() * 0.3)
                writer.send_signal(signal.SIGKILL)
                writer.wait(timeout=60)
                out.seek(0)
                acknowledged.update(range(first, first + out.read().count(b"\n")))
        rows = silt("sql", f"SELECT c, count(*), count(DISTINCT id), min(id), max(id) FROM {table} GROUP BY c")
        assert rows.code == 0, str(rows)
        there = set()
        for line in rows.out.splitlines()[1:]:
            commit, *counts = map(int, line.split(","))
            assert counts == [BATCH, BATCH, commit * BATCH, commit * BATCH + BATCH - 1], line
            there.add(commit)
        assert acknowledged <= there, sorted(acknowledged - there)
        assert len(there - acknowledged) <= KILLS, (len(there), len(acknowledged))
        assert acknowledged, "every writer was killed before its first commit"
        assert silt("sql", f"INSERT INTO {table} VALUES (-1, -1)").code == 0
        assert os.path.exists(os.path.join(c.path(), "_delta_log", f"{len(there) + 1:020d}.json"))


if __name__ == "__main__":
    sys.exit(run_cases((killed_scripts_keep_what_they_printed,)))
