// Sums of vectors over ranks, element by element: an integer for each element, which any all-reduce of int64 adds up exactly.
//
//   samesum::ElementWords convert(device, samesum::DType::float32, ranks);
//   convert.exponents(x, exponents);
//   ncclAllReduce(…, ncclInt64, ncclMax, …);   // of the exponents; or MPI_INT64_T, MPI_MAX
//   convert.words(x, exponents, words);
//   ncclAllReduce(…, ncclInt64, ncclSum, …);   // of the words; or MPI_INT64_T, MPI_SUM
//   convert.round(words, exponents, x);        // the exact sums, each rounded once: the same bits on all ranks, in any order of them
//
// A piece of 1024 elements becomes words if its exponents lie close enough on all ranks: those of float32 and two ranks about 34 apart. If
// they do not, the piece stays as it is, and the words behind those of the elements tell which pieces these are. Accumulator takes their
// elements, a sum for each.
#pragma once

#include <samesum/array.hpp>
#include <samesum/device.hpp>
#include <samesum/export.hpp>
#include <samesum/types.hpp>

#include <cstdint>
#include <memory>

namespace samesum SAMESUM_EXPORT {

/// Vectors of floats as integers, for up to `ranks` ranks, in the memory of a device (Buffer; the CPU's is the host's). On devices that run
/// kernels everything is enqueued and nothing waits, so that a CUDA graph can capture it. All arrays are contiguous. One thread at a time
/// may use it.
class ElementWords {
 public:
  /// The most ranks.
  static constexpr std::uint32_t kMaxRanks = 1 << 20;
  /// Elements that share an exponent, and fit or do not fit together.
  static constexpr std::uint64_t kPiece = 1024;

  /// The number of pieces of a vector, which is that of its exponents.
  static constexpr std::uint64_t pieces(std::uint64_t elements) noexcept { return elements / kPiece + (elements % kPiece != 0); }
  /// The number of words of a vector: one for each element, and behind them one for each piece.
  static constexpr std::uint64_t size(std::uint64_t elements) noexcept { return elements + pieces(elements); }

  /// Of vectors of `type`. Compiles the kernels.
  /// @throws Error (usage) if `type` is not one of floats, or there are no ranks or more than kMaxRanks; Error (device) if the device
  /// fails.
  ElementWords(const Device& device, DType type, std::uint32_t ranks);

  /// Writes pieces(x.size()) integers (int64) to `exponents`: for each piece the least e with all magnitudes below 2^e, or 2^20 if one is
  /// not finite. Their maximum over all ranks is what words() and round() need. O(n).
  /// @throws Error (usage) if an array has another type or size, is not contiguous, or is not in the device's memory.
  void exponents(const Array& x, const Array& exponents);

  /// Writes size(x.size()) integers (int64) to `words`: of an element x the number x * 2^s, where s belongs to the piece, and below it a
  /// bit that is 1 if x is not -0.0; of a piece 1 if some element is no multiple of 2^-s or not finite, else 0. O(n).
  /// @throws Error as exponents().
  void words(const Array& x, const Array& exponents, const Array& words);

  /// Replaces the elements of `x` by the numbers of words that were added up over all ranks, each rounded once to the nearest, ties to
  /// even; by -0.0 if all ranks have -0.0. Pieces that do not fit on some rank stay as they are. O(n).
  /// @throws Error as exponents().
  void round(const Array& words, const Array& exponents, const Array& x);

  struct SAMESUM_HIDDEN State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace samesum
