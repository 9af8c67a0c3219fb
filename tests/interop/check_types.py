"""Every type and its extremes: written by silt and judged by the peers, written by a peer and read by silt."""
import deltalake
import polars

import samples
import silt_program
from values import arrow_table

FAMILIES = {"scalars": samples.SCALARS, "nested": samples.NESTED, "all-null": samples.ALL_NULL}


def written_by_silt(run, name, columns, rows):
    path = run.path(f"{name}-values")
    if run.step("silt", f"{name}: write VALUES", lambda: (
            silt_program.create(path, columns), silt_program.insert(path, columns, rows))):
        run.check_rows(f"{name}: silt wrote VALUES", path, columns, rows)
    path, source = run.path(f"{name}-parquet"), run.source(name, columns, rows)
    if run.step("silt", f"{name}: write from Parquet", lambda: (
            silt_program.create(path, columns), silt_program.insert_parquet(path, source))):
        run.check_rows(f"{name}: silt wrote from Parquet", path, columns, rows)
    path = run.path(f"{name}-ctas")
    if run.step("silt", f"{name}: CREATE AS SELECT", lambda: silt_program.sql(
            f"CREATE TABLE delta.`{path}` USING delta AS SELECT * FROM read_parquet('{source}')")):
        run.check_rows(f"{name}: silt wrote AS SELECT", path, columns, rows)


def written_by_peers(run, name, columns, rows):
    source = run.source(name, columns, rows)
    path = run.path(f"{name}-spark")
    if run.step("spark", f"{name}: write", run.spark.append_parquet, path, source):
        run.check_rows(f"{name}: spark wrote", path, columns, rows, [run.silt])
    path = run.path(f"{name}-delta-rs")
    if run.step("delta-rs", f"{name}: write", deltalake.write_deltalake, path, arrow_table(columns, rows)):
        run.check_rows(f"{name}: delta-rs wrote", path, columns, rows, [run.silt])
    if name != "nested":  # polars has no maps
        path = run.path(f"{name}-polars")
        if run.step("silt", f"{name}: polars write", lambda: polars.from_arrow(
                arrow_table(columns, rows)).write_delta(path)):
            run.check_rows(f"{name}: polars wrote", path, columns, rows, [run.silt])


def check(run):
    for name, family in FAMILIES.items():
        columns, rows = samples.grid(family)
        written_by_silt(run, name, columns, rows)
        written_by_peers(run, name, columns, rows)
