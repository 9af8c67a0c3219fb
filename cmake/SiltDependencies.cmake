# Libraries that silt uses. Each becomes one target; a system copy is preferred where there is one.
# docs/dependencies.md says what each is for.

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)

# ---- yyjson -----------------------------------------------------------------------------------------------
pkg_check_modules(YYJSON IMPORTED_TARGET QUIET "yyjson>=0.10")
if(YYJSON_FOUND)
  add_library(silt_yyjson INTERFACE)
  target_link_libraries(silt_yyjson INTERFACE PkgConfig::YYJSON)
  message(STATUS "yyjson: system ${YYJSON_VERSION}")
elseif(EXISTS "${SILT_DEPS_DIR}/yyjson/yyjson.c")
  add_library(silt_yyjson STATIC "${SILT_DEPS_DIR}/yyjson/yyjson.c")
  set_target_properties(silt_yyjson PROPERTIES OUTPUT_NAME yyjson POSITION_INDEPENDENT_CODE ON)
  target_include_directories(silt_yyjson SYSTEM PUBLIC "${SILT_DEPS_DIR}/yyjson")
  target_compile_options(silt_yyjson PRIVATE -w $<IF:$<CONFIG:Debug>,-O1,-O2>)
  if(SILT_SANITIZE MATCHES "undefined")
    # It takes a minute to compile otherwise, and its own undefined behaviour is not ours to find.
    target_compile_options(silt_yyjson PRIVATE -fno-sanitize=undefined)
  endif()
  # Its functions must not become part of libsilt's interface.
  target_compile_definitions(silt_yyjson PUBLIC "yyjson_api=__attribute__((visibility(\"hidden\")))")
  message(STATUS "yyjson: ${SILT_DEPS_DIR}/yyjson")
else()
  message(FATAL_ERROR "yyjson is missing: run tools/fetch-deps, or install yyjson >= 0.10 with its .pc file")
endif()

# ---- xxHash: the header only (XXH_INLINE_ALL) ---------------------------------------------------------------
find_path(SILT_XXHASH_INCLUDE xxhash.h REQUIRED)
add_library(silt_xxhash INTERFACE)
target_include_directories(silt_xxhash SYSTEM INTERFACE "${SILT_XXHASH_INCLUDE}")

# ---- zlib: checksums of deletion vectors; libmd: the checksum of _last_checkpoint -------------------------------
pkg_check_modules(ZLIB IMPORTED_TARGET REQUIRED zlib)
pkg_check_modules(LIBMD IMPORTED_TARGET REQUIRED libmd)
add_library(silt_kernel_libs INTERFACE)
target_link_libraries(silt_kernel_libs INTERFACE PkgConfig::ZLIB PkgConfig::LIBMD)

# ---- the remote stores: HTTP, signing, XML ---------------------------------------------------------------------
pkg_check_modules(LIBCURL IMPORTED_TARGET REQUIRED "libcurl>=7.85")
pkg_check_modules(LIBCRYPTO IMPORTED_TARGET REQUIRED "libcrypto>=3.0")
pkg_check_modules(EXPAT IMPORTED_TARGET REQUIRED "expat>=2.4")
add_library(silt_remote_libs INTERFACE)
target_link_libraries(silt_remote_libs INTERFACE PkgConfig::LIBCURL PkgConfig::LIBCRYPTO PkgConfig::EXPAT)

# ---- libedit: the shell's line editing ------------------------------------------------------------------------
pkg_check_modules(LIBEDIT IMPORTED_TARGET REQUIRED libedit)
add_library(silt_libedit INTERFACE)
target_link_libraries(silt_libedit INTERFACE PkgConfig::LIBEDIT)

# ---- DuckDB: the engine ---------------------------------------------------------------------------------------
# 1. SILT_DUCKDB_DIR, 2. a system copy with the C API of 1.4 or later, 3. what tools/fetch-deps brought.
include(CheckCSourceCompiles)

function(silt_check_duckdb header_dir library result)
  set(CMAKE_REQUIRED_INCLUDES "${header_dir}")
  set(CMAKE_REQUIRED_LIBRARIES "${library}")
  set(CMAKE_REQUIRED_QUIET ON)
  unset(${result} CACHE)
  check_c_source_compiles("#include <duckdb.h>
    int main(void) { return duckdb_schema_from_arrow == 0 || duckdb_data_chunk_to_arrow == 0; }" ${result})
endfunction()

set(SILT_HAVE_DUCKDB FALSE)
set(SILT_DUCKDB_VENDORED FALSE)
if(SILT_DUCKDB_DIR)
  set(duckdb_places NO_DEFAULT_PATH PATHS "${SILT_DUCKDB_DIR}" PATH_SUFFIXES include lib)
endif()
find_path(silt_duckdb_include duckdb.h ${duckdb_places} NO_CACHE)
find_library(silt_duckdb_library duckdb ${duckdb_places} NO_CACHE)
if(silt_duckdb_include AND silt_duckdb_library)
  silt_check_duckdb("${silt_duckdb_include}" "${silt_duckdb_library}" SILT_DUCKDB_IS_RECENT)
  if(SILT_DUCKDB_IS_RECENT)
    set(SILT_HAVE_DUCKDB TRUE)
  elseif(SILT_DUCKDB_DIR)
    message(FATAL_ERROR "the DuckDB in ${SILT_DUCKDB_DIR} lacks the C API of version 1.4")
  endif()
elseif(SILT_DUCKDB_DIR)
  message(FATAL_ERROR "no duckdb.h and libduckdb.so in ${SILT_DUCKDB_DIR}")
endif()
if(NOT SILT_HAVE_DUCKDB AND EXISTS "${SILT_DEPS_DIR}/duckdb/libduckdb.so")
  set(silt_duckdb_include "${SILT_DEPS_DIR}/duckdb")
  set(silt_duckdb_library "${SILT_DEPS_DIR}/duckdb/libduckdb.so")
  set(SILT_HAVE_DUCKDB TRUE)
  set(SILT_DUCKDB_VENDORED TRUE)
endif()
if(SILT_HAVE_DUCKDB)
  message(STATUS "DuckDB: ${silt_duckdb_library}")
  add_library(silt_libduckdb SHARED IMPORTED)
  set_target_properties(silt_libduckdb PROPERTIES IMPORTED_LOCATION "${silt_duckdb_library}"
    INTERFACE_INCLUDE_DIRECTORIES "${silt_duckdb_include}")
  # Beside libsilt_duckdb.so, where its RUNPATH looks.
  file(MAKE_DIRECTORY "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}")
  file(REAL_PATH "${silt_duckdb_library}" duckdb_real)
  file(CREATE_LINK "${duckdb_real}" "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/libduckdb.so" SYMBOLIC)
else()
  message(WARNING "DuckDB is missing (run tools/fetch-deps): libsilt_duckdb and its tests are not built")
endif()
