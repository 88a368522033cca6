# What other projects need to build against the library: its headers, the Fortran module's source,
# and the package files for CMake (overlapack::overlapack) and pkg-config. And what people read.
include(CMakePackageConfigHelpers)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/overlapack
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev)
install(FILES ${PROJECT_SOURCE_DIR}/compat/overlapack.f90
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/overlapack COMPONENT dev)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md
              ${PROJECT_SOURCE_DIR}/CHANGELOG.md
        DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT doc)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/user
        DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs COMPONENT doc)
install(FILES ${PROJECT_SOURCE_DIR}/docs/glossary.md
        DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs COMPONENT doc)
install(FILES ${PROJECT_SOURCE_DIR}/bench/README.md ${PROJECT_SOURCE_DIR}/bench/RESULTS.md
              ${PROJECT_SOURCE_DIR}/bench/comparison.svg
        DESTINATION ${CMAKE_INSTALL_DOCDIR}/bench COMPONENT doc)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/bench/log ${PROJECT_SOURCE_DIR}/bench/results
        DESTINATION ${CMAKE_INSTALL_DOCDIR}/bench COMPONENT doc)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/overlapack)
install(EXPORT overlapack-targets NAMESPACE overlapack::
        DESTINATION ${package_dir} COMPONENT dev)
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/compat/overlapack-config.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/overlapack-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(
  ${CMAKE_CURRENT_BINARY_DIR}/overlapack-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/overlapack-config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/overlapack-config-version.cmake
        DESTINATION ${package_dir} COMPONENT dev)

# From the folder of the file, so that it goes where `cmake --install --prefix` goes. What is given
# by an absolute path stays there.
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  set(OVERLAPACK_PC_PREFIX ${CMAKE_INSTALL_PREFIX})
else()
  file(RELATIVE_PATH to_prefix
       ${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
  set(OVERLAPACK_PC_PREFIX "\${pcfiledir}/${to_prefix}")
endif()
foreach(folder LIBDIR INCLUDEDIR)
  set(OVERLAPACK_PC_${folder} "\${prefix}/${CMAKE_INSTALL_${folder}}")
  if(IS_ABSOLUTE "${CMAKE_INSTALL_${folder}}")
    set(OVERLAPACK_PC_${folder} ${CMAKE_INSTALL_${folder}})
  endif()
endforeach()
foreach(name overlapack overlapack-lapack)
  configure_file(${PROJECT_SOURCE_DIR}/compat/${name}.pc.in
                 ${CMAKE_CURRENT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}.pc
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)
endforeach()
