# Debian packages, one for each component: `cpack` in the build folder.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # each has its own
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "overlapack maintainers <maintainers@overlapack.invalid>")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
# What others need is found by dpkg-shlibdeps. It is told where the libraries are that are in
# no package, or in one of these.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_BINARY_DIR})

macro(debian_package component name section depends recommends title text)
  string(TOUPPER ${component} key)
  list(APPEND CPACK_COMPONENTS_ALL ${component})
  set(CPACK_DEBIAN_${key}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${key}_PACKAGE_SECTION ${section})
  set(CPACK_DEBIAN_${key}_PACKAGE_DEPENDS "${depends}")
  set(CPACK_DEBIAN_${key}_PACKAGE_RECOMMENDS "${recommends}")
  set(CPACK_DEBIAN_${key}_DESCRIPTION "${title}\n${text}")
endmacro()

set(this_version "${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}")
set(same_overlapack "overlapack (= ${this_version})")
debian_package(runtime overlapack science "" libopenblas0
  "drop-in LAPACK for NVIDIA GPUs: library and command"
  "Programs get it by preloading or linking. Large factorizations and solves go
to the GPU. The CPU LAPACK that the program has serves all other calls.")
configure_file(debian/shlibs.in debian/shlibs @ONLY)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA
    ${CMAKE_CURRENT_BINARY_DIR}/debian/shlibs ${CMAKE_CURRENT_SOURCE_DIR}/debian/triggers)
debian_package(dev liboverlapack-dev libdevel "${same_overlapack}" ""
  "drop-in LAPACK for NVIDIA GPUs: development files"
  "Headers for C and C++, a module for Fortran, and files for CMake and
pkg-config.")
debian_package(doc overlapack-doc doc "" ""
  "drop-in LAPACK for NVIDIA GPUs: documentation"
  "Pages for users, and the results of the benchmark.")
set(CPACK_DEBIAN_DOC_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_DOC_PACKAGE_SHLIBDEPS OFF)  # it would look into each page
if(TARGET overlapack_cuda)
  find_package(CUDAToolkit REQUIRED)
  list(APPEND CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CUDAToolkit_LIBRARY_DIR})
  set(cuda_version ${CUDAToolkit_VERSION_MAJOR}-${CUDAToolkit_VERSION_MINOR})
  debian_package(cuda overlapack-cuda${CUDAToolkit_VERSION_MAJOR} science "${same_overlapack}"
    "cuda-cudart-${cuda_version}, libcublas-${cuda_version}"
    "drop-in LAPACK for NVIDIA GPUs: plug-in for CUDA ${CUDAToolkit_VERSION_MAJOR}"
    "Without it the CPU serves all calls. It needs libcudart and libcublas, which
are in packages of NVIDIA.")
endif()
if(TARGET overlapack-bench)
  debian_package(bench overlapack-bench science "${same_overlapack}" ""
    "drop-in LAPACK for NVIDIA GPUs: benchmark"
    "Compares overlapack with the CPU LAPACK and with cuSOLVER.")
  get_target_property(bench_rpath overlapack-bench INSTALL_RPATH)
  list(JOIN bench_rpath ":" bench_rpath)
endif()
if(TARGET overlapack_as_lapack)
  debian_package(alternatives overlapack-alternatives libs "${same_overlapack}" ""
    "drop-in LAPACK for NVIDIA GPUs: alternative for all programs"
    "Makes overlapack the alternative for liblapack.so.3 and libblas.so.3. So it
serves R, Octave, Debian's NumPy and others with no change. OpenBLAS serves
all that it does not have.")
  foreach(script postinst prerm)
    configure_file(debian/${script}.in debian/${script} @ONLY)
    list(APPEND CPACK_DEBIAN_ALTERNATIVES_PACKAGE_CONTROL_EXTRA
         ${CMAKE_CURRENT_BINARY_DIR}/debian/${script})
  endforeach()
endif()

# Each package has a changelog and a copyright, and no search path of the build machine.
configure_file(debian/changelog.in debian/changelog @ONLY)
configure_file(debian/finish.cmake.in debian/finish.cmake @ONLY)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_BINARY_DIR}/debian/finish.cmake)
include(CPack)
