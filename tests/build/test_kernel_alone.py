"""The kernel links alone: with libc, libm and its few libraries, and with nothing that ends the process or starts threads."""
import os
import subprocess
import sys
import tempfile

from build_support import BUILD, CC, run, skip_when_sanitized

FORBIDDEN = {
    "abort", "exit", "_exit", "_Exit", "quick_exit", "raise", "kill", "system", "fork", "popen",
    "pthread_create", "thrd_create", "dlopen", "dlsym", "socket", "connect",
}


def undefined(library):
    listing = subprocess.run(["nm", "-D", "--undefined-only", library], check=True, capture_output=True, text=True)
    return {line.split()[-1].split("@")[0] for line in listing.stdout.splitlines() if line.strip()}


def main():
    skip_when_sanitized()
    library = os.path.join(BUILD, "lib")
    yyjson = os.path.join(library, "libyyjson.a")
    with tempfile.TemporaryDirectory() as folder:
        result = os.path.join(folder, "libkernel.so")
        run([CC, "-shared", "-o", result, "-Wl,--no-undefined",
             "-Wl,--whole-archive", os.path.join(library, "libsilt_kernel.a"), "-Wl,--no-whole-archive",
             yyjson if os.path.exists(yyjson) else "-lyyjson", "-lroaring", "-lz", "-lmd", "-lm"])
        used = undefined(result)
    found = sorted(used & FORBIDDEN)
    print(f"{len(used)} symbols from outside, forbidden: {', '.join(found) or 'none'}")
    return 1 if found else 0


sys.exit(main())
