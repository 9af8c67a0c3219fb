"""Broken, hostile and odd tables: silt must end with the right exit code and one line that names what is wrong, never by a signal."""
import json
import os
import random
import resource
import shutil
import subprocess
import sys

from bad_tables import (Case, PROTOCOL, SILT, add, clean, expect, field, lines, metadata, quoted, run_cases, silt, works)

ID = [field("id")]
ID_P = [field("id"), field("p", "integer")]


# ---- places that hold no table ---------------------------------------------------------------------------------
def no_table():
    with Case() as c:
        os.makedirs(c.path("empty/_delta_log"))
        os.symlink(c.path("nowhere"), c.path("dangling"))
        with open(c.path("file"), "w", encoding="utf-8") as file:
            file.write("x")
        for name in ("missing", "empty", "dangling", "file"):
            expect(silt("read", c.path(name)), 4, "DELTA_PATH_DOES_NOT_EXIST", name)
            expect(silt("history", c.path(name)), 4, "DELTA_PATH_DOES_NOT_EXIST", name)
            expect(silt("sql", f"INSERT INTO {quoted(c.path(name))} VALUES (1)"), 4, "DELTA_PATH_DOES_NOT_EXIST", name)
        create = f"CREATE TABLE {quoted(c.path('file'))} AS SELECT 1 AS a"
        expect(silt("sql", create), 1, "SILT_INVALID_ARGUMENT", "not a directory")
        os.symlink("loop", c.path("loop"))
        expect(silt("read", c.path("loop")), 5, "SILT_IO", "symbolic links")
        expect(silt("read", "/" + "y/" * 4000), 1, "SILT_INVALID_ARGUMENT", "longer than")


def files_in_the_way():
    """IF NOT EXISTS is about tables: other files are not passed over, and nothing is created among them."""
    with Case() as c:
        c.parquet("part-00000-3b8c4bf5-7d4b-4d5f-9c2e-000000000000-c000.snappy.parquet", "SELECT 1 AS a")
        for form in ("TABLE", "TABLE IF NOT EXISTS"):
            expect(silt("sql", f"CREATE {form} {quoted(c.name)} AS SELECT 1 AS a"), 1,
                   "DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION", "part-00000")
        assert not os.path.exists(c.path("_delta_log"))
        c.good()
        expect(silt("sql", f"CREATE TABLE {quoted(c.path())} (a INT)"), 1, "DELTA_TABLE_ALREADY_EXISTS", c.path())
        works(silt("sql", f"CREATE TABLE IF NOT EXISTS {quoted(c.path())} (a INT)"))


