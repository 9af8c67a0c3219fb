"""What the tests of the build share: paths from the environment, running commands, skipping."""
import os
import subprocess
import sys

SOURCE = os.environ["SILT_SOURCE_DIR"]
BUILD = os.environ["SILT_BUILD_DIR"]
CC = os.environ.get("CC", "cc")
CXX = os.environ.get("CXX", "c++")


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def skip_when_sanitized():
    if os.environ.get("SILT_SANITIZE"):
        skip("a sanitizer build links differently")


def run(command, check=True, **options):
    """Run a command, show what it printed if it failed; return the finished process."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if check and done.returncode != 0:
        print(" ".join(command))
        print(done.stdout)
        sys.exit(f"failed with exit code {done.returncode}")
    return done
