"""The checking tools find what they are there to find, and accept what is right."""
import os
import re
import subprocess
import sys
import tempfile

from build_support import SOURCE

HEAD = "/* A file. */\n"
LONG = HEAD + "int f(void)\n{\n" + "    ;\n" * 70 + "}\n"
# tool, files of a small tree, words that its report must have (none: it must pass)
CASES = [
    ("check-layers", {"src/json/a.c": HEAD + '#include "kernel/k.h"\n', "src/kernel/k.h": HEAD}, "layer json"),
    ("check-layers", {"src/kernel/a.c": HEAD + '#include "json/j.h"\n', "src/json/j.h": HEAD}, None),
    ("check-layers", {"src/storage/a.c": HEAD + '#include "engine/e.h"\n', "src/engine/e.h": HEAD}, "layer storage"),
    ("check-layers", {"src/cli/a.c": HEAD + '#include "kernel/k.h"\n', "src/kernel/k.h": HEAD}, "layer cli"),
    ("check-layers", {"src/cli/a.c": HEAD + '#include "silt/s.h"\n', "include/silt/s.h": HEAD}, None),
    ("check-layers", {"src/engine/duckdb/a.c": HEAD + '#include "kernel/k.h"\n', "src/kernel/k.h": HEAD}, "engine/duckdb"),
    ("check-layers", {"src/kernel/a.c": HEAD + "#include <duckdb.h>\n"}, "<duckdb.h>"),
    ("check-layers", {"src/kernel/txn/a.c": HEAD + '#include "kernel/log/l_int.h"\n', "src/kernel/log/l_int.h": HEAD}, "private"),
    ("check-layers", {"src/base/a.c": HEAD + '/* #include "kernel/k.h" */\n', "src/kernel/k.h": HEAD}, None),
    ("check-layers", {"src/newlayer/a.c": HEAD}, "unknown layer"),
    ("check-layers", {"tests/unit/test_a.c": HEAD + '#include "base/a.c"\n', "src/base/a.c": HEAD}, "source file"),
    ("check-style", {"src/kernel/a.c": HEAD + "void f(void)\n{\n    free(p);\n}\n"}, "free() is banned"),
    ("check-style", {"src/kernel/a.c": HEAD + 'void f(void)\n{\n    /* free(p) */ g("free(p)");\n    x->free(p);\n}\n'}, None),
    ("check-style", {"src/base/alloc.c": HEAD + "void f(void)\n{\n    free(p);\n}\n"}, None),
    ("check-style", {"tests/unit/test_a.c": HEAD + "void f(void)\n{\n    free(p);\n}\n"}, None),
    ("check-style", {"src/kernel/a.c": "int x;\n"}, "no opening comment"),
    ("check-style", {"src/kernel/a.c": LONG}, "f() has 72 lines"),
    ("check-style", {"src/kernel/a.c": LONG, "tools/style-exceptions.txt": "function-length src/kernel/a.c f 72\n"}, None),
    ("check-style", {"src/kernel/a.c": LONG, "tools/style-exceptions.txt": "function-length src/kernel/a.c f 80\n"}, "lower it to 72"),
    ("check-style", {"src/kernel/a.c": HEAD, "tools/style-exceptions.txt": "function-length src/kernel/a.c f 80\n"}, "no longer needed"),
    ("check-style", {"src/kernel/a.c": HEAD + "/* TO" + "DO */\n"}, "finish it"),
    ("check-style", {"src/kernel/a.c": HEAD + "#ifdef X\n#endif\n"}, "conditional compilation"),
    ("check-style", {"src/kernel/a.h": HEAD + "#ifndef SL_A_H\n#define SL_A_H\n#endif\n"}, None),
    ("check-style", {"src/kernel/a.c": HEAD, "src/sql/a.c": HEAD}, "unique"),
    ("check-style", {"src/kernel/a.c": HEAD + "\n" * 700}, "more than 600"),
]


def check_case(tool, files, expected):
    """Return what went wrong, or None."""
    with tempfile.TemporaryDirectory() as root:
        for path, text in files.items():
            os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                file.write(text)
        command = [sys.executable, os.path.join(SOURCE, "tools", tool), "--root", root]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if expected is None:
        return None if done.returncode == 0 else f"refused:\n{done.stdout}"
    if done.returncode != 1 or expected not in done.stdout:
        return f"expected a fault with '{expected}', exit code {done.returncode}:\n{done.stdout}"
    return None


def check_contributing():
    """Return what is wrong with the list of layers that newcomers read, or None: it names the folders of src, each once."""
    with open(os.path.join(SOURCE, "CONTRIBUTING.md"), encoding="utf-8") as file:
        line, = [line for line in file if line.startswith("    base ")]
    named = sorted(re.findall(r"\w+", line))
    folders = sorted(entry.name for entry in os.scandir(os.path.join(SOURCE, "src")) if entry.is_dir())
    return None if named == folders else f"CONTRIBUTING.md names the layers {named}, src has {folders}"


def main():
    failed = 0
    fault = check_contributing()
    if fault:
        failed += 1
        print(fault)
    for number, (tool, files, expected) in enumerate(CASES, 1):
        fault = check_case(tool, files, expected)
        if fault:
            failed += 1
            print(f"case {number}, {tool} on {', '.join(files)}: {fault}")
    print(f"{len(CASES)} cases, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
