"""The values that travel between the peers, and one canonical form in which all of them are compared.

A type is a pyarrow type. A value is held so that nothing can be lost on the way: dates as days and timestamps as
microseconds since 1970-01-01 (proleptic Gregorian), decimals as Decimal, structs as dicts, maps as lists of pairs.
The canonical form is JSON-like: floats become their bits, decimals their digits, binary its hex digits.
"""
import datetime
import math
import struct
from decimal import Decimal

import pyarrow as pa

UTC = pa.timestamp("us", tz="UTC")
NTZ = pa.timestamp("us")
MICROS_PER_DAY = 86_400_000_000
EPOCH_ORDINAL = datetime.date(1970, 1, 1).toordinal()


def days(text):
    """Days of an ISO date since the epoch."""
    return datetime.date.fromisoformat(text).toordinal() - EPOCH_ORDINAL


def micros(text):
    """Microseconds since the epoch of 'YYYY-MM-DD HH:MM:SS[.ffffff]', taken as UTC."""
    date, clock = text.rstrip("Z").replace("T", " ").split(" ")
    hours, minutes, seconds = clock.split(":")
    whole, _, fraction = seconds.partition(".")
    of_day = (int(hours) * 60 + int(minutes)) * 60 + int(whole)
    return days(date) * MICROS_PER_DAY + of_day * 1_000_000 + int((fraction + "000000")[:6])


def date_text(value):
    return datetime.date.fromordinal(value + EPOCH_ORDINAL).isoformat()


def timestamp_text(value):
    day, rest = divmod(value, MICROS_PER_DAY)
    seconds, fraction = divmod(rest, 1_000_000)
    clock = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    return f"{date_text(day)} {clock}.{fraction:06d}"


def float_bits(value, code):
    if math.isnan(value):
        return "nan"
    try:
        return struct.pack(">" + code, value).hex()
    except OverflowError:
        return f"too large for {code}: {value!r}"


def decimal_digits(value, scale):
    sign, digits, exponent = Decimal(value).as_tuple()
    unscaled = int("".join(map(str, digits))) * 10 ** max(exponent + scale, 0)
    if exponent + scale < 0:
        unscaled, rest = divmod(unscaled, 10 ** -(exponent + scale))
        if rest:
            return f"more than {scale} digits: {value}"
    digits = str(unscaled).rjust(scale + 1, "0")
    point = len(digits) - scale
    return ("-" if sign and unscaled else "") + digits[:point] + ("." + digits[point:] if scale else "")


def canonical(value, kind):
    """The canonical form of a value held as the module's comment says."""
    if value is None:
        return None
    if pa.types.is_boolean(kind):
        return bool(value)
    if pa.types.is_float32(kind):
        return float_bits(value, "f")
    if pa.types.is_float64(kind):
        return float_bits(value, "d")
    if pa.types.is_decimal(kind):
        return decimal_digits(value, kind.scale)
    if pa.types.is_binary(kind):
        return bytes(value).hex()
    if pa.types.is_struct(kind):
        return [[field.name, canonical(value[field.name], field.type)] for field in kind]
    if pa.types.is_map(kind):
        pairs = [[canonical(k, kind.key_type), canonical(v, kind.item_type)] for k, v in value]
        return {"map": sorted(pairs, key=repr)}
    if pa.types.is_list(kind):
        return [canonical(item, kind.value_type) for item in value]
    if pa.types.is_string(kind):
        return str(value)
    return int(value)


def canonical_rows(columns, rows):
    """Sorted canonical rows of a list of (name, type) and rows as tuples."""
    made = [[canonical(value, kind) for value, (_, kind) in zip(row, columns, strict=True)] for row in rows]
    return sorted(made, key=repr)


# ---- from Arrow ------------------------------------------------------------------------------------------------
def arrow_column(column, kind):
    """Values of an Arrow column as the module's comment holds them, given the type that is expected."""
    if isinstance(column, pa.ChunkedArray):
        return [value for chunk in column.chunks for value in arrow_column(chunk, kind)]
    if isinstance(column, pa.ExtensionArray):
        column = column.storage
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    found = column.type
    if pa.types.is_timestamp(kind) and pa.types.is_timestamp(found):
        if (found.tz is None) != (kind.tz is None):
            raise TypeError(f"expected {kind}, found {found}")
        return column.cast(pa.timestamp("us", tz=found.tz)).cast(pa.int64()).to_pylist()
    if pa.types.is_date32(kind):
        return column.cast(pa.int32()).to_pylist()
    if pa.types.is_struct(kind):
        parts = [arrow_column(column.field(field.name), field.type) for field in kind]
        names = [field.name for field in kind]
        rows = zip(*parts) if parts else iter([()] * len(column))
        return [dict(zip(names, row)) if valid else None for row, valid in zip(rows, column.is_valid().to_pylist())]
    if pa.types.is_map(kind):
        keys, items = arrow_column(column.keys, kind.key_type), arrow_column(column.items, kind.item_type)
        return nested_lists(column, list(zip(keys, items)))
    if pa.types.is_list(kind):
        return nested_lists(column, arrow_column(column.values, kind.value_type))
    if not same_kind(kind, found):
        raise TypeError(f"expected {kind}, found {found}")
    return column.to_pylist()


