"""Columns and rows with the values that implementations have got wrong: extremes, old dates, odd text."""
import math
from decimal import Decimal

import pyarrow as pa

from values import NTZ, UTC, days, micros

D = pa.decimal128
INT_LIMITS = {pa.int8(): 7, pa.int16(): 15, pa.int32(): 31, pa.int64(): 63}


def integers(kind):
    top = 2 ** INT_LIMITS[kind]
    return [-top, -top + 1, -1, 0, 1, top - 1, None]


def decimals(precision, scale):
    digits = ["-" + "9" * precision, "-1", "0", "1", "9" * precision]
    return [Decimal(f"{text}E-{scale}") for text in digits] + [None]


FLOATS = [math.nan, math.inf, -math.inf, -0.0, 0.0, 1.5, -2.25, None]
SMALL_FLOATS = [1.401298464324817e-45, 3.4028234663852886e38, -3.4028234663852886e38, 0.10000000149011612]
DOUBLES = [5e-324, 1.7976931348623157e308, -1.7976931348623157e308, 0.1, 1e23, 123456789.123456789]
TEXTS = ["", "plain", "with space", "tab\tnew\nline\rreturn", "nul\0inside", "quote ' \" ` \\ slash /", "é ü ñ",
         "日本語", "😀 emoji 👩‍👩‍👧", "\u2028 \ufeff", "x" * 300, "é" * 300, "null", "NaN", " lead", "trail ", "%41", None]
BLOBS = [b"", b"\0", b"\xff\xfe\x00\x80", bytes(range(256)), b"text", None]
DATES = ["0001-01-01", "1000-02-28", "1582-10-04", "1582-10-15", "1582-10-10", "1899-12-31", "1900-02-28",
         "1970-01-01", "1969-12-31", "2000-02-29", "2024-02-29", "9999-12-31"]
TIMES = ["0001-01-01 00:00:00", "1000-02-28 23:59:59.999999", "1582-10-04 12:00:00.000001",
         "1582-10-10 01:02:03.456789", "1582-10-15 00:00:00.1", "1883-11-18 12:03:57.5", "1969-12-31 23:59:59.999999",
         "1970-01-01 00:00:00.000001", "2000-02-29 12:34:56.123456", "2021-03-14 02:30:00", "2021-11-07 01:30:00.25",
         "9999-12-31 23:59:59.999999"]

SCALARS = {
    "c_byte": (pa.int8(), integers(pa.int8())),
    "c_short": (pa.int16(), integers(pa.int16())),
    "c_int": (pa.int32(), integers(pa.int32())),
    "c_long": (pa.int64(), integers(pa.int64())),
    "c_float": (pa.float32(), FLOATS + SMALL_FLOATS),
    "c_double": (pa.float64(), FLOATS + DOUBLES),
    "c_dec_1_0": (D(1, 0), decimals(1, 0)),
    "c_dec_9_2": (D(9, 2), decimals(9, 2)),
    "c_dec_18_0": (D(18, 0), decimals(18, 0)),
    "c_dec_38_18": (D(38, 18), decimals(38, 18)),
    "c_string": (pa.string(), TEXTS),
    "c_binary": (pa.binary(), BLOBS),
    "c_boolean": (pa.bool_(), [True, False, None]),
    "c_date": (pa.date32(), [days(text) for text in DATES] + [None]),
    "c_timestamp": (UTC, [micros(text) for text in TIMES] + [None]),
    "c_timestamp_ntz": (NTZ, [micros(text) for text in TIMES] + [None]),
}

STRUCT = pa.struct([("a", pa.int32()), ("b", pa.string()), ("t", UTC)])
DEEP = pa.struct([("id", pa.int64()), ("in", pa.struct([("x", D(38, 18)), ("l", pa.list_(pa.date32()))]))])
OLD, NEW = micros("1582-10-10 01:02:03.456789"), micros("2021-03-14 02:30:00")
TOP = Decimal("9" * 38 + "E-18")
NESTED = {
    "n_struct": (STRUCT, [{"a": 1, "b": "x", "t": OLD}, {"a": None, "b": None, "t": None}, None]),
    "n_array": (pa.list_(pa.string()), [["a", None, ""], [], None, ["é\n"]]),
    "n_map": (pa.map_(pa.string(), pa.int64()), [[("k", 1), ("", -2 ** 63)], [], None, [("n", None)]]),
    "n_deep": (DEEP, [{"id": 1, "in": {"x": TOP, "l": [days("0001-01-01"), None]}}, {"id": 2, "in": None}, None,
                      {"id": None, "in": {"x": None, "l": []}}]),
    "n_structs": (pa.list_(STRUCT), [[{"a": 5, "b": "é", "t": NEW}, None], [], None]),
    "n_lists": (pa.list_(pa.list_(pa.float64())), [[[math.nan, -0.0], [], None], [], None]),
    "n_map_deep": (pa.map_(pa.int32(), pa.list_(pa.binary())), [[(1, [b"\0", None]), (2, None)], [], None]),
    "n_map_date": (pa.map_(pa.date32(), STRUCT), [[(days("1582-10-04"), {"a": 0, "b": "", "t": OLD})], None]),
}

ALL_NULL = {"z_null_" + name[2:]: (kind, [None]) for name, (kind, _) in SCALARS.items()
            if name in ("c_int", "c_string", "c_double", "c_timestamp", "c_dec_38_18", "c_binary")}


def grid(samples):
    """(columns, rows): every value of every column at least once, with an id in front; short columns start over."""
    count = max(len(values) for _, values in samples.values())
    columns = [("id", pa.int64())] + [(name, kind) for name, (kind, _) in samples.items()]
    rows = [(i,) + tuple(values[i % len(values)] for _, values in samples.values()) for i in range(count)]
    return columns, rows


# Values of a partition column of text. The empty text is stored as null: Delta has one form for both.
HARD_TEXTS = ["plain", "with space", "%", "%41", "a%20b", "=", "a=b", "/", "a/", "/a", "a/b", "\\", ":", "é", "日本",
              "😀", "'", '"', "`", "quote ' \" both", "a+b", "a&b?c#d", "[x]", "{y}", "<z>", "|", "^", "~", "*", ";",
              ",", "@", "!", "$", "(", ")", "tab\there", "new\nline", ".", "..", "_hidden", ".hidden", " lead",
              "trail ", "null", "__HIVE_DEFAULT_PARTITION", "%2F", "%25", "A", "a", "\u00e9\u0301", "x" * 120]
