"""The interoperability matrix: silt writes and the peers read, the peers write and silt reads; values compared exactly.

    main.py [AREA...]   all areas that need no server, or only those named
"""
import importlib
import os
import shutil
import sys
import tempfile

from harness import Run

AREAS = ("types", "partitions", "commits", "pruning", "checkpoints", "checkpointing", "mixed", "concurrent", "features", "writing",
         "statements", "log", "zones", "conflicts")
ON_SERVERS = ("s3",)  # areas that somebody starts a server for


def main():
    areas = sys.argv[1:] or AREAS
    unknown = sorted(set(areas) - set(AREAS + ON_SERVERS))
    if unknown:
        sys.exit(f"interop: error: no area {', '.join(unknown)} (there are: {', '.join(AREAS + ON_SERVERS)})")
    scratch = os.environ.get("SILT_INTEROP_SCRATCH") or tempfile.mkdtemp(prefix="silt-interop-")
    run = Run(scratch)
    try:
        for area in areas:
            run.begin(area)
            run.step("silt", "to the end", importlib.import_module(f"check_{area}").check, run)
            run.end()
        run.spark.stop()
        good = run.table()
    finally:
        if "SILT_INTEROP_SCRATCH" not in os.environ:
            shutil.rmtree(scratch, ignore_errors=True)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
