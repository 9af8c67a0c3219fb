"""Areas that read rows: a small part of many files, tables with deletion vectors, the 22 queries of TPC-H."""
import json
import os

import queries
from contest import Measured, inside_cold
from ways import DATA, REPEAT, SCALE, THREADS, delta_tables, duck_sql, make, make_data, parquet_tables, peer_sql, silt_sql

SKIP_FILES = int(os.environ.get("SILT_BENCH_SKIP_FILES", "2000"))
SKIP_QUERY = "SELECT id, v FROM {t} AS t WHERE id < 100 ORDER BY id"
VECTORS = (("1 %", "lineitem_dv10"), ("10 %", "lineitem_dv100"))
TPCH_REPEAT = 4


def contend(report, case, threads, contestants, target=None, repeat=REPEAT, compared=None):
    """compared: whose results must be equal; None: everybody's."""
    found = inside_cold(report, case, contestants, threads, repeat)
    report.compare(case, [measured for measured in found if compared is None or measured.who in compared])
    if found:
        report.add(case, threads, found, target)
    return {measured.who: measured for measured in found}


def measure_skip(report, _):
    """Some rows of one file among many."""
    folder = os.path.abspath(os.path.join(DATA, f"skip{SKIP_FILES}"))
    make(os.path.join(folder, "done"), "make_data.py", folder, str(SKIP_FILES), "skip")
    table = os.path.join(folder, "t")
    tables = {"t": table}
    hit = os.path.join(table, min(name for name in os.listdir(table) if name.endswith(".parquet")))
    for threads in THREADS:
        contend(report, f"skip: id < 100 of {SKIP_FILES} files", threads, [
            ("silt", "silt", silt_sql(SKIP_QUERY, delta_tables(folder, tables), threads)),
            ("libduckdb, the file", "limit", duck_sql(SKIP_QUERY, {"t": f"read_parquet('{hit}')"}, threads)),
            ("duckdb", "peer", peer_sql("duckdb", SKIP_QUERY, tables, threads)),
            ("duckdb pinned", "peer", peer_sql("duckdb", SKIP_QUERY, tables, threads, "--pinned")),
            ("delta-rs", "peer", peer_sql("delta-rs", SKIP_QUERY, tables, threads)),
            ("polars", "peer", peer_sql("polars", SKIP_QUERY, tables, threads))], "L 1.5", max(REPEAT, 20))


def number_of_rows(found):
    return found.rows and int(found.rows[0][0])


def measure_vectors(report, _):
    """lineitem with rows deleted by vectors, beside itself without (the "limit", whose rows are others)."""
    data = make_data("vectors")
    texts = {"q1": queries.Q1, "q6": queries.Q6, "select *": queries.STAR, "sum": queries.SUM}
    for threads in THREADS:
        for name, text in texts.items():
            for share, table in VECTORS:
                vectors_case(report, f"vectors: {name}, {share} deleted", text, data, table, threads)


def vectors_case(report, case, text, data, table, threads):
    tables = {"lineitem": f"{data}/{table}"}
    counted = text is queries.STAR
    more = ["--count"] if counted else []
    found = contend(report, case, threads, [
        ("silt", "silt", silt_sql(text, {"lineitem": f"delta.`{data}/{table}`"}, threads)),
        ("silt, no vectors", "limit", silt_sql(text, {"lineitem": f"delta.`{data}/lineitem`"}, threads)),
        *[(who, "peer", peer_sql(who, text, tables, threads, *more)) for who in ("duckdb", "delta-rs", "polars")]],
        "L 1.20, P 1", compared=("silt",) if counted else ("silt", "duckdb", "delta-rs", "polars"))
    if not {"silt", "silt, no vectors"} <= set(found):
        return
    if counted:
        n_rows = found["silt"].said["n_rows"]
        report.faults += [f"{case}: {who} has {one.rows[0][0]} rows, silt {n_rows}" for who, one in found.items()
                          if one.role == "peer" and number_of_rows(one) != n_rows]
    if text is queries.SUM:
        with open(f"{data}/{table}/rows.json", encoding="utf-8") as file:
            n_rows = json.load(file)
        more_us = min(found["silt"].times) - min(found["silt, no vectors"].times)
        report.fact(f"{case}, {threads} thread(s)", "more a row", more_us * 1000 / n_rows, "ns", "4 on one thread")


def measure_tpch(report, _):
    """Each query apart; then the sums of the least times, and the worst of the ratios to libduckdb."""
    data = make_data("tpch")
    names = queries.TPCH_TABLES
    tables = {name: f"{data}/{name}" for name in names}
    with open(os.path.join(data, "tpch.json"), encoding="utf-8") as file:
        texts = [queries.with_places(text) for text in json.load(file)]
    for threads in THREADS:
        sums = {}
        worst = {}
        for number, text in enumerate(texts, 1):
            found = contend(report, f"tpch: query {number}", threads, [
                ("silt", "silt", silt_sql(text, delta_tables(data, names), threads)),
                ("libduckdb read_parquet", "limit", duck_sql(text, parquet_tables(data, names), threads)),
                ("duckdb", "peer", peer_sql("duckdb", text, tables, threads)),
                ("duckdb pinned", "peer", peer_sql("duckdb", text, tables, threads, "--pinned"))], "L 1.10", TPCH_REPEAT)
            for who, one in found.items():
                total = sums.setdefault(who, Measured(who, one.role))
                total.times = [sum([*total.times, min(one.times)])]
                total.cpu = [sum([*total.cpu, min(one.cpu)])]
                total.rss_kb = max(total.rss_kb, one.rss_kb)
                limit = found.get("libduckdb read_parquet")
                if limit is not None:
                    worst[who] = max(worst.get(who, (0, 0)), (min(one.times) / min(limit.times), number))
        report.add(f"tpch: sum of the least times, scale factor {SCALE}", threads, list(sums.values()), "L 1.05")
        for who, (ratio, number) in worst.items():
            report.fact(f"tpch: worst query, {threads} thread(s)", f"{who}, query {number}", ratio, "× libduckdb", "1.10")


AREAS = {"skip": measure_skip, "vectors": measure_vectors, "tpch": measure_tpch}
