"""Tables with odd names, odd columns, and very many or very few of everything: all of them work like any other."""
import os
import sys

from bad_tables import (Case, PROTOCOL, add, expect, field, lines, metadata, quoted, run_cases, silt, works)

ID = [field("id")]
METRICS = "num_affected_rows,num_inserted_rows\n1,1\n"


# ---- names -----------------------------------------------------------------------------------------------------
def names_of_folders():
    with Case() as c:
        for name in ("a b", "pct%20x", "pct%", "unié中", "qu'ote", 'dq"x', "bt`x", "nl\nx", "back\\slash", "hash#x", "q?x=1",
                     "star*[a]", "semi;x", "at@v1x", "dollar$x", " lead", "trail ", "...", "-dash", "{brace}", "x" * 200, "😀"):
            table = quoted(c.path(name))
            sql = (f"CREATE TABLE {table} PARTITIONED BY (p) AS SELECT 1 AS id, 'a/b %=' AS p; "
                   f"INSERT INTO {table} VALUES (2, NULL); SELECT id, p FROM {table} ORDER BY id")
            works(silt("sql", sql), METRICS + METRICS + "id,p\n1,a/b %=\n2,\n")
            works(silt("history", c.path(name)))
        works(silt("read", "--columns", "id", "--where", "id = 1", "a b", cwd=c.name), "id\n1\n")
        os.symlink(c.path("a b"), c.path("link"))
        works(silt("sql", f"INSERT INTO {quoted(c.path('link'))} VALUES (3, 'z')"))
        works(silt("sql", f"SELECT sum(id) AS s FROM {quoted(c.path('a b'))}"), "s\n6\n")


def names_of_columns():
    def double(name):
        return '"' + name.replace('"', '""') + '"'

    with Case() as c:
        for i, name in enumerate(("a.b", 'q"x', "bt`x", "s'x", "br[0]", "unié", "😀", "select", "a%b", "a\\b", "#", "$x", "_x", "A1")):
            table = quoted(c.path(f"t{i}"))
            backticks = "`" + name.replace("`", "``") + "`"
            sql = (f"CREATE TABLE {table} AS SELECT 1 AS id, 2 AS {double(name)}; "
                   f"INSERT INTO {table} ({double(name)}, id) VALUES (5, 6); "
                   f"SELECT sum({backticks}) AS s FROM {table} WHERE {double(name)} > 1 AND id < 9; "
                   f"SELECT id FROM {table} WHERE {backticks} = 5")
            works(silt("sql", sql), METRICS + METRICS + "s\n7\nid\n6\n")
        for i, name in enumerate(("a b", "a,b", "a;b", "a{b", "a(b)", "a=b", "a\tb", "a\nb")):
            expect(silt("sql", f"CREATE TABLE {quoted(c.path(f'b{i}'))} AS SELECT 1 AS {double(name)}"), 1,
                   "DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES")


# ---- sizes -----------------------------------------------------------------------------------------------------
def many_columns_and_files():
    with Case() as c:
        columns = ", ".join(f"{i} AS c{i}" for i in range(1000))
        works(silt("sql", f"CREATE TABLE {quoted(c.path('wide'))} AS SELECT {columns}"))
        works(silt("sql", f"SELECT c0 + c999 AS x FROM {quoted(c.path('wide'))} WHERE c500 = 500"), "x\n999\n")
        one = c.parquet("one.parquet", "SELECT 1::BIGINT AS id")
        os.makedirs(c.path())
        for i in range(2000):
            os.link(one, os.path.join(c.path(), f"f{i}.parquet"))
        size = os.path.getsize(one)
        c.commit(0, lines(PROTOCOL, metadata(ID), *(add(f"f{i}.parquet", size=size) for i in range(2000))))
        works(silt("sql", f"SELECT count(*) AS n, sum(id) AS s FROM {quoted(c.path())}"), "n,s\n2000,2000\n")
        works(silt("sql", f"INSERT OVERWRITE {quoted(c.path())} VALUES (5)"))
        works(silt("read", c.path()), "id\n5\n")


