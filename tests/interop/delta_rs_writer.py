"""A process that appends to a table by delta-rs: for each line "number" on standard input a row and a commit, then the number is
printed. Run by check_concurrent.py.

    delta_rs_writer.py TABLE NAME
"""
import sys

import deltalake
import pyarrow as pa


def main(path, name):
    retries = deltalake.CommitProperties(max_commit_retries=1000)
    for line in sys.stdin:
        row = pa.table({"id": pa.array([int(line)], pa.int64()), "who": pa.array([name], pa.string())})
        deltalake.write_deltalake(path, row, mode="append", commit_properties=retries)
        print(line.strip(), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
