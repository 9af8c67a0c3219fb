"""Every header compiles alone and twice: public ones as C11 and C++17, internal ones as C11. The public ones stand in docs/c-api.md."""
import concurrent.futures
import os
import subprocess
import sys

from build_support import BUILD, CC, CXX, SOURCE

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]


def dependency_flags():
    """Include paths of other projects, as the build uses them."""
    folders = []
    with open(os.path.join(BUILD, "compile_commands.json"), encoding="utf-8") as file:
        words = file.read().replace('"', " ").split()
    for flag, folder in zip(words, words[1:]):
        if flag == "-isystem" and folder not in folders:
            folders.append(folder)
    return [word for folder in folders for word in ("-isystem", folder)]


def headers(top):
    for folder, _, files in os.walk(os.path.join(SOURCE, top)):
        for name in sorted(files):
            if name.endswith(".h"):
                yield os.path.relpath(os.path.join(folder, name), os.path.join(SOURCE, top))


def compile_alone(command, header):
    code = f'#include "{header}"\n#include "{header}"\ntypedef int silt_not_empty;\n'
    done = subprocess.run(command, input=code, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return "" if done.returncode == 0 else f"---- {header}: {' '.join(command)}\n{done.stdout}"


def missing_in_docs():
    """Public headers that the table of docs/c-api.md does not name."""
    with open(os.path.join(SOURCE, "docs", "c-api.md"), encoding="utf-8") as file:
        rows = [line for line in file if line.startswith("| `")]
    named = {word.strip("`") for row in rows for word in row.split("|")[1].replace(",", " ").split()}
    return [name for name in map(os.path.basename, headers("include")) if name not in named]


def main():
    public = ["-I", os.path.join(SOURCE, "include")]
    internal = public + ["-I", os.path.join(SOURCE, "src"), "-D_GNU_SOURCE"] + dependency_flags()
    as_c = [CC, "-std=c11", "-fsyntax-only", *WARNINGS, "-Wstrict-prototypes", "-x", "c", "-"]
    as_cxx = [CXX, "-std=c++17", "-fsyntax-only", *WARNINGS, "-x", "c++", "-"]
    jobs = []
    for header in headers("include"):
        jobs.append((as_c[:1] + public + as_c[1:], header))
        jobs.append((as_cxx[:1] + public + as_cxx[1:], header))
    for header in headers("src"):
        jobs.append((as_c[:1] + internal + as_c[1:], header))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        faults = [fault for fault in pool.map(lambda job: compile_alone(*job), jobs) if fault]
    faults += [f"docs/c-api.md does not name {name}" for name in missing_in_docs()]
    print("\n".join(faults))
    print(f"{len(jobs)} compilations, {len(faults)} failed")
    return 1 if faults else 0


sys.exit(main())
