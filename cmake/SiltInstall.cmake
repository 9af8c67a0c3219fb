# What `make install` puts where, and the files by which others find it.
include(CMakePackageConfigHelpers)

install(TARGETS silt EXPORT siltTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET silt_duckdb)
  install(TARGETS silt_duckdb LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  if(SILT_DUCKDB_VENDORED)
    install(PROGRAMS "${silt_duckdb_library}" DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endif()
endif()
if(TARGET silt_program)
  install(TARGETS silt_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(FILES src/cli/completion/silt.bash RENAME silt
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES src/cli/completion/_silt DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
endif()
install(TARGETS silt_remote LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/silt" DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h")

file(RELATIVE_PATH silt_pc_to_prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
configure_file(cmake/silt.pc.in "${PROJECT_BINARY_DIR}/silt.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/silt.pc" DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set(silt_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/silt)
configure_package_config_file(cmake/siltConfig.cmake.in "${PROJECT_BINARY_DIR}/siltConfig.cmake"
  INSTALL_DESTINATION ${silt_package_dir})
write_basic_package_version_file("${PROJECT_BINARY_DIR}/siltConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/siltConfig.cmake" "${PROJECT_BINARY_DIR}/siltConfigVersion.cmake"
  DESTINATION ${silt_package_dir})
install(EXPORT siltTargets NAMESPACE silt:: DESTINATION ${silt_package_dir})
