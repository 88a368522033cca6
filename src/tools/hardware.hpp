// What this machine is, and the date, for `overlapack info` and the heading of benchmark tables.
#pragma once

#include <string>

namespace overlapack::tools {

/// "Intel(R) Xeon(R) ...", or "unknown".
std::string cpu_model();
/// The NVIDIA kernel driver and the CUDA version it supports, "580.65.06 (CUDA 13.0)"; empty if
/// there is no driver.
std::string driver_version();
/// Where the CPU LAPACK comes from, and OpenBLAS's own description of itself where it is OpenBLAS.
std::string cpu_lapack_description();
/// "2026-11-27".
std::string today();
/// The path of the CUDA plug-in if this process has opened it, otherwise empty.
std::string plugin_path();

}  // namespace overlapack::tools