# ---- logs ------------------------------------------------------------------------------------------------------
def broken_logs():
    with Case() as c:
        c.good()
        with open(os.path.join(c.path(), "_delta_log", f"{0:020d}.json"), "rb") as file:
            good = file.read()
        n = good.count(b"\n") + 1  # the line that comes next
        file_line = b'{"add":{"path":"%s","size":1,"partitionValues":{},"modificationTime":1,"dataChange":true}}\n'
        for name, data, part in (
                ("DELTA_STATE_RECOVER_ERROR", b"", "protocol"),
                ("SILT_CORRUPT", good[:len(good) // 2], "line 3"),
                ("SILT_CORRUPT", b"no json\n", "line 1"),
                ("SILT_CORRUPT", b"[1]\n", "not a JSON object"),
                ("SILT_CORRUPT", b"null\n", "not a JSON object"),
                ("SILT_CORRUPT", good + b"\0\0\0\n", f"line {n}"),
                ("SILT_CORRUPT", good + file_line % b"\xff\xfe", "UTF-8"),
                ("SILT_CORRUPT", good + b'{"add":"x"}\n', "add is not an object"),
                ("SILT_CORRUPT", good[:-1] + b" x\n", "after document"),
                ("SILT_CORRUPT", good.decode().encode("utf-16"), "UTF-16"),
                ("SILT_CORRUPT", good + b'{"a":' + b"[" * 10000 + b"]" * 10000 + b"}\n", "nests deeper"),
                ("SILT_CORRUPT", good + b'{"add":' + b'{"a":' * 10000 + b"1" + b"}" * 10000 + b"}\n", "nests deeper"),
                ("DELTA_DUPLICATE_ACTIONS_FOUND", good + lines(metadata(ID)), "metaData"),
                ("DELTA_DUPLICATE_ACTIONS_FOUND", good + lines(PROTOCOL), "protocol"),
                ("DELTA_DUPLICATE_ACTIONS_FOUND", good + file_line % b"x" + file_line % b"x", "file x"),
        ):
            c.commit(0, data)
            expect(silt("read", c.path()), 4, name, part)
            expect(silt("sql", f"INSERT INTO {quoted(c.path())} VALUES (7, 'x')"), 4, name, part)
            clean(silt("history", c.path()))
        for data in (good + b'{"later":{"x":[1e400]}}\n', good + b'{"x":' + b"9" * 100000 + b"}\n", good[:-1],
                     good.replace(b"\n", b"\r\n"), b"\n\n" + good):
            c.commit(0, data)
            works(silt("read", c.path(), "--columns", "id"), "id\n0\n1\n2\n")


def long_lines():
    with Case() as c:
        head = lines(PROTOCOL, metadata(ID))
        c.commit(0, head + b'{"commitInfo":{"x":"' + b"a" * 100_000_000 + b'"}}\n')
        works(silt("read", c.path()), "id\n")
        c.commit(0, head + b'{"x":' + b"9" * 100_000_000 + b"}\n")
        works(silt("read", c.path()), "id\n")
        c.commit(0, head + lines(add("a" * 100_000_000)))
        expect(silt("read", c.path()), 1, "SILT_INVALID_ARGUMENT", "100000")


def gaps():
    with Case() as c:
        c.good()
        for i in range(3):
            works(silt("sql", f"INSERT INTO {quoted(c.path())} VALUES ({i}, 'x')"))
        log = os.path.join(c.path(), "_delta_log")
        os.rename(f"{log}/{2:020d}.json", c.path("kept"))
        expect(silt("read", c.path()), 4, "DELTA_VERSIONS_NOT_CONTIGUOUS", "2 missing between 1 and 3")
        expect(silt("sql", f"INSERT INTO {quoted(c.path())} VALUES (9, 'x')"), 4, "DELTA_VERSIONS_NOT_CONTIGUOUS", "2 missing")
        os.rename(c.path("kept"), f"{log}/{2:020d}.json")
        os.remove(f"{log}/{0:020d}.json")
        expect(silt("read", c.path()), 4, "DELTA_TRUNCATED_TRANSACTION_LOG", "0")
        for version in (2**63 - 1, 2**63 - 2, 10**18):
            c.commit(0, lines(PROTOCOL, metadata(ID)), "far")
            c.commit(version, lines(add("a")), "far")
            expect(silt("read", c.path("far")), 4, "DELTA_VERSIONS_NOT_CONTIGUOUS", str(version))
            shutil.rmtree(c.path("far"))
        c.commit(0, lines(PROTOCOL, metadata(ID)), "no_version")
        c.commit("9" * 20 + ".json", b"not a commit", "no_version")
        works(silt("read", c.path("no_version")), "id\n")


def lost_sidecar():
    """Of a V2 checkpoint whose commits are gone: the table cannot be read, and what is missing is named."""
    with Case() as c:
        protocol = {"protocol": {"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": ["v2Checkpoint"], "writerFeatures": ["v2Checkpoint"]}}
        top = "00000000000000000002.checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.json"
        c.commit(top, lines({"checkpointMetadata": {"version": 2}}, protocol, metadata(ID),
                            {"sidecar": {"path": "gone.parquet", "sizeInBytes": 5, "modificationTime": 1}}))
        c.commit(2, lines({"commitInfo": {}}))
        result = silt("read", c.path())
        assert result.code == 4 and "error: [DELTA_LOG_FILE_NOT_FOUND]" in result.err and "gone.parquet" in result.err, str(result)
        assert result.err.count("warning: ") == 1, str(result)


def lying_hints():
    """A hint whose numbers are not the checkpoint's costs one note, and nothing else; one that is right costs none."""
    with Case() as c:
        c.good()
        for i in range(3):
            works(silt("sql", f"INSERT INTO {quoted(c.path())} VALUES ({10 + i}, 'x')"))
        works(silt("checkpoint", c.path()))
        hint_path = os.path.join(c.path(), "_delta_log", "_last_checkpoint")
        with open(hint_path) as file:
            hint = json.load(file)
        hint.pop("checksum", None)
        rows = silt("read", c.path())
        assert rows.code == 0 and rows.err == "", str(rows)
        count = f"SELECT count(*) FROM {quoted(c.path())}"
        for name, value, words in (("numOfAddFiles", 3, "4 files where it says 3"),
                                   ("numOfAddFiles", 0, "4 files where it says 0"),
                                   ("size", 60, "6 actions where it says 60"),
                                   ("sizeInBytes", hint["sizeInBytes"] + 7, f"{hint['sizeInBytes']} bytes where it says {hint['sizeInBytes'] + 7}"),
                                   ("size", hint["size"], None)):
            with open(hint_path, "w") as file:
                json.dump({**hint, name: value}, file)
            result = silt("sql", count)
            assert result.code == 0 and result.out == silt("sql", count).out, str(result)
            assert sorted(silt("read", c.path()).out.splitlines()) == sorted(rows.out.splitlines())
            assert result.err.count("warning: ") == (1 if words else 0), str(result)
            assert words is None or ("_last_checkpoint is wrong about the checkpoint of version 3" in result.err and words in result.err), str(result)
        # A hint of another checkpoint of the version says nothing of the one that is read.
        works(silt("checkpoint", c.path(), "--parts", "2"))
        both = silt("read", c.path())
        assert both.code == 0 and both.err == "" and sorted(both.out.splitlines()) == sorted(rows.out.splitlines()), str(both)


def checkpoints_that_name_twice_or_nothing():
    """One note each; fsck tells of either as a fault."""
    with Case() as c:
        c.good()
        works(silt("sql", f"INSERT INTO {quoted(c.path())} VALUES (10, 'x')"))
        works(silt("checkpoint", c.path()))
        log = os.path.join(c.path(), "_delta_log")
        checkpoint = os.path.join(log, f"{1:020d}.checkpoint.parquet")
        os.remove(os.path.join(log, "_last_checkpoint"))
        rows = sorted(silt("read", c.path()).out.splitlines())
        c.replace(c.path("whole"), checkpoint)
        for query, words, fault in (
                ("SELECT * FROM read_parquet('%s') UNION ALL SELECT * FROM read_parquet('%s') WHERE \"add\" IS NOT NULL",
                 "names 2 files more than once; each is read once", "has the file twice"),
                ("SELECT * EXCLUDE (\"add\") FROM read_parquet('%s') WHERE (SELECT count(*) FROM read_parquet('%s')) > 0",
                 "it holds no files where the version checksum counts 2", "")):
            c.replace(checkpoint, c.parquet("made", query % (c.path("whole"), c.path("whole"))))
            result = silt("read", c.path())
            assert result.code == 0 and sorted(result.out.splitlines()) == rows, str(result)
            assert result.err.count("warning: ") == 1 and words in result.err, str(result)
            found = silt("fsck", c.path())
            assert found.code == 1 and fault in found.out, str(found)
        # A new checkpoint is not made from what is left of that one.
        works(silt("sql", f"INSERT INTO {quoted(c.path())} VALUES (11, 'y')"))
        result = silt("checkpoint", c.path())
        assert result.code == 0 and result.err.count("warning: ") == 1 and "version checksum counts 2" in result.err, str(result)
        rows = sorted(silt("read", c.path()).out.splitlines())
        shutil.copytree(c.path(), c.path("lost"))
        for version in range(3):
            os.remove(os.path.join(log, f"{version:020d}.json"))
        os.remove(checkpoint)
        result = silt("read", c.path())
        assert result.code == 0 and sorted(result.out.splitlines()) == rows and len(rows) == 6, str(result)
        # With nothing but that one it is refused.
        for name in os.listdir(c.path("lost/_delta_log")):
            if name.startswith((f"{0:020d}", f"{2:020d}", "_last")):
                os.remove(c.path("lost/_delta_log/" + name))
        result = silt("read", c.path("lost"))
        assert result.code == 4 and "error: [DELTA_STATE_RECOVER_ERROR]" in result.err, str(result)
        assert "it holds no files where the version checksum counts 2" in result.err, str(result)


# ---- versions and times ----------------------------------------------------------------------------------------
def versions_and_times():
    with Case() as c:
        c.good()
        works(silt("sql", f"INSERT INTO {quoted(c.path())} VALUES (7, 'x')"))
        there = "expected one of 0 to 1"
        expect(silt("read", c.path(), "--version", "2"), 1, "DELTA_VERSION_NOT_FOUND", there)
        expect(silt("read", c.path() + "@v99"), 1, "DELTA_VERSION_NOT_FOUND", there)
        expect(silt("sql", f"SELECT * FROM {quoted(c.path())} VERSION AS OF 99"), 1, "DELTA_VERSION_NOT_FOUND", there)
        expect(silt("read", c.path(), "--version", "-1"), 2, "SILT_USAGE", "-1")
        expect(silt("read", c.path(), "--version", "9" * 30), 2, "SILT_USAGE", "9" * 30)
        expect(silt("read", c.path(), "--version", str(2**63 - 1)), 1, "DELTA_VERSION_INVALID", str(2**63 - 2))
        expect(silt("sql", f"SELECT * FROM {quoted(c.path())} VERSION AS OF -1"), 1, "DELTA_VERSION_INVALID", "-1")
        expect(silt("read", c.path(), "--timestamp", "1990-01-01"), 1, "DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION",
               "earliest version of the table (0, ")
        expect(silt("read", c.path(), "--timestamp", "2990-01-01"), 1, "DELTA_TIMESTAMP_GREATER_THAN_COMMIT",
               "latest version of the table (1, ")
        expect(silt("read", c.path(), "--timestamp", "soon"), 2, "SILT_USAGE", "soon")


# ---- data files ------------------------------------------------------------------------------------------------
def missing_and_broken_files():
    with Case() as c:
        file = c.good()
        name = os.path.basename(file)
        with open(file, "r+b") as out:
            out.seek(4)
            out.write(b"\xff" * 12)  # the first page's header
        result = silt("read", c.path())
        expect(result, 4, "SILT_CORRUPT")
        assert "silt fsck" in result.err, str(result)
        os.remove(file)
        for query in ("*", "count(*)", "id"):
            expect(silt("sql", f"SELECT {query} FROM {quoted(c.path())}"), 4, "DELTA_FILE_NOT_FOUND", name)
        os.mkdir(file)
        expect(silt("read", c.path()), 4, "DELTA_FILE_NOT_FOUND", name)
        os.rmdir(file)
        os.mkfifo(file)  # must not wait for a writer
        expect(silt("read", c.path()), 4, "DELTA_FILE_NOT_FOUND", name)
        os.remove(file)
        for data in (b"", b"PAR1", b"PAR1" + bytes(500) + b"PAR1", b"x" * 5000):
            with open(file, "wb") as out:
                out.write(data)
            expect(silt("read", c.path()), 4, "FAILED_READ_FILE.CANNOT_READ_FILE_FOOTER")


def flipped_bytes():
    """Damage anywhere in a file is an error or other rows, never the end of the process."""
    chance = random.Random(20260131)
    with Case() as c:
        file = c.good(sql="SELECT i AS id, 'n' || i AS name, [i] AS l, {'a': i} AS s, i / 3.0 AS d FROM range(2000) r(i)")
        with open(file, "rb") as source:
            good = source.read()
        for turn in range(30):
            data = bytearray(good)
            at = len(data) - 1 - chance.randrange(1500)
            if turn % 3 == 0:
                data = data[:chance.randrange(len(data))]
            elif turn % 3 == 1:
                data[at] ^= 1 << chance.randrange(8)
            else:
                data[at:at + 4] = bytes(chance.randrange(256) for _ in range(4))
            with open(file, "wb") as out:
                out.write(data)
            clean(silt("read", c.path()))


def types_that_contradict():
    with Case() as c:
        file = c.good()
        name = "FAILED_READ_FILE.PARQUET_COLUMN_DATA_TYPE_MISMATCH"
        for sql, column in (("SELECT 'text' AS id, 'a' AS name", "id"), ("SELECT 1.5::DOUBLE AS id, 'a' AS name", "id"),
                            ("SELECT [1] AS id, 'a' AS name", "id"), ("SELECT 1::BIGINT AS id, 2 AS name", "name"),
                            ("SELECT DATE '2020-01-01' AS id, 'a' AS name", "id")):
            shutil.copyfile(c.parquet("other.parquet", sql), file)
            expect(silt("read", c.path()), 1, name, f"column {column} ", os.path.basename(file))
        shutil.copyfile(c.parquet("other.parquet", "SELECT 1::INT AS id, 'a' AS name"), file)
        works(silt("read", c.path()), "id,name\n1,a\n")
        shutil.copyfile(c.parquet("other.parquet", "SELECT 1::BIGINT AS id, 'a' AS name WHERE false"), file)
        works(silt("read", c.path()), "id,name\n")


# ---- what is written -------------------------------------------------------------------------------------------
def rows_that_do_not_fit():
    with Case() as c:
        table = quoted(c.path())
        works(silt("sql", f"CREATE TABLE {table} (id BIGINT NOT NULL, name STRING)"))
        for values, name, parts in (
                ("([1], 'x')", "DELTA_FAILED_TO_MERGE_FIELDS", ("id", "bigint", "array<int>")),
                ("(DATE '2020-01-01', 'x')", "DELTA_FAILED_TO_MERGE_FIELDS", ("id", "bigint", "date")),
                ("('abc', 'x')", "CAST_INVALID_INPUT", ("id", "bigint", "abc")),
                ("(NULL, 'x')", "DELTA_NOT_NULL_CONSTRAINT_VIOLATED", ("id",)),
                ("(1, 'x'), (NULL, 'y')", "DELTA_NOT_NULL_CONSTRAINT_VIOLATED", ("id",)),
                ("(1)", "INSERT_COLUMN_ARITY_MISMATCH.NOT_ENOUGH_DATA_COLUMNS", ("1 column,", "2")),
                ("(1, 'x', 3)", "INSERT_COLUMN_ARITY_MISMATCH.TOO_MANY_DATA_COLUMNS", ("3 columns", "2")),
        ):
            expect(silt("sql", f"INSERT INTO {table} VALUES {values}"), 1, name, *parts)
        result = silt("sql", f"INSERT INTO {table} (id, nope) VALUES (1, 2)")
        expect(result, 1, "UNRESOLVED_COLUMN.WITH_SUGGESTION", "nope")
        assert "WITH SCHEMA EVOLUTION" in result.err, str(result)
        result = silt("sql", f"INSERT INTO {table} VALUES (1e30, 'x')")
        assert result.code == 1 and result.name.startswith(("CAST_", "ARITHMETIC_")), str(result)
        works(silt("read", c.path()), "id,name\n")
        assert os.listdir(c.path()) == ["_delta_log"], os.listdir(c.path())


# ---- protocols -------------------------------------------------------------------------------------------------
def protocols():
    def table(reader, writer, features=None, **more):
        protocol = {"minReaderVersion": reader, "minWriterVersion": writer}
        if features is not None:
            protocol.update({"writerFeatures": features, **({"readerFeatures": features} if reader == 3 else {})})
        c.commit(0, lines({"protocol": protocol}, metadata(ID, **more)))
        return silt("read", c.path()), silt("sql", f"INSERT INTO {quoted(c.path())} VALUES (1)")

    with Case() as c:
        for features, named in ((["adaptiveMetadata"], "adaptiveMetadata"), (["fooBar"], "fooBar"), (["redirectReaderWriter-preview"], "redirectReaderWriter-preview")):
            more = {"configuration": {"delta.redirectReaderWriter-preview": "{}"}} if "redirect" in named else {}
            for result in table(3, 7, features, **more):
                expect(result, 4, "DELTA_UNSUPPORTED_FEATURES_FOR_READ", named)
        for result in table(2, 5, configuration={"delta.columnMapping.mode": "name"}):
            expect(result, 4, "SILT_CORRUPT", "column id has no physical name")
        for result in table(1, 2, configuration={"delta.columnMapping.mode": "name"}):
            expect(result, 4, "DELTA_FEATURES_PROTOCOL_METADATA_MISMATCH", "columnMapping")
        for version in (4, 99999999999):
            for result in table(version, 7):
                expect(result, 4, "DELTA_INVALID_PROTOCOL_VERSION", str(version))
        read, write = table(1, 7, ["fooBar"])
        works(read, "id\n")
        expect(write, 1, "DELTA_UNSUPPORTED_FEATURES_FOR_WRITE", "fooBar")
        read, write = table(1, 8)
        works(read, "id\n")
        expect(write, 4, "DELTA_INVALID_PROTOCOL_VERSION", "writer version 8")
        for reader, writer in ((0, 0), (-1, 2), ("1", 2), (1.5, 2), (3, 7)):
            for result in table(reader, writer):
                expect(result, 4, "SILT_CORRUPT", "protocol")
        c.commit(0, lines(PROTOCOL, metadata(ID), add("a", deletionVector={
            "storageType": "u", "pathOrInlineDv": "x", "sizeInBytes": 1, "cardinality": 1})))
        expect(silt("read", c.path()), 4, "SILT_CORRUPT", "deletion vector")


# ---- actions ---------------------------------------------------------------------------------------------------
def hostile_actions():
    stats = '{"numRecords":1e400,"minValues":{"id":1e400},"maxValues":{"id":-1e400},"nullCount":{"id":-1}}'
    for code, name, part, *actions in (
            (4, "SILT_CORRUPT", "'..'", metadata(ID), add("../../../etc/passwd")),
            (4, "SILT_CORRUPT", "'..'", metadata(ID), add("%2e%2e/%2E%2E/etc/passwd")),
            (4, "SILT_CORRUPT", "empty", metadata(ID), add("")),
            (4, "SILT_CORRUPT", "NUL", metadata(ID), add("a\0b")),
            (4, "SILT_CORRUPT", "NUL", metadata(ID), add("a%00b")),
            (4, "SILT_CORRUPT", "broken escape", metadata(ID), add("a%zz")),
            (4, "SILT_CORRUPT", "UTF-8", metadata(ID), add("%FF%FE")),
            (4, "FAILED_READ_FILE.CANNOT_READ_FILE_FOOTER", "/etc/passwd", metadata(ID), add("/etc/passwd")),
            (4, "FAILED_READ_FILE.CANNOT_READ_FILE_FOOTER", "/etc/passwd", metadata(ID), add("file:///etc/passwd")),
            (4, "DELTA_FILE_NOT_FOUND", "/dev/zero", metadata(ID), add("/dev/zero")),
            (4, "DELTA_FILE_NOT_FOUND", "*.parquet", metadata(ID), add("*.parquet")),
            (1, "SILT_UNSUPPORTED", '"ftp"', metadata(ID), add("ftp://bucket/a.parquet")),
            (1, "SILT_UNSUPPORTED", '"http"', metadata(ID), add("http://127.0.0.1:1/a.parquet")),
            (4, "SILT_CORRUPT", "add.size", metadata(ID), add("a", size=-5)),
            (4, "SILT_CORRUPT", "add.size", metadata(ID), add("a", size=2**63)),
            (4, "SILT_CORRUPT", "add.size", metadata(ID), add("a", size=1.5)),
            (4, "SILT_CORRUPT", "64 bits", metadata(ID), add("a", size=2**63 - 1), add("b", size=2**63 - 1)),
            (4, "SILT_CORRUPT", "add.modificationTime", metadata(ID), add("a", modificationTime=-2**64)),
            (4, "SILT_CORRUPT", "add.stats", metadata(ID), add("a", stats={"numRecords": 1})),
            (4, "DELTA_FILE_NOT_FOUND", "t/a", metadata(ID), add("a", stats=stats)),
            (4, "DELTA_FILE_NOT_FOUND", "t/a", metadata(ID), add("a", stats='{"numRecords":')),
            (4, "SILT_CORRUPT", "partitionValues", metadata(ID_P, ["p"]), add("a", partition_values={"p": {}})),
            (4, "SILT_CORRUPT", "partitionValues", metadata(ID_P, ["p"]), add("a", partitionValues=["1"])),
            (4, "DELTA_FAILED_CAST_PARTITION_VALUE", "p of file a", metadata(ID_P, ["p"]), add("a", partition_values={"p": "x"})),
            (4, "DELTA_FAILED_CAST_PARTITION_VALUE", "p of file a", metadata(ID_P, ["p"]), add("a", partition_values={"p": "9" * 30})),
            (4, "DELTA_MISSING_PARTITION_COLUMN", "zz", metadata(ID, ["zz"])),
            (4, "DELTA_MISSING_PARTITION_COLUMN", "must have the schema's case", metadata(ID_P, ["P"]), add("a", partition_values={"P": "1"})),
            (4, "DELTA_DUPLICATE_COLUMNS_FOUND", "p twice in partitionColumns", metadata(ID_P, ["p", "p"]), add("a", partition_values={"p": "1"})),
            (4, "DELTA_STATE_RECOVER_ERROR", "metaData"),
            (4, "SILT_CORRUPT", "schema", metadata(ID, schemaString="{")),
            (4, "SILT_CORRUPT", "schema", metadata(ID, schemaString=deep_schema(3000))),
            (1, "DELTA_UNSUPPORTED_DATA_TYPES", "'foo'", metadata([field("id", "foo")])),
            (1, "DELTA_UNSUPPORTED_DATA_TYPES", "decimal(99,1)", metadata([field("id", "decimal(99,1)")])),
            (1, "DELTA_READ_TABLE_WITHOUT_COLUMNS", "no columns", metadata([])),
            (1, "SILT_UNSUPPORTED", "csv", metadata(ID, format={"provider": "csv", "options": {}})),
    ):
        with Case() as c:
            c.commit(0, lines(PROTOCOL, *actions))
            expect(silt("read", c.path()), code, name, part)
            clean(silt("files", c.path()))
            clean(silt("detail", c.path()))
            clean(silt("log", c.path()))


def place_in_a_commit_is_no_place_in_a_statement():
    with Case() as c:
        c.commit(0, lines(PROTOCOL, metadata(ID)))
        c.commit(1, lines(b'{"add":{"path":"a",}}'))
        done = silt("sql", f"INSERT INTO {quoted(c.path())} VALUES (1)")
        expect(done, 4, "SILT_CORRUPT", "commit 1, line 1: invalid JSON at byte 18")
        assert "(line 1, column" not in done.message, done


def deep_schema(depth):
    nested = '{"type":"array","containsNull":true,"elementType":' * depth + '"long"' + "}" * depth
    return '{"type":"struct","fields":[{"name":"a","nullable":true,"metadata":{},"type":' + nested + "}]}"


def absolute_paths_are_read():
    """PROTOCOL: Add File: a path may be absolute. Such a file is read; what is written goes into the table."""
    with Case() as c:
        other = c.parquet("other file.parquet", "SELECT 5::BIGINT AS id")
        for path in (other.replace(" ", "%20"), "file://" + other.replace(" ", "%20")):
            c.commit(0, lines(PROTOCOL, metadata(ID), add(path, size=os.path.getsize(other))))
            works(silt("read", c.path()), "id\n5\n")
        works(silt("sql", f"INSERT OVERWRITE {quoted(c.path())} VALUES (6)"))
        works(silt("read", c.path()), "id\n6\n")
        works(silt("read", c.path() + "@v0"), "id\n5\n")


# ---- stores that refuse ----------------------------------------------------------------------------------------
def within_mount(options, script, *arguments):
    """Runs a shell script in a mount namespace with a small file system at $1; None where that is not permitted."""
    set_up = f'mount -t tmpfs -o {options} none "$1" || exit 99; ' + script
    done = subprocess.run(["unshare", "--mount", "--map-root-user", "sh", "-c", set_up, "sh", *arguments],
                          capture_output=True, check=False, timeout=60)
    return None if done.returncode == 99 or b"unshare" in done.stderr else done


def full_and_read_only_stores():
    with Case() as c:
        os.mkdir(c.path("mount"))
        table = quoted(c.path("mount/t"))
        script = ('"$2" sql "CREATE TABLE $3 AS SELECT 1::BIGINT AS id" >/dev/null || exit 98; '
                  '"$2" sql "INSERT INTO $3 SELECT hash(i) FROM range(1000000) r(i)"; echo "code $?"; '
                  '"$2" read "$1/t"; ls -A "$1/t"; mount -o remount,ro none "$1"; '
                  '"$2" sql "INSERT INTO $3 VALUES (2)"; echo "code $?"; "$2" read "$1/t"')
        script = script.replace("hash(i)", "(hash(i) >> 1)::BIGINT")
        done = within_mount("size=2m", script, c.path("mount"), SILT, table)
        if done is None:
            print("not done: a small and a read-only file system, for mounts are not permitted here")
            return
        out, err = done.stdout.decode().splitlines(), done.stderr.decode().splitlines()
        codes = [line for line in out if line.startswith("code ")]
        assert codes == ["code 5", "code 5"] and out.count("id") == 2 and out.count("1") == 2, done
        assert not any(line.startswith(".silt-") for line in out), done
        assert sum(line.endswith(".parquet") for line in out) == 1, done
        assert err[0].startswith("error: [SILT_NO_SPACE]") and any("[SILT_ACCESS_DENIED]" in line for line in err[1:]), done
        assert not any("stays behind" in line for line in err), done  # nothing was made


def limited_file_size():
    with Case() as c:
        file = c.good()
        before = sorted(os.listdir(c.path()))
        for limit, sql in ((200000, "SELECT hash(i) // 2, 'n' || i FROM range(1000000) r(i)"), (100, "VALUES (7, 'x')")):
            result = silt("sql", f"INSERT INTO {quoted(c.path())} {sql}", limits={resource.RLIMIT_FSIZE: limit})
            assert result.code == 5 and result.name in ("SILT_IO", "SILT_NO_SPACE"), str(result)
            assert sorted(os.listdir(c.path())) == before and os.path.exists(file), os.listdir(c.path())
        works(silt("read", c.path(), "--columns", "id"), "id\n0\n1\n2\n")


# ---- files that are no table's ---------------------------------------------------------------------------------
def plain_files():
    """One class and one exit code for one fault of a file, whichever command reads it; nothing of fsck, which is for tables."""
    with Case() as c:
        c.good()
        works(silt("sql", f"COPY (SELECT range AS id FROM range(1000)) TO '{c.path('whole.parquet')}' (FORMAT parquet)"), "Count\n1000\n")
        with open(c.path("whole.parquet"), "rb") as file:
            whole = file.read()
        broken = "FAILED_READ_FILE.CANNOT_READ_FILE_FOOTER"
        for name, data, code, word, part in (
                ("junk.parquet", b"junkjunkjunkjunk", 4, broken, "junk.parquet"),
                ("empty.parquet", b"", 4, broken, "empty.parquet"),
                ("short.parquet", b"PAR1", 4, broken, "short.parquet"),
                ("cut.parquet", whole[:len(whole) // 2], 4, broken, "cut.parquet"),
                ("long.parquet", whole[:-8] + b"\xff\xff\xff\x0fPAR1", 4, broken, "long.parquet"),
                ("secret.parquet", whole[:-4] + b"PARE", 1, "UNSUPPORTED_FEATURE", "encrypted"),
                ("missing.parquet", None, 4, "DELTA_FILE_NOT_FOUND", "missing.parquet"),
                ("missing.csv", None, 4, "DELTA_FILE_NOT_FOUND", "missing.csv"),
                ("half.json", b'{"id":1}\n{"id":', 4, "FAILED_READ_FILE.NO_HINT", "half.json"),
                ("odd.csv", b"id\n\xff\xfe\n", 4, "FAILED_READ_FILE.NO_HINT", "odd.csv, line "),
                ("plain.csv.gz", b"id\n1\n", 4, "FAILED_READ_FILE.NO_HINT", "plain.csv.gz")):
            if data is not None:
                with open(c.path(name), "wb") as file:
                    file.write(data)
            commands = [("append", c.path(), c.path(name)), ("sql", f"SELECT * FROM '{c.path(name)}'")]
            if name == "junk.parquet":
                commands += [("append", c.path("fresh"), c.path(name), "--create"),
                             ("sql", f"INSERT INTO {quoted(c.path())} BY NAME SELECT * FROM '{c.path(name)}'")]
            for command in commands:
                result = silt(*command)
                expect(result, code, word, part)
                assert "fsck" not in result.err, str(result)
        broken_page = bytearray(whole)
        broken_page[4:24] = bytes(byte ^ 0x5A for byte in broken_page[4:24])
        with open(c.path("page.parquet"), "wb") as file:
            file.write(broken_page)
        expect(silt("append", c.path(), c.path("page.parquet")), 4, "SILT_CORRUPT", "broken")


def words_of_a_users_text():
    """A value that holds the words of another fault is told as what it is."""
    for text, kind in (("magic bytes", "INT"), ("too small to be a Parquet file", "INT"), ("x is not a GZIP stream", "DATE"),
                       ("CSV Error on Line: 7", "INT")):
        expect(silt("sql", f"SELECT CAST('{text}' AS {kind})"), 1, "CAST_INVALID_INPUT", text)
    for text in ("CSV Error on Line: 7", "No magic bytes found at end of file x", "the footer is gone"):
        expect(silt("sql", f"SELECT error('{text}')"), 1, "INVALID_INPUT", text)


def plain_files_elsewhere():
    """Only tables are read from stores; the refusal is silt's own and says what to do."""
    with Case() as c:
        c.good()
        for url in ("s3://bucket/x.parquet", "s3://bucket/x.csv", "gs://bucket/x.parquet", "hdfs://host/x.parquet", "https://host/x.parquet",
                    "abfss://c@a.dfs.core.windows.net/x.parquet"):
            results = [silt("append", c.path(), url), silt("sql", f"FROM read_csv('{url}')" if url.endswith(".csv") else f"FROM read_parquet('{url}')")]
            for result in results:
                expect(result, 1, "UNSUPPORTED_FEATURE", url)
                assert "extension" not in result.err and "copy the file to this machine" in result.err, str(result)


def names_of_nothing():
    """A table that is not there is that by one exit code, by whatever kind of name."""
    for name in ("nothing", "nowhere.nothing", "nowhere.nothing.at_all"):
        expect(silt("sql", f"SELECT * FROM {name}"), 4, "TABLE_OR_VIEW_NOT_FOUND", name.split(".", maxsplit=1)[0])
    expect(silt("sql", "SELECT nowhere.nothing(1)"), 1, "UNRESOLVED_ROUTINE", "nothing")


def places_that_cannot_be_written():
    result = silt("sql", "CREATE TABLE delta.`/proc/silt-table` AS SELECT 1 AS a")
    assert result.code in (1, 5) and "/proc/silt-table" in result.message, str(result)


CASES = (no_table, files_in_the_way, broken_logs, place_in_a_commit_is_no_place_in_a_statement, long_lines, gaps, lost_sidecar, lying_hints,
         checkpoints_that_name_twice_or_nothing, versions_and_times,
         missing_and_broken_files, flipped_bytes,
         types_that_contradict, rows_that_do_not_fit, protocols, hostile_actions, absolute_paths_are_read,
         plain_files, words_of_a_users_text, plain_files_elsewhere, names_of_nothing, full_and_read_only_stores, limited_file_size, places_that_cannot_be_written)


if __name__ == "__main__":
    sys.exit(run_cases(CASES))
