# Helpers to turn folders of sources into object sets, archives and libraries. A folder that has no
# sources yet is no error: its object set then holds one empty unit.

file(WRITE "${PROJECT_BINARY_DIR}/empty_unit.c" "typedef int silt_empty_unit;\n")

# silt_system_calls(target): the target may use POSIX and Linux interfaces, not only C11.
function(silt_system_calls target)
  target_compile_definitions(${target} PRIVATE _GNU_SOURCE)
endfunction()

# silt_objects(name FOLDERS folder... [EXCLUDE path...] [SYSTEM_CALLS])
# defines the object library silt_objects_<name>; silt_<name>_SOURCES lists what was found.
function(silt_objects name)
  cmake_parse_arguments(arg "SYSTEM_CALLS" "" "FOLDERS;EXCLUDE" ${ARGN})
  set(sources)
  foreach(folder IN LISTS arg_FOLDERS)
    file(GLOB_RECURSE found CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${folder}/*.c")
    list(APPEND sources ${found})
  endforeach()
  foreach(path IN LISTS arg_EXCLUDE)
    list(FILTER sources EXCLUDE REGEX "^${PROJECT_SOURCE_DIR}/${path}(/|$)")
  endforeach()
  set(silt_${name}_SOURCES "${sources}" PARENT_SCOPE)
  if(NOT sources)
    set(sources "${PROJECT_BINARY_DIR}/empty_unit.c")
  endif()
  add_library(silt_objects_${name} OBJECT ${sources})
  set_target_properties(silt_objects_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_include_directories(silt_objects_${name} PRIVATE
    "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(silt_objects_${name} PRIVATE silt_flags silt_xxhash)
  if(name STREQUAL "duckdb")
    target_link_libraries(silt_objects_${name} PRIVATE silt_yyjson)
    if(SILT_HAVE_DUCKDB)
      target_include_directories(silt_objects_${name} SYSTEM PRIVATE "${silt_duckdb_include}")
    endif()
  elseif(name STREQUAL "remote")
    target_link_libraries(silt_objects_${name} PRIVATE silt_yyjson silt_remote_libs)
  elseif(name STREQUAL "cli")
    target_link_libraries(silt_objects_${name} PRIVATE silt_yyjson silt_libedit)
  else()
    target_link_libraries(silt_objects_${name} PRIVATE silt_yyjson silt_kernel_libs)
  endif()
  if(arg_SYSTEM_CALLS)
    silt_system_calls(silt_objects_${name})
  endif()
endfunction()

# silt_add_objects(target name...): the target contains these object sets.
function(silt_add_objects target)
  foreach(name IN LISTS ARGN)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:silt_objects_${name}>)
  endforeach()
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE C)
endfunction()

# silt_archive(target OBJECTS name...): a static archive with what its users need to compile and link.
function(silt_archive target)
  cmake_parse_arguments(arg "" "" "OBJECTS" ${ARGN})
  add_library(${target} STATIC)
  silt_add_objects(${target} ${arg_OBJECTS})
  target_include_directories(${target} INTERFACE "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(${target} INTERFACE silt_yyjson silt_xxhash silt_kernel_libs m)
endfunction()
