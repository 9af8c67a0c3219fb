"""The libraries export what the public headers declare, and nothing else."""
import os
import sys

from build_support import BUILD, SOURCE, run, skip_when_sanitized

skip_when_sanitized()
done = run([sys.executable, os.path.join(SOURCE, "tools/check-symbols"), "--root", SOURCE, "--build", BUILD], check=False)
print(done.stdout)
sys.exit(done.returncode)
