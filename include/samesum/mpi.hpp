// Reductions over the ranks of an MPI communicator: a header over the caller's own MPI, which libsamesum itself does not use.
//
//   const double total = samesum::mpi::sum(samesum::Array(local), MPI_COMM_WORLD);
//
// Every function here is collective: all ranks of the communicator call it, with the same operation, and all get the same result. The array
// of the whole is that of the ranks one after the other: rank 0's elements first. A rank may have none. The bits of a result depend neither
// on the number of ranks nor on which rank has which elements (of products and indices: as long as the order of all elements is the same),
// and a rank may compute its part on any device.
//
// An exact sum is a vector of integers, so that one MPI_Allreduce of MPI_INT64_T with MPI_SUM merges the parts of up to 2^20 ranks;
// networks that add up integers do it in hardware. Of a sum 15 are sent (SumMessage::ordinary()); sums with NaNs or infinities, and those
// of float64 with elements that are no multiples of 2^-178 or a magnitude of 2^205 or more, take two more calls.
//
// Errors: if a rank fails to compute its part, it still takes part in the communication and then throws its own error; the others throw
// Error (no_answer), which names the rank. Errors of MPI itself are left to the communicator's error handler.
#pragma once

#include <samesum/accumulator.hpp>
#include <samesum/array.hpp>
#include <samesum/error.hpp>
#include <samesum/group_sums.hpp>
#include <samesum/histogram.hpp>
#include <samesum/histogram_nd.hpp>
#include <samesum/product_accumulator.hpp>
#include <samesum/reduce.hpp>
#include <samesum/statistics.hpp>
#include <samesum/sum.hpp>
#include <samesum/sum_message.hpp>
#include <samesum/weighted_histogram.hpp>

#include <mpi.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <exception>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace samesum::mpi {

