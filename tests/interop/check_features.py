"""Every table feature: Spark writes a table for each, silt reads every version of it with exact values and types: by SQL, by the
library's scans, and by the time of each version; conditions count the same rows; change data and row ids are Spark's own.
"""
import datetime
import json
import os
import shutil
from decimal import Context, Decimal

import pyarrow as pa

import silt_program
from feature_tables import CHANGE_TABLES, CLONE, CONDITIONS, ROW_ID_TABLES, TABLES
from harness import same
from peers import plain
from silt_api import Library
from silt_program import from_json, json_lines
from values import arrow_rows, canonical_rows

# A column with a variant in it: compared as the JSON that Spark and silt make of it.
AS_JSON = pa.large_string()
EXACT = Context(prec=60)  # more digits than any decimal has


# ---- Spark's side ---------------------------------------------------------------------------------------------------
def has_variant(kind):
    return "variant" in kind.simpleString()


def columns_of(frame):
    """(name, Arrow type) of a frame's columns."""
    from pyspark.sql.pandas.types import to_arrow_type
    made = []
    for field in frame.schema.fields:
        made.append((field.name, AS_JSON if has_variant(field.dataType) else
                     to_arrow_type(field.dataType, timezone="UTC")))
    return made


def quoted(name):
    return "`" + name.replace("`", "``") + "`"


def canonical_json(parsed):
    """Parsed JSON as text that is the same whenever the values are; numbers are decimals, to the last digit."""
    def plain(value):
        if isinstance(value, dict):
            return {key: plain(value[key]) for key in sorted(value)}
        if isinstance(value, list):
            return [plain(item) for item in value]
        if isinstance(value, Decimal):
            return ["number", format(value.normalize(EXACT), "E")]
        return value
    return None if parsed is None else json.dumps(plain(parsed), ensure_ascii=False)


def json_value(text):
    """A variant's JSON; the variant null is JSON's null as NULL is: conditions tell them apart."""
    return None if text is None else canonical_json(json.loads(text, parse_float=Decimal, parse_int=Decimal))


def spark_rows(run, frame, columns):
    """Canonical rows of a frame."""
    parts = []
    for name, kind in columns:
        if kind == AS_JSON:
            text = f"to_json({quoted(name)}, map('ignoreNullFields', 'false'))"
            parts.append(f"IF({quoted(name)} IS NULL, NULL, {text}) AS {quoted(name)}")
        else:
            parts.append(f"{plain(quoted(name), kind)} AS {quoted(name)}")
    rows = []
    for row in frame.selectExpr(*parts).collect():
        held = [run.spark.held(value, kind) if kind != AS_JSON else json_value(value)
                for value, (_, kind) in zip(row, columns)]
        rows.append(held)
    return canonical_rows([(name, pa.string() if kind == AS_JSON else kind) for name, kind in columns], rows)


# ---- silt's side ------------------------------------------------------------------------------------------------------
def silt_rows(text, columns):
    """Canonical rows of silt's JSON lines, variants as JSON."""
    rows = []
    names = [name for name, _ in columns]
    for line, plain_line in zip(json_lines(text), (one for one in text.split("\n") if one)):
        same(names, list(line))
        whole = json.loads(plain_line, parse_float=Decimal, parse_int=Decimal)
        rows.append([
            canonical_json(whole[name])
            if kind == AS_JSON else from_json(line[name], kind) for name, kind in columns])
    return canonical_rows([(name, pa.string() if kind == AS_JSON else kind) for name, kind in columns], rows)


def check_queries(run, cases):
    """Cases (name, query of silt, function of its output) by one process."""
    for (name, _, function), found in zip(cases, silt_program.results([query for _, query, _ in cases])):
        run.case("silt", name, lambda f=function, x=found: f(silt_program.result(x)))


def expects(columns, expected):
    return lambda text: same(expected, silt_rows(text, columns))


# ---- versions -----------------------------------------------------------------------------------------------------------
def by_version(run, path, versions):
    """By version: (columns, Spark's rows) of all that Spark still has."""
    known = {}
    for version, _ in versions:
        frame = readable(run, path, version)
        columns = columns_of(frame) if frame is not None else []
        if columns:
            known[version] = columns, spark_rows(run, frame, columns)
    return known


def history_of(name):
    """What the rows of a table's versions come from: the statements behind the first, which says how the table keeps them."""
    return tuple(statement for statement in TABLES[name][1][1:] if isinstance(statement, str)) if name in TABLES else (name,)


