// Products of residues (device.hpp) by Hopper's tensor cores, which end in remainders: a sum is
// reduced modulo its number while it is in registers, and leaves them as a byte instead of four.
//
// A thread block makes a tile of 256 x 128 of C, each of its two groups of four warps one half of
// the columns. One thread has pieces of 128 summands copied into a ring of buffers (ring.cuh); it
// is ahead of the products by as many pieces as there are buffers, and goes on with the tile for
// the next modulus while the last one ends.
//
// Tiles of neighbouring thread blocks lie side by side, so most of what is copied comes from the
// cache. Clusters whose thread blocks copy for each other (multicast) take half as long again: a
// buffer is free only when both have read it.
#include <cstdint>

#include "device/cuda/formats/products.hpp"
#include "device/cuda/formats/residue.cuh"
#include "device/cuda/ptx/ring.cuh"
#include "device/cuda/ptx/tensor_map.hpp"
#include "device/cuda/ptx/wgmma.cuh"
#include "device/cuda/ptx/wgmma_products.cuh"
#include "device/cuda/runtime/launch.cuh"

namespace overlapack::cuda {
namespace {

constexpr int kPiece = 128;  // summands
constexpr int kBuffers = 4;
constexpr int kThreads = RemainderTile::kThreads + kWarp;  // the last warp copies
constexpr int kRows = RemainderTile::kRows, kColumns = RemainderTile::kColumns;
constexpr int kRowsPerCopy = 128;  // rows of a matrix in one copy
static_assert(kColumns == kRowsPerCopy && kRows == 2 * kRowsPerCopy);

/// A piece of the rows of a tile, kSwizzledBytes aligned.
struct Buffer {
  std::int8_t rows[kRows * kPiece], columns[kColumns * kPiece];
};
struct Shared {
  Buffer buffers[kBuffers];
  Ring<kBuffers> ring;
};
using Place = RingPlace<kBuffers>;

/// The tiles of C: which one a thread block makes, and of which product (ResidueForm).
template <int kProducts>
struct Tiles {
  unsigned of_rows, of_columns;

  __device__ int product() const { return static_cast<int>(blockIdx.y % kProducts); }
  /// The plane of A is the product's number.
  __device__ int plane_of_b() const { return product() == 2 ? 3 : product(); }
  __device__ unsigned row() const {
    return of_rows < of_columns ? blockIdx.x % of_rows : blockIdx.x / of_columns;
  }
  __device__ unsigned column() const {
    return of_rows < of_columns ? blockIdx.x / of_rows : blockIdx.x % of_columns;
  }
  /// Of the remainders for a modulus.
  __device__ Index number(int modulus) const {
    const Index tiles = Index{of_rows} * of_columns;
    return (modulus * tiles + row() * of_columns + column()) * kProducts + product();
  }
};

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
/// Has kRowsPerCopy rows of kPiece residues copied to shared memory, from (summand, plane, row,
/// modulus) on; they count in the barrier.
__device__ void copy(void* to, const CUtensorMap& from, int summand, int plane, int row,
                     int modulus, Barrier* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3, %4, %5}], [%6];" ::"r"(shared_address(to)),
      "l"(&from), "r"(summand), "r"(plane), "r"(row), "r"(modulus), "r"(shared_address(barrier))
      : "memory");
}

/// The tiles of `summands` summands for moduli [first, end): copies.
template <int kProducts>
__device__ void copy_pieces(Shared& shared, const CUtensorMap& a, const CUtensorMap& b,
                            const Tiles<kProducts>& tiles, int summands, int first, int end) {
  const int row = static_cast<int>(tiles.row()) * kRows;
  const int column = static_cast<int>(tiles.column()) * kColumns;
  Place place;
  for (int modulus = first; modulus < end; ++modulus) {
    for (int l = 0; l < summands; l += kPiece, place.next()) {
      Buffer& buffer = shared.buffers[place.buffer];
      Barrier* const arrived = &shared.ring.arrived[place.buffer];
      await(&shared.ring.read[place.buffer], place.parity ^ 1);
      expect(arrived, sizeof buffer);
      copy(buffer.columns, b, l, tiles.plane_of_b(), column, modulus, arrived);
      copy(buffer.rows, a, l, tiles.product(), row, modulus, arrived);
      copy(buffer.rows + kRowsPerCopy * kPiece, a, l, tiles.product(), row + kRowsPerCopy, modulus,
           arrived);
    }
  }
}

