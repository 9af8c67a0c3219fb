"""Names that silt's next file of the log needs, taken by folders and by links that lead nowhere."""
import os
import sys

from bad_tables import Case, expect, quoted, run_cases, silt, works

WRITTEN = "num_affected_rows,num_inserted_rows\n1,1\n"


def in_log(case, version, ending="json"):
    return os.path.join(case.path(), "_delta_log", f"{version:020d}.{ending}")


def names(case):
    return sorted(name for _, _, files in os.walk(case.path()) for name in files)


# ---- commits ---------------------------------------------------------------------------------------------------
def next_commit_is_refused_at_once():
    for make, unmake, words in ((os.mkdir, os.rmdir, "a folder"), (lambda n: os.symlink("/no/where", n), os.unlink, "a symbolic link"),
                                (os.mkfifo, os.unlink, "something that is no file")):
        with Case() as c:
            c.good()
            table = quoted(c.path())
            before = names(c)
            make(in_log(c, 1))
            expect(silt("sql", f"INSERT INTO {table} VALUES (9, 'x')", timeout=20), 4, "SILT_NAME_TAKEN",
                   os.path.basename(in_log(c, 1)), "taken by " + words)
            expect(silt("sql", f"TRUNCATE TABLE {table}", timeout=20), 4, "SILT_NAME_TAKEN", words)
            assert set(names(c)) - {os.path.basename(in_log(c, 1))} == set(before), names(c)
            works(silt("sql", f"SELECT count(*) AS n FROM {table}"), "n\n3\n")
            unmake(in_log(c, 1))
            works(silt("sql", f"INSERT INTO {table} VALUES (9, 'x')"), WRITTEN)


def first_commit_is_refused_at_once():
    with Case() as c:
        os.makedirs(in_log(c, 0))
        expect(silt("sql", f"CREATE TABLE {quoted(c.path())} (id BIGINT)", timeout=20), 4, "SILT_NAME_TAKEN", "a folder")


def folder_that_stops_writers_is_a_fault():
    with Case() as c:
        c.good()
        works(silt("fsck", c.path()))
        os.mkdir(in_log(c, 1))
        done = silt("fsck", "-o", "csv", c.path())
        assert done.code == 1 and "fault,log,1,00000000000000000001.json,,a folder has the name" in done.out, done


# ---- what follows a commit -------------------------------------------------------------------------------------
def checkpoint_that_was_asked_for_fails():
    with Case() as c:
        c.good()
        os.mkdir(in_log(c, 0, "checkpoint.parquet"))
        expect(silt("checkpoint", c.path()), 4, "SILT_NAME_TAKEN", "00000000000000000000.checkpoint.parquet", "a folder")
        os.rmdir(in_log(c, 0, "checkpoint.parquet"))
        hint = os.path.join(c.path(), "_delta_log", "_last_checkpoint")
        os.mkdir(hint)
        expect(silt("checkpoint", c.path()), 4, "SILT_NAME_TAKEN", "_last_checkpoint", "a folder")
        os.rmdir(hint)


def commit_passes_where_what_follows_it_fails():
    with Case() as c:
        table = quoted(c.path())
        works(silt("sql", f"CREATE TABLE {table} (id BIGINT) TBLPROPERTIES ('delta.checkpointInterval' = '1')"))
        os.mkdir(in_log(c, 1, "checkpoint.parquet"))
        os.mkdir(in_log(c, 1, "crc"))
        done = silt("sql", f"INSERT INTO {table} VALUES (1)")
        assert done.code == 0 and done.out == WRITTEN, done
        assert done.err.count("warning: ") == 2 and done.err.count("taken by a folder") == 2, done
        works(silt("sql", f"SELECT id FROM {table}"), "id\n1\n")


CASES = (next_commit_is_refused_at_once, first_commit_is_refused_at_once, folder_that_stops_writers_is_a_fault,
         checkpoint_that_was_asked_for_fails, commit_passes_where_what_follows_it_fails)

if __name__ == "__main__":
    sys.exit(run_cases(CASES))