def known_rows(run, histories, name, path, versions):
    """As by_version. Of tables with the same history Spark reads the first one's versions, and of each table the newest."""
    history, newest = history_of(name), versions[-1][0]
    if not dict(versions).keys() <= histories.get(history, {}).keys():  # some statements make no version of some tables
        histories[history] = by_version(run, path, versions)
        return histories[history]
    mine = by_version(run, path, versions[-1:])
    shared = {version: rows for version, rows in histories[history].items() if version in dict(versions)}
    run.case("spark", f"{name}: the rows of another table with that history", lambda: same(shared[newest], mine[newest]))
    return shared


def check_versions(run, library, name, path, known):
    check_queries(run, [(f"{name} VERSION AS OF {version}", f"SELECT * FROM delta.`{path}` VERSION AS OF {version}",
                         expects(columns, rows)) for version, (columns, rows) in known.items()])
    for version, (columns, rows) in known.items():
        exact = [i for i, (_, kind) in enumerate(columns) if kind != AS_JSON]
        wanted = sorted(([row[i] for i in exact] for row in rows), key=repr)

        def by_library(at=version, some=[columns[i] for i in exact], wanted=wanted):
            same(wanted, arrow_rows(library.read(path, at, [column for column, _ in some]), some))
        if exact:
            run.case("silt", f"{name} VERSION AS OF {version} by the library", by_library)


def check_conditions(run, name, path):
    if "widening" in name:
        # Spark's own skipping is wrong where a float was widened: its statistics are read as doubles
        run.spark.session().conf.set("spark.databricks.delta.stats.skipping", "false")
    counts = [(where, run.spark.count(path, where)) for where in CONDITIONS.get(name, ())]
    run.spark.session().conf.unset("spark.databricks.delta.stats.skipping")
    check_queries(run, [(f"{name}: {where}", f"SELECT count(*) AS n FROM delta.`{path}` WHERE {where}",
                         lambda text, n=number: same([{"n": str(n)}], silt_program.json_lines(text))) for where, number in counts])


def versions_of(run, path):
    """(version, time in milliseconds) in ascending order."""
    frame = run.spark.sql(f"DESCRIBE HISTORY delta.`{path}`").selectExpr("version", "unix_millis(timestamp) AS at")
    return sorted((row["version"], row["at"]) for row in frame.collect())


def readable(run, path, version):
    """A frame of the version, None where Spark has no longer what it takes."""
    try:
        frame = run.spark.session().read.format("delta").option("versionAsOf", version).load(path)
        frame.schema  # loads the snapshot
        return frame
    except Exception as error:
        if "DELTA_VERSION_NOT_FOUND" in str(error) or "Cannot time travel" in str(error) or "DELTA_UNSUPPORTED_TIME" in str(error):
            return None
        raise


def check_times(run, name, path, versions):
    """Each version by its own time."""
    queries = []
    for _, at in versions:
        text = datetime.datetime.fromtimestamp(at / 1000, datetime.timezone.utc).strftime("%Y-%m-%d %H:%M:%S.%f")
        newest = max(other for other, when in versions if when <= at)
        queries += [f"SELECT count(*) AS n FROM delta.`{path}` {which}" for which in (
            f"VERSION AS OF {newest}", f"TIMESTAMP AS OF '{text}'")]
    found = silt_program.results(queries)
    for (version, _), wanted, by_time in zip(versions, found[::2], found[1::2]):
        run.case("silt", f"{name} at the time of version {version}", lambda w=wanted, t=by_time: same(
            silt_program.result(w), silt_program.result(t)))


def silts_history(run, name, path, versions):
    """silt's history has Spark's versions and times."""
    text = silt_program.run("history", path, "-o", "jsonl")
    found = []
    for line in text.split("\n"):
        if line:
            entry = json.loads(line)
            at = datetime.datetime.fromisoformat(entry["timestamp"].replace("Z", "+00:00"))
            found.append((entry["version"], round(at.timestamp() * 1000)))
    run.case("silt", f"{name}: history", lambda: same(versions, sorted(found)))


# ---- change data and row ids ---------------------------------------------------------------------------------------------
def change_ranges(last):
    return [(0, last), (last, last), (2, 5), (1, 1), (3, 6)]


def check_changes(run, name, path, last):
    cases = []
    for first, end in change_ranges(last):
        try:
            frame = run.spark.session().read.format("delta").option("readChangeFeed", "true").option(
                "startingVersion", first).option("endingVersion", end).load(path)
            # Spark tells the changes of a table without mapping under its newest columns, silt under those of the last version
            known = run.spark.session().read.format("delta").option("versionAsOf", min(end, last)).load(path).columns
            told = [column for column in frame.columns if column in known or column.startswith("_c")]
            frame = frame.select(*[quoted(column) for column in told])
            columns = columns_of(frame)
            expected = spark_rows(run, frame, columns)
        except Exception as error:
            run.step("spark", f"{name}: changes {first} to {end}: {str(error)[:200]}", lambda: 1 / 0)
            continue
        cases.append((f"{name}: changes {first} to {end}", f"SELECT * FROM table_changes_by_path('{path}', {first}, {end})",
                      expects(columns, expected)))
    check_queries(run, cases)