def empty_tables():
    with Case() as c:
        works(silt("sql", f"CREATE TABLE {quoted(c.path())} (id BIGINT, name STRING)"))
        works(silt("read", c.path()), "id,name\n")
        works(silt("sql", f"SELECT count(*) AS n, sum(id) AS s FROM {quoted(c.path())}"), "n,s\n0,\n")
        works(silt("sql", f"INSERT INTO {quoted(c.path())} SELECT 1, 'a' WHERE false"))
        works(silt("read", c.path()), "id,name\n")


def nested_deeply_and_without_names():
    """Lists in lists cost the data plane twice the time for each: beyond some of them a column is refused, and the others are read."""
    def lists(depth):
        kind = "long"
        for _ in range(depth):
            kind = {"type": "array", "elementType": kind, "containsNull": True}
        return kind

    with Case() as c:
        file = c.parquet("f.parquet", f"SELECT 1::BIGINT AS id, {'[' * 20}1::BIGINT{']' * 20} AS x")
        size = os.path.getsize(file)
        c.parquet("id.parquet", "SELECT 1::BIGINT AS id")
        for depth, name in ((20, "f.parquet"), (21, "id.parquet"), (100, "id.parquet")):
            c.commit(0, lines(PROTOCOL, metadata(ID + [field("x", lists(depth))]), add(c.path(name), size=os.path.getsize(c.path(name)))))
            if depth == 20:
                works(silt("sql", f"SELECT id, length(x::VARCHAR) AS n FROM {quoted(c.path())}"), "id,n\n1,41\n")
            else:
                expect(silt("read", c.path()), 1, "SILT_LIMIT_EXCEEDED", "column x", "20 lists or maps")
                works(silt("sql", f"SELECT id FROM {quoted(c.path())} WHERE id > 0"), "id\n1\n")
        pairs = {"type": "map", "keyType": "string", "valueType": {"type": "struct", "fields": [field("l", lists(20))]}, "valueContainsNull": True}
        c.commit(0, lines(PROTOCOL, metadata(ID + [field("x", pairs)])))
        expect(silt("read", c.path()), 1, "SILT_LIMIT_EXCEEDED", "column x")
        for fields, part in ((ID + [field("d", {"type": "struct", "fields": []})], "column d has a struct without members"),
                             (ID + [field("d", {"type": "struct", "fields": [field("")]})], "column d has a member without name"),
                             (ID + [field("")], "column 2 of the table has no name")):
            c.commit(0, lines(PROTOCOL, metadata(fields), add(c.path("f.parquet"), size=size)))
            expect(silt("read", c.path()), 1, "SILT_UNSUPPORTED", part)
            works(silt("files", c.path()))
            works(silt("schema", c.path()))


def the_last_version_of_all():
    """A log whose newest version is the last that 64 bits hold is read; nothing can follow it."""
    last = 2**63 - 1
    with Case() as c:
        works(silt("sql", f"CREATE TABLE {quoted(c.path())} AS SELECT 1 AS id"))
        works(silt("checkpoint", c.path()))
        log = os.path.join(c.path(), "_delta_log")
        for name in os.listdir(log):
            if name[20:] in (".json", ".checkpoint.parquet"):
                os.rename(os.path.join(log, name), os.path.join(log, f"{last:020}" + name[20:]))
            else:
                os.remove(os.path.join(log, name))
        works(silt("read", c.path()), "id\n1\n")
        expect(silt("sql", f"INSERT INTO {quoted(c.path())} VALUES (2)"), 1, "SILT_LIMIT_EXCEEDED", "used up all versions")


CASES = (the_last_version_of_all, nested_deeply_and_without_names, names_of_folders, names_of_columns, many_columns_and_files, empty_tables)

if __name__ == "__main__":
    sys.exit(run_cases(CASES))
