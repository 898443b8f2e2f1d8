// Many exact sums in one message of integers, without the words that none of them uses.
//
//   SumMessage::Needs needs = SumMessage::needs(sums);                  // on each process
//   MPI_Allreduce(MPI_IN_PLACE, needs.data(), 2, MPI_UINT64_T, MPI_BOR, comm);
//   const SumMessage message(needs);                                    // the same on all
//   std::vector<std::int64_t> words(message.words() * sums.size());
//   message.write(sums, words);
//   MPI_Allreduce(MPI_IN_PLACE, words.data(), …, MPI_INT64_T, MPI_SUM, comm);
//   message.read(words, sums);                                          // the sums of all processes
//
// It is what Accumulator::words() is for one sum, with the same headroom: words of up to 2^20 parts may be added word by word. A sum of
// numbers between 1e-3 and 1e3 takes about 5 words of the 82.
#pragma once

#include <samesum/accumulator.hpp>
#include <samesum/export.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace samesum SAMESUM_EXPORT {

/// Which words a message has for each of its sums: a range of the digits, counts, and flags if they are needed. A value; messages of
/// equal needs have equal words.
class SumMessage {
 public:
  /// What a message must hold, as bits: those of several senders are joined by a bitwise OR.
  using Needs = std::array<std::uint64_t, 2>;

  /// What these sums need. They are normalized, which changes no value. O(sums), one pass over their digits in vectors.
  static Needs needs(std::span<Accumulator> sums) noexcept;

  /// The message that holds what is needed, and no more.
  explicit SumMessage(const Needs& needs) noexcept;
  /// The message for a sum whose needs were not asked for: 14 words, 12 of which are digits 28 to 39. It holds any sum of fewer than 2^42
  /// elements without NaNs and infinities: of integers, float16, bfloat16 and float32, and of float64 if its magnitude is below 2^205 and
  /// all elements are multiples of 2^-178.
  static SumMessage ordinary() noexcept;
  static constexpr std::size_t kOrdinaryWords = 14;

  /// Whether it holds sums with these needs.
  bool holds(const Needs& needs) const noexcept;
  /// Whether it holds this sum, which is normalized: faster than asking for its needs.
  bool holds(Accumulator& sum) const noexcept;
  /// The number of words of one sum.
  std::size_t words() const noexcept;

  /// Writes words() words for each sum. Requires that the sums were given to needs() or holds(), and were not changed since; that the
  /// message holds them; and that there is room.
  void write(std::span<const Accumulator> sums, std::span<std::int64_t> words) const noexcept;
  /// Replaces each of the sums that were written by the one whose words these are: sums of the words of up to 2^20 senders.
  /// @throws Error as Accumulator::from_words(); the sums are then unspecified.
  void read(std::span<const std::int64_t> words, std::span<Accumulator> sums) const;

 private:
  static void normalize(Accumulator& sum) noexcept;
  SumMessage(int first, int last, bool specials, bool kinds, bool wide) noexcept
      : first_(first), last_(last), specials_(specials), kinds_(kinds), wide_(wide) {}

  int first_ = 0, last_ = 0;  // digits; the last one has the sign
  bool specials_ = false;     // counts of NaNs and infinities
  bool kinds_ = false;        // flags: some elements are integers, or some sum is of negative zeros alone
  bool wide_ = false;         // counts take two words
};

}  // namespace samesum
