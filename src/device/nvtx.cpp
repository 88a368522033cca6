#include "device/nvtx.hpp"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#if __has_include(<nvtx3/nvToolsExt.h>)
#  include <nvtx3/nvToolsExt.h>
#endif

namespace overlapack {

#ifdef NVTX_VERSION

namespace {

nvtxDomainHandle_t domain = nullptr;

}  // namespace

bool open_nvtx() {
  // NVTX would load what this variable names into a program with raised privileges, too.
  if (secure_getenv("NVTX_INJECTION64_PATH") == nullptr) return false;
  domain = nvtxDomainCreateA("overlapack");
  return domain != nullptr;
}

NvtxRange::NvtxRange(const char* format, ...) {
  char text[160];
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  nvtxEventAttributes_t attributes = {};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = text;
  nvtxDomainRangePushEx(domain, &attributes);
}

NvtxRange::~NvtxRange() { nvtxDomainRangePop(domain); }

#else

bool open_nvtx() { return false; }
NvtxRange::NvtxRange(const char*, ...) {}
NvtxRange::~NvtxRange() {}

#endif

}  // namespace overlapack
