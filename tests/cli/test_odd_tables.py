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


CASES = (names_of_folders, names_of_columns, many_columns_and_files, empty_tables)

if __name__ == "__main__":
    sys.exit(run_cases(CASES))
