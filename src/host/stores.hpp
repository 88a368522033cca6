// Copies of a piece of a column, from one place of the host's memory to another, for each way in
// which its caches are to be used. `next` is where the following piece will be read.
//
// Columns lie far apart, so that a core does not see the next one coming, and within a column it
// does not look ahead far enough to keep up with 15 others that want the same memory. So the copies
// say what they will need.
#pragma once

#include <cstddef>

#include "core/view.hpp"

namespace overlapack {

/// Into memory that nobody will read soon: the lines that are written are not read from memory
/// first, which spares a third of the traffic, and do not drive others out of the cache. Before
/// anybody is told that the copy is complete, stores_complete() must be called.
void store_past_cache(char* to, const char* from, std::size_t bytes, const char* next);
void stores_complete();

/// Into memory of which more is in other cores' caches than in this one's.
void store_ahead(char* to, const char* from, std::size_t bytes, const char* next);

/// Into memory that this core has just used.
void store(char* to, const char* from, std::size_t bytes, const char* next);

/// The high or the low word of each double; `bytes` are those of `to`. All of it is read twice that
/// way, so that memory has enough to do without what is written: that stays in the cache.
template <Words kWords>
void store_words(char* to, const char* from, std::size_t bytes, const char* next);

}  // namespace overlapack