def nested_lists(column, children):
    offsets, valid = column.offsets.to_pylist(), column.is_valid().to_pylist()
    return [children[offsets[i]:offsets[i + 1]] if valid[i] else None for i in range(len(column))]


def same_kind(kind, found):
    if pa.types.is_string(kind):
        return pa.types.is_string(found) or pa.types.is_large_string(found) or pa.types.is_string_view(found)
    if pa.types.is_binary(kind):
        return pa.types.is_binary(found) or pa.types.is_large_binary(found) or pa.types.is_binary_view(found)
    if pa.types.is_decimal(kind):
        return pa.types.is_decimal(found) and (kind.precision, kind.scale) == (found.precision, found.scale)
    return kind == found


def arrow_rows(table, columns):
    """Canonical rows of an Arrow table; its columns must be exactly the expected ones."""
    names = [name for name, _ in columns]
    if table.column_names != names:
        raise TypeError(f"expected columns {names}, found {table.column_names}")
    parts = [arrow_column(table.column(name), kind) for name, kind in columns]
    return canonical_rows(columns, zip(*parts) if parts else [])


def arrow_table(columns, rows):
    """The rows as an Arrow table."""
    parts = list(zip(*rows)) if rows else [[] for _ in columns]
    arrays = [pa.array(list(part), type=kind) for part, (_, kind) in zip(parts, columns)]
    return pa.Table.from_arrays(arrays, names=[name for name, _ in columns])


# ---- as SQL ----------------------------------------------------------------------------------------------------
SPARK_NAMES = {pa.int8(): "TINYINT", pa.int16(): "SMALLINT", pa.int32(): "INT", pa.int64(): "BIGINT",
               pa.float32(): "FLOAT", pa.float64(): "DOUBLE", pa.bool_(): "BOOLEAN", pa.string(): "STRING",
               pa.binary(): "BINARY", pa.date32(): "DATE", UTC: "TIMESTAMP", NTZ: "TIMESTAMP_NTZ"}


def spark_type(kind):
    """The type's name in Spark's DDL."""
    if kind in SPARK_NAMES:
        return SPARK_NAMES[kind]
    if pa.types.is_decimal(kind):
        return f"DECIMAL({kind.precision},{kind.scale})"
    if pa.types.is_struct(kind):
        return "STRUCT<" + ", ".join(f"`{field.name}`: {spark_type(field.type)}" for field in kind) + ">"
    if pa.types.is_map(kind):
        return f"MAP<{spark_type(kind.key_type)}, {spark_type(kind.item_type)}>"
    return f"ARRAY<{spark_type(kind.value_type)}>"


def spark_columns(columns):
    return ", ".join(f"`{name}` {spark_type(kind)}" for name, kind in columns)


def duckdb_type(kind):
    names = {pa.string(): "VARCHAR", pa.binary(): "BLOB", UTC: "TIMESTAMPTZ", NTZ: "TIMESTAMP", pa.float32(): "REAL"}
    if kind in names:
        return names[kind]
    if pa.types.is_struct(kind):
        return "STRUCT(" + ", ".join(f'"{field.name}" {duckdb_type(field.type)}' for field in kind) + ")"
    if pa.types.is_map(kind):
        return f"MAP({duckdb_type(kind.key_type)}, {duckdb_type(kind.item_type)})"
    if pa.types.is_list(kind):
        return duckdb_type(kind.value_type) + "[]"
    return spark_type(kind)


def text_literal(value):
    pieces = ["'" + piece.replace("'", "''") + "'" for piece in value.split("\0")]
    return pieces[0] if len(pieces) == 1 else "(" + " || chr(0) || ".join(pieces) + ")"


def bare_literal(value, kind):
    if value is None:
        return "NULL"
    if pa.types.is_boolean(kind):
        return str(bool(value)).lower()
    if pa.types.is_floating(kind):
        return f"'{value!r}'"
    if pa.types.is_decimal(kind):
        return f"'{decimal_digits(value, kind.scale)}'"
    if pa.types.is_string(kind):
        return text_literal(value)
    if pa.types.is_binary(kind):
        return f"unhex('{bytes(value).hex()}')"
    if pa.types.is_date32(kind):
        return f"'{date_text(value)}'"
    if pa.types.is_timestamp(kind):
        return f"'{timestamp_text(value)}{'+00' if kind.tz else ''}'"
    if pa.types.is_struct(kind):
        return "{" + ", ".join(f"'{field.name}': {sql_literal(value[field.name], field.type)}" for field in kind) + "}"
    if pa.types.is_map(kind):
        pairs = [f"{sql_literal(k, kind.key_type)}: {sql_literal(v, kind.item_type)}" for k, v in value]
        return "MAP {" + ", ".join(pairs) + "}"
    if pa.types.is_list(kind):
        return "[" + ", ".join(sql_literal(item, kind.value_type) for item in value) + "]"
    return str(value)


def sql_literal(value, kind):
    """A literal in the dialect of silt's queries."""
    return f"CAST({bare_literal(value, kind)} AS {duckdb_type(kind)})"


def sql_values(columns, rows):
    """A VALUES list of the rows in the dialect of silt's queries."""
    made = ["(" + ", ".join(sql_literal(value, kind) for value, (_, kind) in zip(row, columns)) + ")" for row in rows]
    return "VALUES " + ",\n".join(made)
