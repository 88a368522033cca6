/* A program's own malloc(). What it writes in front of large memory looks like what the GNU C
 * library writes there, and means something else. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

static _Alignas(64) char small[32 << 20];
static size_t taken;

static const size_t header = 2 * sizeof(size_t), large = 1 << 20, page = 4096;

size_t malloc_usable_size(void *memory) {
  return memory == NULL ? 0 : ((size_t *)memory)[-1] & ~(size_t)7;
}

void *malloc(size_t bytes) {
  size_t *words;
  bytes = (bytes + 15) & ~(size_t)15;
  if (bytes >= large) {
    const size_t all = (bytes + header + page - 1) / page * page;
    words = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (words == MAP_FAILED) return NULL;
    words[1] = all | 2;
  } else {
    const size_t place = __atomic_fetch_add(&taken, bytes + header, __ATOMIC_RELAXED);
    if (place + bytes + header > sizeof small) return NULL;
    words = (size_t *)(void *)(small + place);
    words[1] = bytes;
  }
  return words + 2;
}

void free(void *memory) { (void)memory; }

void *calloc(size_t count, size_t bytes) {
  return bytes != 0 && count > SIZE_MAX / bytes ? NULL : malloc(count * bytes); /* never used twice */
}

void *realloc(void *memory, size_t bytes) {
  void *const other = malloc(bytes);
  const size_t before = malloc_usable_size(memory);
  if (other != NULL && memory != NULL) memcpy(other, memory, before < bytes ? before : bytes);
  return other;
}

void *aligned_alloc(size_t alignment, size_t bytes) {
  char *const memory = malloc(bytes + alignment);
  char *aligned;
  if (memory == NULL) return NULL;
  aligned = memory + (alignment - (uintptr_t)memory % alignment) % alignment;
  if (aligned != memory) ((size_t *)(void *)aligned)[-1] = bytes; /* 16 bytes behind, or more */
  return aligned;
}

void *memalign(size_t alignment, size_t bytes) { return aligned_alloc(alignment, bytes); }

int posix_memalign(void **memory, size_t alignment, size_t bytes) {
  *memory = aligned_alloc(alignment, bytes);
  return *memory != NULL ? 0 : ENOMEM;
}
