"""An installed silt is usable: examples build against it by pkg-config and by find_package, and the program runs."""
import glob
import os
import shutil
import sys
import tempfile

from build_support import BUILD, CC, SOURCE, run, skip_when_sanitized

CONSUMER = """cmake_minimum_required(VERSION 3.21)
project(consumer LANGUAGES C)
find_package(silt 0.1 REQUIRED)
file(GLOB sources "{examples}/*.c")
foreach(source IN LISTS sources)
  get_filename_component(name "${{source}}" NAME_WE)
  add_executable(${{name}} "${{source}}")
  target_link_libraries(${{name}} PRIVATE silt::silt)
endforeach()
"""
MINIMAL = """/* Uses the library as little as possible. */
#include <silt/silt.h>
int main(void)
{
    return sizeof(SILT_VERSION_STRING) > 1 ? 0 : 1;
}
"""


def only_one_of(top, name):
    """The one file of that name below the folder."""
    found = glob.glob(os.path.join(top, "**", name), recursive=True)
    if len(found) != 1:
        sys.exit(f"expected one {name}, found {found}")
    return found[0]


def main():
    skip_when_sanitized()
    with tempfile.TemporaryDirectory() as folder:
        prefix = os.path.join(folder, "prefix")
        run([os.environ.get("CMAKE", "cmake"), "--install", BUILD, "--prefix", prefix])
        pkgconfig = os.path.dirname(only_one_of(prefix, "silt.pc"))
        library = os.path.dirname(pkgconfig)
        examples = os.path.join(folder, "examples")
        shutil.copytree(os.path.join(SOURCE, "examples"), examples, ignore=lambda _, names: [
            name for name in names if not name.endswith(".c")])
        with open(os.path.join(examples, "minimal_consumer.c"), "w", encoding="utf-8") as file:
            file.write(MINIMAL)
        environment = dict(os.environ, PKG_CONFIG_PATH=pkgconfig)
        flags = run(["pkg-config", "--cflags", "--libs", "silt"], env=environment).stdout.split()
        for source in sorted(glob.glob(os.path.join(examples, "*.c"))):
            program = source[:-2]
            run([CC, "-std=c11", "-o", program, source, *flags, f"-Wl,-rpath,{library}"])
            print("pkg-config:", os.path.basename(source))
        run([os.path.join(examples, "minimal_consumer")])

        consumer = os.path.join(folder, "consumer")
        os.mkdir(consumer)
        with open(os.path.join(consumer, "CMakeLists.txt"), "w", encoding="utf-8") as file:
            file.write(CONSUMER.format(examples=examples))
        cmake = os.environ.get("CMAKE", "cmake")
        run([cmake, "-S", consumer, "-B", os.path.join(consumer, "build"), f"-DCMAKE_PREFIX_PATH={prefix}"])
        run([cmake, "--build", os.path.join(consumer, "build")])
        run([os.path.join(consumer, "build", "minimal_consumer")])
        print("find_package: done")

        program = os.path.join(prefix, "bin/silt")
        if os.path.exists(program):
            clean = {key: value for key, value in os.environ.items() if key not in ("SILT_ENGINE_PATH", "LD_LIBRARY_PATH")}
            print(run([program, "version"], env=clean).stdout.strip())
    return 0


sys.exit(main())