/// The same: products, and remainders.
template <int kProducts>
__device__ void multiply_pieces(Shared& shared, const Tiles<kProducts>& tiles, int summands,
                                int first, int end, std::int32_t* __restrict__ remainders) {
  const int thread = static_cast<int>(threadIdx.x), group = thread / kGroupThreads;
  const bool speaks = thread % kGroupThreads == 0;
  Place place;
  int sums[128];
  for (int modulus = first; modulus < end; ++modulus) {
    int last = -1;
    for (int l = 0; l < summands; l += kPiece, place.next()) {
      await(&shared.ring.arrived[place.buffer], place.parity);
      const Buffer& buffer = shared.buffers[place.buffer];
      const std::uint64_t columns = descriptor(buffer.columns + group * kColumns / 2 * kPiece);
      const std::uint64_t rows = descriptor(buffer.rows);
      begin_products();
#  pragma unroll
      for (int k = 0; k < kPiece / 32; ++k) {
        multiply_m64n256k32(sums, columns + k * kNext32Bytes, rows + k * kNext32Bytes,
                            last >= 0 || k > 0);
      }
      end_of_products();
      wait_for_products<1>();
      if (last >= 0 && speaks) arrive(&shared.ring.read[last]);
      last = place.buffer;
    }
    wait_for_products<0>();
    if (speaks) arrive(&shared.ring.read[last]);
    const Modulus& m = moduli.modulus[modulus];
    std::int32_t* const tile = remainders + tiles.number(modulus) * RemainderTile::kWords;
    constexpr int kWordsPerStore = RemainderTile::kWordsPerStore;
#  pragma unroll
    for (int word = 0; word < RemainderTile::kWords / RemainderTile::kThreads;
         word += kWordsPerStore) {
      unsigned words[kWordsPerStore];
#  pragma unroll
      for (int w = 0; w < kWordsPerStore; ++w) {
        const int* const s = sums + 4 * (word + w);
        words[w] =
            last_bytes(residue(s[0], m), residue(s[1], m), residue(s[2], m), residue(s[3], m));
      }
      *reinterpret_cast<uint4*>(tile + RemainderTile::word(thread, word)) = {words[0], words[1],
                                                                             words[2], words[3]};
    }
  }
}
#endif

/// Thread blocks (., y) make their tiles for `moduli_per_block` moduli.
template <int kProducts>
__global__ void __launch_bounds__(kThreads, 1)
    products_kernel(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                    Tiles<kProducts> tiles, int summands, int moduli_per_block,
                    std::int32_t* remainders) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ unsigned char memory[];
  Shared& shared = *reinterpret_cast<Shared*>(
      memory + (kSwizzledBytes - shared_address(memory) % kSwizzledBytes) % kSwizzledBytes);
  shared.ring.make(RemainderTile::kThreads / kGroupThreads);
  const int first = static_cast<int>(blockIdx.y / kProducts) * moduli_per_block;
  const int end = min(first + moduli_per_block, residues::kModuli);
  if (threadIdx.x < RemainderTile::kThreads) {
    multiply_pieces(shared, tiles, summands, first, end, remainders);
  } else if (threadIdx.x == RemainderTile::kThreads) {
    copy_pieces(shared, a, b, tiles, summands, first, end);
  }
#endif
}

/// The residues as what copies read: (summand, plane, row, modulus).
template <class T>
CUtensorMap map_of(const ResidueForm<T>& form) {
  const auto number = [](Index x) { return static_cast<cuuint64_t>(x); };
  const Index planes = ResidueForm<T>::kPlanes, next_plane = planes > 1 ? form.next_plane : kPiece;
  const cuuint64_t sizes[] = {number(form.summands()), number(planes), number(form.rows()),
                              residues::kModuli};
  const cuuint64_t strides[] = {number(next_plane), number(form.numbers.ld), number(form.stride)};
  const cuuint32_t box[] = {kPiece, 1, kRowsPerCopy, 1};
  return tensor_map(CU_TENSOR_MAP_DATA_TYPE_UINT8, form.numbers.data, sizes, strides, box,
                    CU_TENSOR_MAP_SWIZZLE_128B);
}

}  // namespace

template <class T>
void residue_products(cudaStream_t stream, const ResidueForm<T>& a, const ResidueForm<T>& b,
                      std::int32_t* remainders) {
  constexpr int kProducts = ResidueForm<T>::kProducts;
  // A thread block sets up its buffers once, but many of them share multiprocessors with other
  // kernels sooner: so long sums are for one modulus, short ones for up to seven.
  const int summands = static_cast<int>(a.summands());
  const int moduli_per_block = summands > 4096 ? 1 : summands > 1024 ? 2 : 7;
  const Tiles<kProducts> tiles = {static_cast<unsigned>(quotient_up(a.rows(), Index{kRows})),
                                  static_cast<unsigned>(quotient_up(b.rows(), Index{kColumns}))};
  LaunchShape shape;
  shape.blocks = tiles.of_rows * tiles.of_columns;
  shape.blocks_y =
      kProducts * static_cast<unsigned>(quotient_up(residues::kModuli, moduli_per_block));
  shape.threads = kThreads;
  shape.shared_bytes = sizeof(Shared) + kSwizzledBytes;
  launch_kernel(stream, shape, "residue_gemm", products_kernel<kProducts>, map_of(a), map_of(b),
                tiles, summands, moduli_per_block, remainders);
}

template void residue_products(cudaStream_t, const ResidueForm<double>&, const ResidueForm<double>&,
                               std::int32_t*);
template void residue_products(cudaStream_t, const ResidueForm<std::complex<double>>&,
                               const ResidueForm<std::complex<double>>&, std::int32_t*);

}  // namespace overlapack::cuda