namespace detail {

inline int rank_of(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}
inline int size_of(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
}

[[noreturn]] inline void refuse(std::int64_t failures, std::int64_t ranks, MPI_Comm comm) {
  const std::string who = failures == 1 ? "rank " + std::to_string(ranks) : std::to_string(failures) + " ranks";
  throw Error(ErrorKind::no_answer, who + " of " + std::to_string(size_of(comm)) + " could not compute a part: see the error there");
}

// Words of a part, followed by the number of ranks that failed, and the sum of these ranks.
template <class Words>
std::vector<std::int64_t> message(const Words& words, bool failed, MPI_Comm comm) {
  std::vector<std::int64_t> message(words.begin(), words.end());
  if (failed) std::fill(message.begin(), message.end(), 0);
  message.insert(message.end(), {failed ? 1 : 0, failed ? rank_of(comm) : 0});
  return message;
}
inline void check(std::span<const std::int64_t> message, const std::exception_ptr& own, MPI_Comm comm) {
  if (own) std::rethrow_exception(own);
  const std::span<const std::int64_t> failures = message.last(2);
  if (failures[0] != 0) refuse(failures[0], failures[1], comm);
}

template <class Part>
Part from_words(const Part&, std::span<const std::int64_t> words) {
  return Part::from_words(words.template first<Part::kWords>());
}
inline Histogram from_words(const Histogram& part, std::span<const std::int64_t> words) {
  return Histogram::from_words(part.bins(), words);
}

// A part that is computed by `make`, merged with those of the other ranks; `empty` stands for it if it fails.
template <class Part, class Make>
Part reduce_words(Part empty, const Make& make, MPI_Comm comm) {
  std::exception_ptr own;
  Part part = std::move(empty);
  try {
    part = make();
  } catch (...) {
    own = std::current_exception();
  }
  std::vector<std::int64_t> words = message(part.words(), static_cast<bool>(own), comm);
  MPI_Allreduce(MPI_IN_PLACE, words.data(), static_cast<int>(words.size()), MPI_INT64_T, MPI_SUM, comm);
  check(words, own, comm);
  return from_words(part, std::span<const std::int64_t>(words).first(words.size() - 2));
}

// Many sums: two calls of MPI_Allreduce, of which the first finds the words that any sum needs.
inline void reduce_sums(std::span<Accumulator> sums, MPI_Comm comm) {
  SumMessage::Needs needs = SumMessage::needs(sums);
  MPI_Allreduce(MPI_IN_PLACE, needs.data(), 2, MPI_UINT64_T, MPI_BOR, comm);
  const SumMessage message(needs);
  const std::size_t size = message.words() * sums.size();
  const auto words = std::make_unique_for_overwrite<std::int64_t[]>(size);
  message.write(sums, {words.get(), size});
  constexpr std::size_t kMax = std::size_t{1} << 30;  // integers of a call: MPI counts by int
  for (std::size_t first = 0; first < size; first += kMax) {
    MPI_Allreduce(MPI_IN_PLACE, words.get() + first, static_cast<int>(std::min(kMax, size - first)), MPI_INT64_T, MPI_SUM, comm);
  }
  message.read({words.get(), size}, sums);
}

// One sum, or the error instead of it: in one call, unless the sum of some rank needs more digits than are sent at first.
inline void reduce_sum(Accumulator& sum, const std::exception_ptr& own, MPI_Comm comm) {
  const SumMessage ordinary = SumMessage::ordinary();
  constexpr std::size_t kWords = SumMessage::kOrdinaryWords;
  std::array<std::int64_t, kWords + 1> words{};
  const std::span<std::int64_t> of_sum = std::span(words).first(kWords);
  const std::span<Accumulator> one(&sum, 1);
  constexpr std::int64_t kOther = std::int64_t{1} << 32;  // a rank whose sum needs other words; 1: a rank that failed
  if (own) {
    words[kWords] = 1;
  } else if (ordinary.holds(sum)) {
    ordinary.write(one, of_sum);
  } else {
    words[kWords] = kOther;
  }
  MPI_Allreduce(MPI_IN_PLACE, words.data(), static_cast<int>(words.size()), MPI_INT64_T, MPI_SUM, comm);
  if (words[kWords] % kOther != 0) {
    std::array<std::int64_t, 2> failures{own ? 1 : 0, own ? rank_of(comm) : 0};
    MPI_Allreduce(MPI_IN_PLACE, failures.data(), 2, MPI_INT64_T, MPI_SUM, comm);
    check(failures, own, comm);
  }
  if (words[kWords] != 0) {
    reduce_sums(one, comm);
  } else {
    ordinary.read(of_sum, one);
  }
}

// The sum that is computed by `make`.
template <class Make>
Accumulator sum_of(const Make& make, MPI_Comm comm) {
  std::exception_ptr own;
  Accumulator sum;
  try {
    sum = make();
  } catch (...) {
    own = std::current_exception();
  }
  reduce_sum(sum, own, comm);
  return sum;
}

// Statistics with extrema, which are no integers to be added up: serialized, and merged by an operation that does not commute.
struct Blob {
  static constexpr std::size_t kBytes = 1024;  // the longest form
  std::int64_t failures = 0, ranks = 0;
  std::uint64_t size = 0;
  std::array<std::byte, kBytes> bytes;

  void set(const Statistics& part) {
    const std::vector<std::byte> serialized = part.serialize();
    if (serialized.size() > kBytes) throw Error(ErrorKind::usage, "statistics too large for a message");
    size = serialized.size();
    std::memcpy(bytes.data(), serialized.data(), size);
  }
  Statistics get() const { return Statistics::deserialize(std::span(bytes).first(size)); }

  // MPI calls it with the blobs of earlier ranks first.
  static void merge(void* earlier, void* later, int* count, MPI_Datatype*) {
    for (int i = 0; i < *count; ++i) {
      const Blob& a = static_cast<const Blob*>(earlier)[i];
      Blob& b = static_cast<Blob*>(later)[i];
      b.failures += a.failures;
      b.ranks += a.ranks;
      if (b.failures != 0) continue;
      try {
        Statistics merged = a.get();
        merged.merge(b.get());
        b.set(merged);
      } catch (...) {  // no exception may pass through MPI
        b.failures = std::numeric_limits<std::int32_t>::max();
      }
    }
  }
};
static_assert(std::is_trivially_copyable_v<Blob>);

// A blob that is being merged, with what MPI needs until it is.
class BlobReduction {
 public:
  // The statistics are computed by `make`.
  template <class Make>
  BlobReduction(const Make& make, MPI_Comm comm) : comm_(comm) {
    try {
      blob_.set(make());
    } catch (...) {
      own_ = std::current_exception();
      blob_.failures = 1;
      blob_.ranks = rank_of(comm);
    }
    MPI_Type_contiguous(static_cast<int>(sizeof(Blob)), MPI_BYTE, &type_);
    MPI_Type_commit(&type_);
    MPI_Op_create(&Blob::merge, 0, &merge_);
  }
  ~BlobReduction() {
    MPI_Op_free(&merge_);
    MPI_Type_free(&type_);
  }
  BlobReduction(const BlobReduction&) = delete;
  BlobReduction& operator=(const BlobReduction&) = delete;

