# For which architectures the plug-in is built, of those that CMAKE_CUDA_ARCHITECTURES asks for.

# Of the GPUs of this machine, for the word "native". CMake knows it from 3.24 on only, and answers
# once the language is enabled. nvcc's own program heeds CUDA_VISIBLE_DEVICES, nvidia-smi does not.
function(overlapack_native_architectures result nvcc)
  get_filename_component(nvcc "${nvcc}" REALPATH)
  get_filename_component(folder "${nvcc}" DIRECTORY)
  set(ask_nvcc ${folder}/__nvcc_device_query)
  set(ask_driver nvidia-smi --query-gpu=compute_cap --format=csv,noheader)
  foreach(ask ask_nvcc ask_driver)
    execute_process(COMMAND ${${ask}} OUTPUT_VARIABLE answer RESULT_VARIABLE status ERROR_QUIET)
    string(REPLACE "." "" answer "${answer}")
    string(REGEX MATCHALL "[0-9]+" architectures "${answer}")
    if(status STREQUAL "0" AND architectures)
      list(TRANSFORM architectures APPEND "-real")
      list(REMOVE_DUPLICATES architectures)
      set(${result} "${architectures}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  message(FATAL_ERROR "CMAKE_CUDA_ARCHITECTURES=native: neither nvcc nor nvidia-smi finds a GPU "
                      "here; name the architecture instead, 90a for an H100 or H200, 80 for an "
                      "A100, or leave the variable out")
endfunction()

# What Hopper alone has is in code for 90a only. People write 90 for an H100 or H200: that code runs
# there, but has none of our kernels for Hopper. A list that names 90a, too, knows the difference.
function(overlapack_architectures result wanted nvcc)
  set(architectures ${wanted})
  if("${wanted}" STREQUAL "native")
    overlapack_native_architectures(architectures "${nvcc}")
  endif()
  set(before ${architectures})
  if(NOT "${architectures}" MATCHES "(^|;)90a")
    list(TRANSFORM architectures REPLACE "^90$" "90a")
    list(TRANSFORM architectures REPLACE "^90-" "90a-")
  endif()
  if(NOT "${architectures}" STREQUAL "${before}")
    message(STATUS "CUDA architectures: ${architectures} instead of ${wanted}: code for 90 lacks "
                   "what only Hopper (H100, H200) has")
  elseif(NOT "${architectures}" STREQUAL "${wanted}")
    message(STATUS "CUDA architectures: ${architectures} for ${wanted}")
  endif()
  set(${result} "${architectures}" PARENT_SCOPE)
endfunction()
