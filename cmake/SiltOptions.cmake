# Options of the build, and the compiler flags that every file of the project is compiled with.

option(SILT_TESTS "Build the tests" ON)
option(SILT_FUZZ "Build the fuzzers in fuzz/ (clang only)" OFF)
option(SILT_WERROR "Treat warnings as errors" ON)
set(SILT_SANITIZE "" CACHE STRING "Sanitizers to build with, such as 'address,undefined' or 'thread'")
set(SILT_DUCKDB_DIR "" CACHE PATH "Folder with libduckdb.so and duckdb.h (or lib/ and include/)")
if(DEFINED ENV{SILT_DEPS_DIR})
  set(silt_deps_default "$ENV{SILT_DEPS_DIR}")
else()
  set(silt_deps_default "${PROJECT_SOURCE_DIR}/.deps")
endif()
set(SILT_DEPS_DIR "${silt_deps_default}" CACHE PATH "Folder that tools/fetch-deps fills")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Kind of build" FORCE)
endif()

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O2 -g -DNDEBUG")

find_program(SILT_CCACHE ccache)
if(SILT_CCACHE AND NOT CMAKE_C_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER "${SILT_CCACHE}")
endif()

# silt_flags: linked by everything that we write ourselves.
add_library(silt_flags INTERFACE)
target_compile_options(silt_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes
  -fvisibility=hidden -fno-strict-aliasing -fstack-protector-strong)
if(SILT_WERROR)
  target_compile_options(silt_flags INTERFACE -Werror)
endif()

set(SILT_LINK_NO_UNDEFINED -Wl,-z,defs)
if(SILT_SANITIZE)
  # The sanitizers' own symbols stay undefined in a shared library: the program brings them.
  set(SILT_LINK_NO_UNDEFINED)
  add_compile_options(-fsanitize=${SILT_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${SILT_SANITIZE})
elseif(CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo")
  target_compile_options(silt_flags INTERFACE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
endif()