  void run() { MPI_Allreduce(MPI_IN_PLACE, &blob_, 1, type_, merge_, comm_); }
  MPI_Request start() {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallreduce(MPI_IN_PLACE, &blob_, 1, type_, merge_, comm_, &request);
    return request;
  }
  Statistics result() const {
    if (own_) std::rethrow_exception(own_);
    if (blob_.failures == std::numeric_limits<std::int32_t>::max()) {
      throw Error(ErrorKind::no_answer, "the statistics of all ranks cannot be merged");
    }
    if (blob_.failures != 0) refuse(blob_.failures, blob_.ranks, comm_);
    return blob_.get();
  }

 private:
  MPI_Comm comm_;
  Blob blob_{};
  std::exception_ptr own_;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  MPI_Op merge_ = MPI_OP_NULL;
};

template <class Make>
Statistics reduce_blobs(const Make& make, MPI_Comm comm) {
  BlobReduction reduction(make, comm);
  reduction.run();
  return reduction.result();
}

// Bytes of any size in messages whose lengths MPI counts by int; no bytes stand for a failure.
constexpr std::size_t kMaxBytes = std::size_t{1} << 30;
inline void send(const std::vector<std::byte>& bytes, int to, MPI_Comm comm) {
  const std::uint64_t size = bytes.size();
  MPI_Send(&size, 1, MPI_UINT64_T, to, 0, comm);
  for (std::size_t first = 0; first < size; first += kMaxBytes) {
    MPI_Send(&bytes[first], static_cast<int>(std::min(kMaxBytes, bytes.size() - first)), MPI_BYTE, to, 0, comm);
  }
}
inline std::vector<std::byte> receive(int from, MPI_Comm comm) {
  std::uint64_t size = 0;
  MPI_Recv(&size, 1, MPI_UINT64_T, from, 0, comm, MPI_STATUS_IGNORE);
  std::vector<std::byte> bytes(size);
  for (std::size_t first = 0; first < size; first += kMaxBytes) {
    MPI_Recv(&bytes[first], static_cast<int>(std::min(kMaxBytes, bytes.size() - first)), MPI_BYTE, from, 0, comm, MPI_STATUS_IGNORE);
  }
  return bytes;
}

// A result that merges, as bytes: up a binomial tree to rank 0, and from there to all.
template <class Part>
Part reduce_bytes(Part part, MPI_Comm comm) {
  const int rank = rank_of(comm), ranks = size_of(comm);
  std::exception_ptr own;
  bool failed = false;
  for (int step = 1; step < ranks; step *= 2) {
    if ((rank & step) != 0) {
      send(failed ? std::vector<std::byte>() : part.serialize(), rank - step, comm);
      break;
    }
    if (rank + step >= ranks) continue;
    const std::vector<std::byte> more = receive(rank + step, comm);
    failed = failed || more.empty();
    if (failed) continue;
    try {
      part.merge(Part::deserialize(more));
    } catch (...) {
      own = std::current_exception();
      failed = true;
    }
  }
  std::vector<std::byte> all = rank == 0 && !failed ? part.serialize() : std::vector<std::byte>();
  std::uint64_t size = all.size();
  MPI_Bcast(&size, 1, MPI_UINT64_T, 0, comm);
  if (own) std::rethrow_exception(own);
  if (size == 0) throw Error(ErrorKind::no_answer, "the parts of all ranks cannot be merged: see the error of one of them");
  all.resize(size);
  for (std::size_t first = 0; first < size; first += kMaxBytes) {
    MPI_Bcast(&all[first], static_cast<int>(std::min(kMaxBytes, all.size() - first)), MPI_BYTE, 0, comm);
  }
  return rank == 0 ? part : Part::deserialize(all);
}

inline bool has_extrema(const Statistics& part) { return part.contents().fields.extrema; }

}  // namespace detail