def check_row_ids(run, name, path, versions):
    cases = []
    for version, _ in versions:
        try:
            frame = run.spark.session().read.format("delta").option("versionAsOf", version).load(path).selectExpr(
                "id", "_metadata.row_id AS row_id", "_metadata.row_commit_version AS row_commit_version")
            columns = columns_of(frame)
            expected = spark_rows(run, frame, columns)
        except Exception as error:
            if "FIELD_NOT_FOUND" in str(error):
                continue  # the table has no row ids at that version
            raise
        cases.append((f"{name}: row ids at version {version}",
                      "SELECT id, _metadata.row_id AS row_id, _metadata.row_commit_version AS row_commit_version "
                      f"FROM delta.`{path}` VERSION AS OF {version}", expects(columns, expected)))
    if not cases:
        raise AssertionError(f"{name}: Spark knows row ids at no version")
    check_queries(run, cases)


def check_metadata(run, name, path):
    fields = ("file_path", "file_name", "file_size", "file_block_start", "file_block_length")
    selected = ", ".join(f"_metadata.{field} AS {field}" for field in fields)
    selected += ", unix_millis(_metadata.file_modification_time) AS modified"
    frame = run.spark.sql(f"SELECT {selected} FROM delta.`{path}`")
    columns = columns_of(frame)
    expected = spark_rows(run, frame, columns)
    ours = selected.replace("unix_millis(", "epoch_ms(")
    run.case("silt", f"{name}: _metadata", lambda: same(
        expected, silt_rows(silt_program.sql(f"SELECT {ours} FROM delta.`{path}`"), columns)))


# ---- all of it -------------------------------------------------------------------------------------------------------------
def write(run, path, settings, statements):
    session = run.spark.session()
    kept = {key: session.conf.get(key, None) for key in settings}
    hadoop = {key[len("spark.hadoop."):]: value for key, value in settings.items() if key.startswith("spark.hadoop.")}
    for key, value in settings.items():
        session.conf.set(key, value)
    for key, value in hadoop.items():
        session.sparkContext._jsc.hadoopConfiguration().set(key, value)
    try:
        for statement in statements:
            if callable(statement):
                statement(session, path)
            else:
                session.sql(statement.format(t=f"delta.`{path}`"))
    finally:
        for key, value in kept.items():
            if value is None:
                session.conf.unset(key)
            else:
                session.conf.set(key, value)
        for key in hadoop:
            session.sparkContext._jsc.hadoopConfiguration().unset(key)


def table_of_spark(run, name):
    """A fresh copy of the table of that name in feature_tables, which Spark writes once in a run."""
    if name not in run.made:
        made = os.path.join(run.scratch, "made", name)
        shutil.rmtree(made, ignore_errors=True)
        write(run, made, *TABLES[name])
        run.made[name] = made
    path = run.path(name)
    shutil.copytree(run.made[name], path)  # with the times of the files, which are those of versions
    return path


def check_table(run, library, histories, name, path):
    versions = versions_of(run, path)
    known = known_rows(run, histories, name, path, versions)
    run.newest[name] = known[versions[-1][0]]
    check_versions(run, library, name, path, known)
    silts_history(run, name, path, versions)
    if "cleaned" not in name and name not in ("checkpoint-parts", "struct-stats-only"):
        check_times(run, name, path, versions)
    check_conditions(run, name, path)
    if name in CHANGE_TABLES:
        check_changes(run, name, path, versions[-1][0])
    if name in ROW_ID_TABLES:
        check_row_ids(run, name, path, versions)
    if name in ("vectors", "mapping-name", "vectors-partitioned", "row-ids"):
        check_metadata(run, name, path)


def check(run):
    library, histories = Library(), {}
    only = os.environ.get("SILT_INTEROP_TABLES", "").split()
    from check_writing import MADE
    run.case("silt", "the wanted tables are known", lambda: same(set(), set(only) - set(TABLES) - set(MADE) - {"clone"}))
    for name in TABLES:
        if not only or name in only:
            run.step("silt", f"{name}: to the end", lambda n=name: check_table(run, library, histories, n, table_of_spark(run, n)))
    if not only or "clone" in only:
        path = run.path("clone")
        if run.step("spark", "clone: write", CLONE, run.spark.session(), path):
            for part in ("a source", "a clone"):
                check_table(run, library, histories, part, os.path.join(path, part))
