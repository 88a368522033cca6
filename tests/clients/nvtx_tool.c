/* A profiler as NVTX lets one in, by NVTX_INJECTION64_PATH. It writes into the file of
 * NVTX_TOOL_LOG what it is told, each with the thread: "THREAD domain NAME", "THREAD push TEXT",
 * "THREAD pop". */
#include <fcntl.h>
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int file = -1;
static int the_domain;

static void tell(const char* what, const char* text) {
  dprintf(file, "%lu %s%s%s\n", (unsigned long)pthread_self(), what, *text != '\0' ? " " : "",
          text);
}

static nvtxDomainHandle_t create(const char* name) {
  tell("domain", name);
  return (nvtxDomainHandle_t)&the_domain;
}

static int push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  const int right = domain == (nvtxDomainHandle_t)&the_domain &&
                    attributes->messageType == NVTX_MESSAGE_TYPE_ASCII;
  tell("push", right ? attributes->message.ascii : "(another domain, or no text)");
  return 0;
}

static int pop(nvtxDomainHandle_t domain) {
  tell("pop", domain == (nvtxDomainHandle_t)&the_domain ? "" : "(another domain)");
  return 0;
}

__attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    NvtxGetExportTableFunc_t get_table);

int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table) {
  const NvtxExportTableCallbacks* const callbacks = get_table(NVTX_ETID_CALLBACKS);
  const char* const path = getenv("NVTX_TOOL_LOG");
  NvtxFunctionTable table = NULL;
  unsigned int size = 0;
  if (path == NULL || callbacks == NULL ||
      !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) ||
      size <= NVTX_CBID_CORE2_DomainCreateA) {
    return 0;
  }
  file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  *table[NVTX_CBID_CORE2_DomainCreateA] = (NvtxFunctionPointer)create;
  *table[NVTX_CBID_CORE2_DomainRangePushEx] = (NvtxFunctionPointer)push;
  *table[NVTX_CBID_CORE2_DomainRangePop] = (NvtxFunctionPointer)pop;
  return file >= 0;
}
