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
#include "device/cuda/runtime/launch.cuh"

namespace overlapack::cuda {
namespace {

constexpr int kPiece = 128;  // summands
constexpr int kBuffers = 4;
constexpr int kThreads = RemainderTile::kThreads + kWarp;  // the last warp copies
constexpr int kRows = RemainderTile::kRows, kColumns = RemainderTile::kColumns;
constexpr int kCopied = 128;  // rows of a matrix in one copy
static_assert(kColumns == kCopied && kRows == 2 * kCopied);

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
/// Has kCopied rows of kPiece residues copied to shared memory, from (summand, plane, row, modulus)
/// on; they count in the barrier.
__device__ void copy(void* to, const CUtensorMap& from, int summand, int plane, int row,
                     int modulus, Barrier* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3, %4, %5}], [%6];" ::"r"(shared_address(to)),
      "l"(&from), "r"(summand), "r"(plane), "r"(row), "r"(modulus), "r"(shared_address(barrier))
      : "memory");
}

/// d := A B + (accumulate ? d : 0) for 64 rows of A, 256 columns of B and 32 summands.
__device__ void multiply(int (&d)[128], std::uint64_t a, std::uint64_t b, bool accumulate) {
  asm volatile(
      "{\n"
      ".reg .pred accumulate;\n"
      "setp.ne.b32 accumulate, %130, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k32.s32.s8.s8 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
      "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
      "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
      "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
      "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, "
      "%127}, %128, %129, accumulate;\n"
      "}\n"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]),
        "+r"(d[7]), "+r"(d[8]), "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]),
        "+r"(d[14]), "+r"(d[15]), "+r"(d[16]), "+r"(d[17]), "+r"(d[18]), "+r"(d[19]), "+r"(d[20]),
        "+r"(d[21]), "+r"(d[22]), "+r"(d[23]), "+r"(d[24]), "+r"(d[25]), "+r"(d[26]), "+r"(d[27]),
        "+r"(d[28]), "+r"(d[29]), "+r"(d[30]), "+r"(d[31]), "+r"(d[32]), "+r"(d[33]), "+r"(d[34]),
        "+r"(d[35]), "+r"(d[36]), "+r"(d[37]), "+r"(d[38]), "+r"(d[39]), "+r"(d[40]), "+r"(d[41]),
        "+r"(d[42]), "+r"(d[43]), "+r"(d[44]), "+r"(d[45]), "+r"(d[46]), "+r"(d[47]), "+r"(d[48]),
        "+r"(d[49]), "+r"(d[50]), "+r"(d[51]), "+r"(d[52]), "+r"(d[53]), "+r"(d[54]), "+r"(d[55]),
        "+r"(d[56]), "+r"(d[57]), "+r"(d[58]), "+r"(d[59]), "+r"(d[60]), "+r"(d[61]), "+r"(d[62]),
        "+r"(d[63]), "+r"(d[64]), "+r"(d[65]), "+r"(d[66]), "+r"(d[67]), "+r"(d[68]), "+r"(d[69]),
        "+r"(d[70]), "+r"(d[71]), "+r"(d[72]), "+r"(d[73]), "+r"(d[74]), "+r"(d[75]), "+r"(d[76]),
        "+r"(d[77]), "+r"(d[78]), "+r"(d[79]), "+r"(d[80]), "+r"(d[81]), "+r"(d[82]), "+r"(d[83]),
        "+r"(d[84]), "+r"(d[85]), "+r"(d[86]), "+r"(d[87]), "+r"(d[88]), "+r"(d[89]), "+r"(d[90]),
        "+r"(d[91]), "+r"(d[92]), "+r"(d[93]), "+r"(d[94]), "+r"(d[95]), "+r"(d[96]), "+r"(d[97]),
        "+r"(d[98]), "+r"(d[99]), "+r"(d[100]), "+r"(d[101]), "+r"(d[102]), "+r"(d[103]),
        "+r"(d[104]), "+r"(d[105]), "+r"(d[106]), "+r"(d[107]), "+r"(d[108]), "+r"(d[109]),
        "+r"(d[110]), "+r"(d[111]), "+r"(d[112]), "+r"(d[113]), "+r"(d[114]), "+r"(d[115]),
        "+r"(d[116]), "+r"(d[117]), "+r"(d[118]), "+r"(d[119]), "+r"(d[120]), "+r"(d[121]),
        "+r"(d[122]), "+r"(d[123]), "+r"(d[124]), "+r"(d[125]), "+r"(d[126]), "+r"(d[127])
      : "l"(a), "l"(b), "r"(static_cast<int>(accumulate)));
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
      copy(buffer.rows + kCopied * kPiece, a, l, tiles.product(), row + kCopied, modulus, arrived);
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
        multiply(sums, columns + k * kNext32Bytes, rows + k * kNext32Bytes, last >= 0 || k > 0);
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
    constexpr int kAtOnce = RemainderTile::kWordsAtOnce;
#  pragma unroll
    for (int word = 0; word < RemainderTile::kWords / RemainderTile::kThreads; word += kAtOnce) {
      unsigned words[kAtOnce];
#  pragma unroll
      for (int w = 0; w < kAtOnce; ++w) {
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

/// Thread blocks (., y) make their tiles for `at_once` moduli.
template <int kProducts>
__global__ void __launch_bounds__(kThreads, 1)
    products_kernel(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                    Tiles<kProducts> tiles, int summands, int at_once, std::int32_t* remainders) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ unsigned char memory[];
  Shared& shared = *reinterpret_cast<Shared*>(
      memory + (kSwizzledBytes - shared_address(memory) % kSwizzledBytes) % kSwizzledBytes);
  shared.ring.make(RemainderTile::kThreads / kGroupThreads);
  const int first = static_cast<int>(blockIdx.y / kProducts) * at_once;
  const int end = min(first + at_once, residues::kModuli);
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
  const cuuint32_t box[] = {kPiece, 1, kCopied, 1};
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
  const int at_once = summands > 4096 ? 1 : summands > 1024 ? 2 : 7;
  const Tiles<kProducts> tiles = {static_cast<unsigned>(quotient_up(a.rows(), Index{kRows})),
                                  static_cast<unsigned>(quotient_up(b.rows(), Index{kColumns}))};
  LaunchShape shape;
  shape.blocks = tiles.of_rows * tiles.of_columns;
  shape.blocks_y = kProducts * static_cast<unsigned>(quotient_up(residues::kModuli, at_once));
  shape.threads = kThreads;
  shape.shared_bytes = sizeof(Shared) + kSwizzledBytes;
  launch_kernel(stream, shape, "residue_gemm", products_kernel<kProducts>, map_of(a), map_of(b),
                tiles, summands, at_once, remainders);
}

template void residue_products(cudaStream_t, const ResidueForm<double>&, const ResidueForm<double>&,
                               std::int32_t*);
template void residue_products(cudaStream_t, const ResidueForm<std::complex<double>>&,
                               const ResidueForm<std::complex<double>>&, std::int32_t*);

}  // namespace overlapack::cuda
