#include "host/thread_memory.hpp"

#include <pthread.h>

#include <new>

namespace overlapack {

struct ThreadMemory::Key {
  Key() : made(pthread_key_create(&key, [](void* memory) { ::operator delete(memory); }) == 0) {}

  pthread_key_t key{};
  bool made;
};

void* ThreadMemory::get(std::size_t bytes) {
  try {
    const Key& key = key_.get([] { return new Key; });
    if (!key.made) return nullptr;
    if (void* const memory = pthread_getspecific(key.key)) return memory;
    void* const memory = ::operator new(bytes);
    if (pthread_setspecific(key.key, memory) == 0) return memory;
    ::operator delete(memory);
  } catch (const std::bad_alloc&) {
  }
  return nullptr;
}

}  // namespace overlapack