/// The merged sum, sum of products, or histogram of all ranks' parts; histograms must have the same bins on all ranks. One MPI_Allreduce of
/// 15 integers of 64 bits (a sum; two more calls if these do not hold it), of kWords + 2 (a sum of products), of 2 * (bins + 3) + 2 (a
/// histogram).
inline Accumulator all_reduce(const Accumulator& part, MPI_Comm comm) {
  Accumulator sum = part;
  detail::reduce_sum(sum, nullptr, comm);
  return sum;
}
inline ProductAccumulator all_reduce(const ProductAccumulator& part, MPI_Comm comm) {
  return detail::reduce_words(
      ProductAccumulator(), [&] { return part; }, comm);
}
inline Histogram all_reduce(const Histogram& part, MPI_Comm comm) {
  return detail::reduce_words(
      Histogram(part.bins()), [&] { return part; }, comm);
}
/// The same of statistics, which must have the same fields on all ranks. With extrema it is one MPI_Allreduce of 1 KiB by an operation that
/// deserializes and merges, O(log ranks) times; indices are those in the array of the whole. Without, one of kWords + 2 integers.
inline Statistics all_reduce(const Statistics& part, MPI_Comm comm) {
  if (detail::has_extrema(part)) return detail::reduce_blobs([&] { return part; }, comm);
  return detail::reduce_words(
      Statistics(), [&] { return part; }, comm);
}

/// The same of sums of groups, and of histograms over several axes, with weights or without: as bytes up a binomial tree and down again, 2
/// log2(ranks) messages deep. Groups and axes must be the same on all ranks; of bins the edges are kept, as by deserialize().
/// @throws Error on all ranks if parts cannot be merged.
inline GroupSums all_reduce(const GroupSums& part, MPI_Comm comm) { return detail::reduce_bytes(part, comm); }
inline HistogramNd all_reduce(const HistogramNd& part, MPI_Comm comm) { return detail::reduce_bytes(part, comm); }
inline WeightedHistogram all_reduce(const WeightedHistogram& part, MPI_Comm comm) { return detail::reduce_bytes(part, comm); }

/// Many sums at once, each replaced by that of all ranks: parts[i] of all ranks is merged. All ranks have as many. Two calls of
/// MPI_Allreduce: one of 16 bytes finds the words that any sum needs, the other has only these (SumMessage): for sums of float64 of similar
/// magnitudes about 5 of each.
inline void all_reduce(std::span<Accumulator> parts, MPI_Comm comm) { detail::reduce_sums(parts, comm); }

/// A merge that is under way: start_all_reduce() returns at once, and wait() gives the merged part. It must be waited for, by all ranks.
template <class Part>
class Pending {
 public:
  Pending(const Part& part, MPI_Comm comm) : empty_(part), words_(detail::message(part.words(), false, comm)), comm_(comm) {
    MPI_Iallreduce(MPI_IN_PLACE, words_.data(), static_cast<int>(words_.size()), MPI_INT64_T, MPI_SUM, comm, &request_);
  }
  Pending(Pending&& other) noexcept
      : empty_(std::move(other.empty_)),
        words_(std::move(other.words_)),
        comm_(other.comm_),
        request_(std::exchange(other.request_, MPI_REQUEST_NULL)) {}
  Pending& operator=(Pending&&) = delete;
  /// Waits, unless wait() was called.
  ~Pending() {
    if (request_ != MPI_REQUEST_NULL) MPI_Wait(&request_, MPI_STATUS_IGNORE);
  }

  /// Whether wait() would return at once.
  bool is_ready() {
    int flag = 0;
    MPI_Test(&request_, &flag, MPI_STATUS_IGNORE);
    return flag != 0;
  }
  /// @throws Error (no_answer) if there are more than 2^64 - 1 elements.
  Part wait() {
    MPI_Wait(&request_, MPI_STATUS_IGNORE);
    detail::check(words_, nullptr, comm_);
    return detail::from_words(empty_, std::span<const std::int64_t>(words_).first(words_.size() - 2));
  }

 private:
  Part empty_;
  std::vector<std::int64_t> words_;
  MPI_Comm comm_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};
