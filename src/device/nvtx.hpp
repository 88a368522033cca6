// Ranges that a profiler shows beside its own findings: NVTX, in the domain "overlapack".
//
// They are there if the library has been built with NVTX's header, and if the process has been
// started under a profiler. Otherwise nothing of NVTX is called.
#pragma once

namespace overlapack {

/// Lets the profiler in, and returns whether there is one. To be called once, before any range.
bool open_nvtx();

/// A range of this thread, while it lives. Ranges of a thread lie one within the other.
class NvtxRange {
 public:
  /// Its text, as printf has it. Only if open_nvtx() was true.
  [[gnu::format(printf, 2, 3)]] explicit NvtxRange(const char* format, ...);
  ~NvtxRange();
  NvtxRange(const NvtxRange&) = delete;
};

}  // namespace overlapack
