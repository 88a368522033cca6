#include "host/stores.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#  include <emmintrin.h>
#endif

namespace overlapack {
namespace {

constexpr std::size_t kPrefetchDistance = 1024, kLine = 64;

#if defined(__x86_64__)
constexpr std::size_t kVector = sizeof(__m128i);

template <_mm_hint kHint = _MM_HINT_T0>
void prefetch(const char* from, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += kLine) _mm_prefetch(from + i, kHint);
}

/// Calls f with the offset of each whole line of `to`, and copies what is left.
template <class F>
void for_each_line(char* to, const char* from, std::size_t bytes, F f) {
  const std::size_t head =
      std::min(bytes, (kLine - reinterpret_cast<std::uintptr_t>(to) % kLine) % kLine);
  std::memcpy(to, from, head);
  std::size_t i = head;
  for (; i + kLine <= bytes; i += kLine) f(i);
  std::memcpy(to + i, from + i, bytes - i);
}
#endif

}  // namespace

void store_past_cache(char* to, const char* from, std::size_t bytes, const char* next) {
#if defined(__x86_64__)
  prefetch(next, std::min(bytes, kPrefetchDistance));
  for_each_line(to, from, bytes, [=](std::size_t i) {
    prefetch(from + i + kPrefetchDistance, kLine);
    for (std::size_t v = i; v < i + kLine; v += kVector) {
      _mm_stream_si128(reinterpret_cast<__m128i*>(to + v),
                       _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + v)));
    }
  });
#else
  static_cast<void>(next);
  std::memcpy(to, from, bytes);
#endif
}

void store_ahead(char* to, const char* from, std::size_t bytes, const char*) {
#if defined(__x86_64__)
  for_each_line(to, from, bytes, [=](std::size_t i) {
    prefetch(to + i + kPrefetchDistance, kLine);
    std::memcpy(to + i, from + i, kLine);
  });
#else
  std::memcpy(to, from, bytes);
#endif
}

void store(char* to, const char* from, std::size_t bytes, const char* next) {
#if defined(__x86_64__)
  // Of short pieces more is fetched ahead than of others: a core has hardly begun to see one coming
  // when it ends.
  constexpr std::size_t kMaxPrefetchBytes = 4096;
  prefetch<_MM_HINT_T1>(next, std::min(bytes, kMaxPrefetchBytes));  // too much for the first cache
#else
  static_cast<void>(next);
#endif
  std::memcpy(to, from, bytes);
}

template <Words kWords>
void store_words(char* to, const char* from, std::size_t bytes, const char* next) {
  constexpr std::size_t kWord = sizeof(std::uint32_t),
                        kWordOffset = kWords == Words::high ? kWord : 0;
  const auto word = [=](std::size_t i) { std::memcpy(to + i, from + 2 * i + kWordOffset, kWord); };
  std::size_t i = 0;
#if defined(__x86_64__)
  prefetch(next, std::min(bytes, kPrefetchDistance));
  for (; i + kLine <= bytes; i += kLine) {
    prefetch(from + 2 * i + kPrefetchDistance, 2 * kLine);
    for (std::size_t v = i; v < i + kLine; v += kVector) {
      const auto* const two = reinterpret_cast<const float*>(from + 2 * v);
      constexpr int kWordOfPair = kWords == Words::high ? 1 : 0;
      const __m128 words =
          _mm_shuffle_ps(_mm_loadu_ps(two), _mm_loadu_ps(two + 4),
                         _MM_SHUFFLE(2 + kWordOfPair, kWordOfPair, 2 + kWordOfPair, kWordOfPair));
      _mm_storeu_ps(reinterpret_cast<float*>(to + v), words);
    }
  }
#else
  static_cast<void>(next);
#endif
  for (; i < bytes; i += kWord) word(i);
}

void stores_complete() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

template void store_words<Words::high>(char*, const char*, std::size_t, const char*);
template void store_words<Words::low>(char*, const char*, std::size_t, const char*);

}  // namespace overlapack
