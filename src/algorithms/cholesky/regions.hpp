// What of a Cholesky factorization moves between the caller's memory and the device at a time.
#pragma once

#include <cstddef>
#include <vector>

#include "algorithms/shared/triangle.hpp"

namespace overlapack::algorithms {

/// The pieces that move at a time, by their numbers: each by itself of a lower triangle, where it
/// is columns, and several of an upper one, where it is rows. A block row is made of short pieces
/// of many columns (2 KB of 256 doubles, `element` bytes each), each on a page of its own, and
/// costs the copy threads more than bandwidth; what moves together costs them less.
///
/// But results go home behind uploads by the time that the largest region is on its way, from the
/// first one to the last. So no region of an upper triangle has more elements than the largest
/// block, and more blocks move together where they are shorter. It is twice that if blocks are less
/// than a page high and the matrix has so many pages that even the tables of their addresses do not
/// stay in a core's caches. The device waits for the first block of the last triangle, too, which
/// is a region by itself. For the last ones the caller waits: no region has more than half of the
/// pieces that are left, nor more than four.
///
/// Within the device's memory, where to launch a copy takes longer than it takes itself, any number
/// is a region, but no more than half of those before them and half of those that are left.
std::vector<Range> regions_of(Uplo uplo, const std::vector<Piece>& pieces, std::size_t element,
                              bool resident = false);
/// The pieces of a region as one.
Piece united(const std::vector<Piece>& pieces, Range region);

/// What goes home to `a` with each region: its pieces. But rows of an upper triangle that share
/// cache lines with rows of the next region wait for these (if they do so in all columns), since a
/// line that is written in part costs as much as several whole ones. A piece of a page would have
/// two such lines, because memory from malloc begins in the middle of one.
template <class T>
std::vector<Piece> homes_of(Storage storage, const std::vector<Piece>& pieces,
                            const std::vector<Range>& regions, HostView<const T> a);

}  // namespace overlapack::algorithms
