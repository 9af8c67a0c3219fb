#!/usr/bin/env python3
"""Runs the examples of the documents: what a reader copies must work as written.

In each document the fenced blocks marked `sql` run through `silt sql`, those marked `sh` through bash, in their order, in one
fresh folder a document. Blocks marked `text` are shown only.
"""

import os
import re
import subprocess
import sys
import tempfile

SOURCE = os.environ["SILT_SOURCE_DIR"]
SILT = os.environ["SILT"]
DOCUMENTS = ["README.md", "docs/sql.md", "docs/shell.md", "docs/concurrency.md", "docs/stores.md"]


def blocks(path):
    with open(path, encoding="utf-8") as f:
        return re.findall(r"^```(sql|sh)\n(.*?)^```", f.read(), re.S | re.M)


def run(kind, text, folder):
    environment = dict(os.environ, SILT_WAREHOUSE=folder, PATH=os.path.dirname(SILT) + ":" + os.environ["PATH"])
    command = [SILT, "sql", "-"] if kind == "sql" else ["bash", "-euo", "pipefail", "-s"]
    return subprocess.run(command, input=text, cwd=folder, env=environment, text=True, capture_output=True, timeout=120)


def main():
    passed = failed = 0
    for name in DOCUMENTS:
        path = os.path.join(SOURCE, name)
        with tempfile.TemporaryDirectory() as folder:
            for kind, text in blocks(path):
                result = run(kind, text, folder)
                if result.returncode == 0:
                    passed += 1
                    continue
                failed += 1
                print(f"{name}: a block fails with {result.returncode}:\n{text}\n{result.stdout}{result.stderr}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or passed < 8 else 0


if __name__ == "__main__":
    sys.exit(main())
