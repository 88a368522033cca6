// Remainders of integers modulo the numbers of device/residues.hpp.
#pragma once

#include "device/cuda/runtime/launch.cuh"
#include "device/residues.hpp"

namespace overlapack::cuda {

/// What a kernel needs to know about a modulus p.
struct Modulus {
  unsigned p;
  int low, high;  // powers of 2^8, modulo p: a byte for each byte of a number
  // A float of 24 bits that is a multiple of 2^8 p, by its bits; 1 / p; and kUnits without the
  // former divided by p.
  int start;
  float inverse, offset;
  residues::Weight weight;
};
struct Moduli {
  Modulus modulus[residues::kModuli];
};

/// In its last bits, kUnits plus an integer is that integer.
constexpr int kUnits = 3 << 22;
constexpr int kUnitsBits = 0x4b400000;

constexpr Moduli make_moduli() {
  Moduli c = {};
  for (int l = 0; l < residues::kModuli; ++l) {
    const int p = residues::kModulus[l];
    int power = 1;  // the one of the smallest modulus
    const auto bytes = [p, &power] {
      unsigned word = 0;
      for (int i = 0; i < 4; ++i) {
        word |= (static_cast<unsigned>(power) & 0xff) << (8 * i);
        power = power * 256 % p;
        if (2 * power > p) power -= p;
        if (2 * power < -p) power += p;
      }
      return static_cast<int>(word);
    };
    Modulus& m = c.modulus[l];
    m.p = static_cast<unsigned>(p);
    m.low = bytes();
    m.high = bytes();
    const int multiple = (kUnits + 128 * p) / (256 * p) * 256;
    m.start = kUnitsBits + (multiple * p - kUnits);
    m.inverse = 1 / static_cast<float>(p);
    m.offset = static_cast<float>(kUnits - multiple);
    m.weight = residues::weight(l);
  }
  return c;
}

__constant__ const Moduli moduli = make_moduli();

/// An integer of at most 56 bits with its sign, as digits to the base 2^8, from -2^7 to 2^7 - 1.
struct Digits {
  Digits() = default;
  static constexpr unsigned long long kBias = 0x0080808080808080;
  __device__ explicit Digits(long long x) {
    const unsigned long long digits = (static_cast<unsigned long long>(x) + kBias) ^ kBias;
    low = static_cast<int>(digits);
    high = static_cast<int>(digits >> 32);
  }
  __device__ long long number() const {
    const unsigned long long high_word = static_cast<unsigned>(high);
    return static_cast<long long>(((high_word << 32 | static_cast<unsigned>(low)) ^ kBias) - kBias);
  }
  int low, high;
};

/// The residue of the number whose bits are the sum of m.start and products of digits with powers,
/// which is below 2^18: in the last byte.
__device__ inline unsigned residue_of_sum(int sum, const Modulus& m) {
  // As bits of a float that begins with a multiple of p, it is divided by p and rounded to an
  // integer by one operation. (All sums there may be have been tried.)
  const float quotient = fmaf(__int_as_float(sum), m.inverse, m.offset);
  return static_cast<unsigned>(sum) - __float_as_uint(quotient) * m.p;
}
__device__ inline unsigned residue(const Digits& x, const Modulus& m) {
  return residue_of_sum(__dp4a(x.high, m.high, __dp4a(x.low, m.low, m.start)), m);
}
/// The same for a number of modulus less than 127 / 128 of 2^31.
__device__ inline unsigned residue(int x, const Modulus& m) {
  constexpr unsigned kBias = 0x80808080;
  const unsigned digits = (static_cast<unsigned>(x) + kBias) ^ kBias;
  return residue_of_sum(__dp4a(static_cast<int>(digits), m.low, m.start), m);
}

/// A tile of remainders, which are the bytes of its words, for one modulus after the other. A
/// thread of a product has 2 x 2 elements in a word, and words side by side where the sum is
/// computed.
struct RemainderTile {
  static constexpr int kRows = 256, kColumns = 128;  // of C
  static constexpr int kThreads = 256;               // of the products
  static constexpr int kWords = kRows * kColumns / 4;
  static constexpr int kWordsPerStore = 4;

  /// The word of a thread that has number `of_thread`.
  __host__ __device__ static constexpr int word(int thread, int of_thread) {
    return (of_thread / kWordsPerStore * kThreads + thread) * kWordsPerStore +
           of_thread % kWordsPerStore;
  }
  /// Which elements a word has: rows row(word) + (0, 1) of columns column(word) + (0, 8), a
  /// column's first. (PTX ISA, the accumulators of wgmma.)
  __device__ static int row(int word) {
    const int of_thread =
        word / (kThreads * kWordsPerStore) * kWordsPerStore + word % kWordsPerStore;
    return 8 * of_thread + 2 * (word / kWordsPerStore % 4);
  }
  __device__ static int column(int word) {
    const int thread = word / kWordsPerStore % kThreads;
    return thread / kWarp * 16 + thread % kWarp / 4;
  }
};

/// The last bytes of four words.
__device__ inline unsigned last_bytes(unsigned a, unsigned b, unsigned c, unsigned d) {
  return __byte_perm(__byte_perm(a, b, 0x0040), __byte_perm(c, d, 0x0040), 0x5410);
}

}  // namespace overlapack::cuda
