"""silt as a peer: runs the program, reads its JSON lines back without losing a digit."""
import base64
import json
import os
import subprocess
from decimal import Decimal

import pyarrow as pa

from values import canonical_rows, days, micros, spark_columns, sql_values

PROGRAM = os.environ["SILT"]


class SiltError(Exception):
    """What the program said when it refused."""

    def __init__(self, code, text):
        super().__init__(f"silt ended with {code}: {text}")
        self.code = code
        self.text = text


def run(*arguments, timeout=120):
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, timeout=timeout, check=False)
    if done.returncode != 0:
        raise SiltError(done.returncode, done.stderr.decode("utf-8", "replace").strip())
    return done.stdout.decode("utf-8")


def sql(text, output="jsonl", timeout=120):
    """Runs statements from a file, since a command line cannot hold every text."""
    done = subprocess.run([PROGRAM, "sql", "-o", output, "-f", "/dev/stdin"], input=text.encode("utf-8"),
                          capture_output=True, timeout=timeout, check=False)
    if done.returncode != 0:
        raise SiltError(done.returncode, done.stderr.decode("utf-8", "replace").strip())
    return done.stdout.decode("utf-8")


def results(statements):
    """The output of each query, of one process; of the failed one the error, of those behind it as well."""
    if not statements:
        return []
    mark = '{"the next query":1}\n'
    texts = ";\nSELECT 1 AS \"the next query\";\n".join(statements)
    done = subprocess.run([PROGRAM, "sql", "-o", "jsonl", "-f", "/dev/stdin"], input=texts.encode("utf-8"), capture_output=True,
                          timeout=600, check=False)
    found = done.stdout.decode("utf-8").split(mark)
    if done.returncode != 0:
        error = SiltError(done.returncode, done.stderr.decode("utf-8", "replace").strip())
        return found[:-1] + [error] * (len(statements) - len(found) + 1)
    if len(found) != len(statements):
        raise ValueError(f"expected {len(statements)} results, found {len(found)}")
    return found


def result(found):
    """The text of one of results(), or its error raised."""
    if isinstance(found, SiltError):
        raise found
    return found


class Number(str):
    """The text of a JSON number."""


def json_lines(text):
    """JSON lines as lists of (name, value), numbers as their text."""
    # split at line feeds only: other line separators of Unicode may stand in a string as they are
    return [json.loads(line, parse_float=Number, parse_int=Number) for line in text.split("\n") if line]


def expect(condition, value, kind):
    if not condition:
        raise TypeError(f"{value!r} is no JSON for {kind}")


def from_json(value, kind):
    """A JSON value of silt's as values.py holds it."""
    if value is None:
        return None
    if pa.types.is_boolean(kind):
        expect(isinstance(value, bool), value, kind)
        return value
    if pa.types.is_floating(kind):
        expect(isinstance(value, Number) or value in ("NaN", "Infinity", "-Infinity"), value, kind)
        return float(value)
    if pa.types.is_decimal(kind):
        expect(isinstance(value, Number), value, kind)
        return Decimal(value)
    if pa.types.is_integer(kind):
        expect(isinstance(value, Number), value, kind)
        return int(value)
    if pa.types.is_struct(kind):
        expect(list(value) == [field.name for field in kind], value, kind)
        return {field.name: from_json(value[field.name], field.type) for field in kind}
    if pa.types.is_map(kind):
        pairs = value.items() if isinstance(value, dict) else [(entry["key"], entry["value"]) for entry in value]
        return [(from_json(k, kind.key_type), from_json(v, kind.item_type)) for k, v in pairs]
    if pa.types.is_list(kind):
        expect(isinstance(value, list), value, kind)
        return [from_json(item, kind.value_type) for item in value]
    expect(isinstance(value, str) and not isinstance(value, Number), value, kind)
    if pa.types.is_binary(kind):
        return base64.b64decode(value, validate=True)
    if pa.types.is_date32(kind):
        return days(value)
    if pa.types.is_timestamp(kind):
        expect(value.endswith("Z") == (kind.tz is not None), value, kind)
        return micros(value)
    return value


def rows_of(text, columns):
    """Canonical rows of silt's JSON lines."""
    names = [name for name, _ in columns]
    rows = []
    for line in json_lines(text):
        if list(line) != names:
            raise TypeError(f"expected columns {names}, found {list(line)}")
        rows.append(tuple(from_json(line[name], kind) for name, kind in columns))
    return canonical_rows(columns, rows)


# ---- writing ---------------------------------------------------------------------------------------------------
def create(path, columns, partitions=(), properties=None):
    statement = f"CREATE TABLE delta.`{path}` ({spark_columns(columns)}) USING delta"
    if partitions:
        statement += " PARTITIONED BY (" + ", ".join(f"`{name}`" for name in partitions) + ")"
    if properties:
        statement += " TBLPROPERTIES (" + ", ".join(f"'{k}' = '{v}'" for k, v in properties.items()) + ")"
    sql(statement)


def insert(path, columns, rows, mode="INTO"):
    sql(f"INSERT {mode} delta.`{path}` {sql_values(columns, rows)}")


def insert_parquet(path, source, mode="INTO"):
    sql(f"INSERT {mode} delta.`{path}` SELECT * FROM read_parquet('{source}')")