/// The same of statistics, with extrema or without.
template <>
class Pending<Statistics> {
 public:
  Pending(const Statistics& part, MPI_Comm comm)
      : reduction_(std::make_unique<detail::BlobReduction>([&]() -> const Statistics& { return part; }, comm)),
        request_(reduction_->start()) {}
  Pending(Pending&& other) noexcept : reduction_(std::move(other.reduction_)), request_(std::exchange(other.request_, MPI_REQUEST_NULL)) {}
  Pending& operator=(Pending&&) = delete;
  /// Waits, unless wait() was called.
  ~Pending() {
    if (request_ != MPI_REQUEST_NULL) MPI_Wait(&request_, MPI_STATUS_IGNORE);
  }

  /// Whether wait() would return at once.
  bool is_ready() {
    int flag = 0;
    MPI_Test(&request_, &flag, MPI_STATUS_IGNORE);
    return flag != 0;
  }
  /// @throws Error (no_answer) if there are more than 2^64 - 1 elements.
  Statistics wait() {
    MPI_Wait(&request_, MPI_STATUS_IGNORE);
    return reduction_->result();
  }

 private:
  std::unique_ptr<detail::BlobReduction> reduction_;
  MPI_Request request_;
};

/// Of an Accumulator, a ProductAccumulator, a Histogram, or Statistics.
template <class Part>
Pending<Part> start_all_reduce(const Part& part, MPI_Comm comm) {
  return Pending<Part>(part, comm);
}

/// As samesum::accumulate() and samesum::sum() of the array of the whole: round() or take the integer; the sum rounded to a double.
inline Accumulator accumulate(const Array& data, MPI_Comm comm, const Options& options = {}) {
  return detail::sum_of([&] { return samesum::accumulate(data, options); }, comm);
}
inline double sum(const Array& data, MPI_Comm comm, const Options& options = {}) {
  return accumulate(data, comm, options).round(options.nan);
}

/// As samesum::dot(). Each rank has the same elements of both arrays.
inline ProductAccumulator dot(const Array& a, const Array& b, MPI_Comm comm, const Options& options = {}) {
  return detail::reduce_words(
      ProductAccumulator(), [&] { return samesum::dot(a, b, options); }, comm);
}

/// As samesum::collect(): several statistics in one pass; the indices of extrema are those in the array of the whole.
inline Statistics collect(const Array& data, const Fields& fields, MPI_Comm comm, const Options& options = {}) {
  const auto part = [&] { return samesum::collect(data, fields, options); };
  return fields.extrema ? detail::reduce_blobs(part, comm) : detail::reduce_words(Statistics(), part, comm);
}

/// As the functions of the same names in samesum/reduce.hpp.
inline double mean(const Array& data, MPI_Comm comm, const Options& options = {}) {
  return collect(data, {.extrema = false, .sum = true, .squares = false}, comm, options).mean(options.nan);
}
inline double variance(const Array& data, MPI_Comm comm, std::uint64_t ddof = 0, const Options& options = {}) {
  return collect(data, {.extrema = false, .sum = true, .squares = true}, comm, options).variance(ddof, options.nan);
}
inline double standard_deviation(const Array& data, MPI_Comm comm, std::uint64_t ddof = 0, const Options& options = {}) {
  return collect(data, {.extrema = false, .sum = true, .squares = true}, comm, options).standard_deviation(ddof, options.nan);
}
inline double squared_norm(const Array& data, MPI_Comm comm, const Options& options = {}) {
  return collect(data, {.extrema = false, .sum = false, .squares = true}, comm, options).squared_norm(options.nan);
}
inline double norm(const Array& data, MPI_Comm comm, const Options& options = {}) {
  return collect(data, {.extrema = false, .sum = false, .squares = true}, comm, options).norm(options.nan);
}
inline Extremum min(const Array& data, MPI_Comm comm, const Options& options = {}) {
  return collect(data, {.extrema = true, .sum = false, .squares = false}, comm, options).min(options.nan);
}
inline Extremum max(const Array& data, MPI_Comm comm, const Options& options = {}) {
  return collect(data, {.extrema = true, .sum = false, .squares = false}, comm, options).max(options.nan);
}

/// As samesum::histogram(), with the same bins on all ranks.
inline Histogram histogram(const Array& data, const Bins& bins, MPI_Comm comm, const Options& options = {}) {
  return detail::reduce_words(
      Histogram(bins), [&] { return samesum::histogram(data, bins, options); }, comm);
}

}  // namespace samesum::mpi

#include <samesum/mpi_product.hpp>
