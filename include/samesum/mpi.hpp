// Reductions over the ranks of an MPI communicator: a header over the caller's own MPI, which libsamesum itself does not use.
//
//   const double total = samesum::mpi::sum(samesum::Array(local), MPI_COMM_WORLD);
//
// Every function here is collective: all ranks of the communicator call it, with the same operation, and all get the same result. The array
// of the whole is that of the ranks one after the other: rank 0's elements first. A rank may have none. The bits of a result depend neither
// on the number of ranks nor on which rank has which elements (of products and indices: as long as the order of all elements is the same),
// and a rank may compute its part on any device.
//
// An exact sum is a vector of integers (Accumulator::words()), so that one MPI_Allreduce of MPI_INT64_T with MPI_SUM merges the parts of up
// to 2^20 ranks; networks that add up integers do it in hardware.
//
// Errors: where a rank fails to compute its part, it still takes part in the communication and then throws its own error; the others throw
// Error (no_answer), which names the rank. Errors of MPI itself are left to the communicator's error handler.
#pragma once

#include <samesum/accumulator.hpp>
#include <samesum/array.hpp>
#include <samesum/error.hpp>
#include <samesum/histogram.hpp>
#include <samesum/product_accumulator.hpp>
#include <samesum/reduce.hpp>
#include <samesum/statistics.hpp>
#include <samesum/sum.hpp>

#include <mpi.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <exception>
#include <limits>
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

// A part that is computed by `make`, merged with those of the other ranks; `empty` stands for it where it fails.
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

// Statistics with extrema, which are no integers to be added up: serialized, and merged by an operation that does not commute.
struct Blob {
  static constexpr std::size_t kBytes = 4096;
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

template <class Make>
Statistics reduce_blobs(const Make& make, MPI_Comm comm) {
  std::exception_ptr own;
  Blob blob{};
  try {
    blob.set(make());
  } catch (...) {
    own = std::current_exception();
    blob.failures = 1;
    blob.ranks = rank_of(comm);
  }
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(static_cast<int>(sizeof(Blob)), MPI_BYTE, &type);
  MPI_Type_commit(&type);
  MPI_Op merge = MPI_OP_NULL;
  MPI_Op_create(&Blob::merge, 0, &merge);
  MPI_Allreduce(MPI_IN_PLACE, &blob, 1, type, merge, comm);
  MPI_Op_free(&merge);
  MPI_Type_free(&type);
  if (own) std::rethrow_exception(own);
  if (blob.failures == std::numeric_limits<std::int32_t>::max()) throw Error(ErrorKind::no_answer, "the statistics of all ranks cannot be merged");
  if (blob.failures != 0) refuse(blob.failures, blob.ranks, comm);
  return blob.get();
}

inline bool has_extrema(const Statistics& part) { return part.contents().fields.extrema; }

}  // namespace detail

/// The merged sum, sum of products, or histogram of all ranks' parts; histograms must have the same bins on all ranks. One MPI_Allreduce of
/// kWords (a histogram: 2 * (bins + 3)) + 2 integers of 64 bits.
inline Accumulator all_reduce(const Accumulator& part, MPI_Comm comm) {
  return detail::reduce_words(Accumulator(), [&] { return part; }, comm);
}
inline ProductAccumulator all_reduce(const ProductAccumulator& part, MPI_Comm comm) {
  return detail::reduce_words(ProductAccumulator(), [&] { return part; }, comm);
}
inline Histogram all_reduce(const Histogram& part, MPI_Comm comm) {
  return detail::reduce_words(Histogram(part.bins()), [&] { return part; }, comm);
}
/// The same of statistics, which must have the same fields on all ranks. With extrema it is one MPI_Allreduce of 4 KiB by an operation that
/// deserializes and merges, O(log ranks) times; indices are those in the array of the whole. Without, one of kWords + 2 integers.
inline Statistics all_reduce(const Statistics& part, MPI_Comm comm) {
  if (detail::has_extrema(part)) return detail::reduce_blobs([&] { return part; }, comm);
  return detail::reduce_words(Statistics(), [&] { return part; }, comm);
}

/// Many sums at once, each replaced by that of all ranks: parts[i] of all ranks is merged. All ranks have as many. Two calls of
/// MPI_Allreduce: one of 16 bytes finds the words that any sum uses, the other has only these.
inline void all_reduce(std::span<Accumulator> parts, MPI_Comm comm) {
  constexpr std::size_t kWords = Accumulator::kWords;
  static_assert(kWords <= 128);
  std::vector<std::array<std::int64_t, kWords>> words(parts.size());
  std::array<std::uint64_t, 2> used{};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    words[i] = parts[i].words();
    for (std::size_t k = 0; k < kWords; ++k) used[k / 64] |= std::uint64_t{words[i][k] != 0} << k % 64;
  }
  MPI_Allreduce(MPI_IN_PLACE, used.data(), 2, MPI_UINT64_T, MPI_BOR, comm);
  std::vector<std::size_t> positions;
  for (std::size_t k = 0; k < kWords; ++k) {
    if (used[k / 64] >> k % 64 & 1) positions.push_back(k);
  }
  std::vector<std::int64_t> message(positions.size() * parts.size());
  constexpr std::size_t kMost = std::size_t{1} << 30;  // integers of a call: MPI counts by int
  for (std::size_t k = 0; k < positions.size(); ++k) {
    for (std::size_t i = 0; i < parts.size(); ++i) message[i * positions.size() + k] = words[i][positions[k]];
  }
  for (std::size_t first = 0; first < message.size(); first += kMost) {
    MPI_Allreduce(MPI_IN_PLACE, &message[first], static_cast<int>(std::min(kMost, message.size() - first)), MPI_INT64_T, MPI_SUM, comm);
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (std::size_t k = 0; k < positions.size(); ++k) words[i][positions[k]] = message[i * positions.size() + k];
    parts[i] = Accumulator::from_words(words[i]);
  }
}

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
  /// Waits, where nobody has.
  ~Pending() {
    if (request_ != MPI_REQUEST_NULL) MPI_Wait(&request_, MPI_STATUS_IGNORE);
  }

  /// Whether wait() would return at once.
  bool is_ready() {
    int flag = 0;
    MPI_Test(&request_, &flag, MPI_STATUS_IGNORE);
    return flag != 0;
  }
  /// @throws Error (no_answer) where there are more than 2^64 - 1 elements.
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
/// Of an Accumulator, a ProductAccumulator, a Histogram, or Statistics without extrema (Error (usage) else).
template <class Part>
Pending<Part> start_all_reduce(const Part& part, MPI_Comm comm) {
  return Pending<Part>(part, comm);
}

/// As samesum::accumulate() and samesum::sum() of the array of the whole: round() or take the integer; the sum rounded to a double.
inline Accumulator accumulate(const Array& data, MPI_Comm comm, const Options& options = {}) {
  return detail::reduce_words(Accumulator(), [&] { return samesum::accumulate(data, options); }, comm);
}
inline double sum(const Array& data, MPI_Comm comm, const Options& options = {}) { return accumulate(data, comm, options).round(options.nan); }

/// As samesum::dot(). Each rank has the same elements of both arrays.
inline ProductAccumulator dot(const Array& a, const Array& b, MPI_Comm comm, const Options& options = {}) {
  return detail::reduce_words(ProductAccumulator(), [&] { return samesum::dot(a, b, options); }, comm);
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
  return detail::reduce_words(Histogram(bins), [&] { return samesum::histogram(data, bins, options); }, comm);
}

namespace detail {

// The root of a subtree of 2^level leaves.
struct Node {
  double root = 1;
  std::int64_t level = 0;
};

// The largest aligned subtrees of the leaves that a rank has, from `first` on.
inline std::vector<Node> nodes_of(const Array& data, std::uint64_t first, const Options& options) {
  std::vector<Node> nodes;
  const Array flat = data.rank() == 1 ? data : data.reshaped({data.size()});
  for (std::uint64_t done = 0; done < data.size();) {
    const int aligned = first + done == 0 ? 63 : std::countr_zero(first + done);
    const int level = std::min(aligned, static_cast<int>(std::bit_width(data.size() - done)) - 1);
    const std::uint64_t count = std::uint64_t{1} << level;
    nodes.push_back({product(flat.slice(0, done, count), options).as_double(), level});
    done += count;
  }
  return nodes;
}

// The root of the tree over all nodes, each rounded to Real (core's balanced tree over the index).
template <class Real>
double root_of(const std::vector<Node>& nodes) {
  std::vector<Node> pending;
  const auto times = [](double a, double b) { return double{static_cast<Real>(a) * static_cast<Real>(b)}; };
  for (Node node : nodes) {
    for (; !pending.empty() && pending.back().level == node.level; pending.pop_back()) {
      node = {times(pending.back().root, node.root), node.level + 1};
    }
    pending.push_back(node);
  }
  if (pending.empty()) return 1;
  double root = pending.back().root;
  for (std::size_t i = pending.size() - 1; i-- > 0;) root = times(pending[i].root, root);
  return root == root ? root : std::numeric_limits<double>::quiet_NaN();  // the canonical one
}

}  // namespace detail

/// As samesum::product() of floats: by the fixed tree over the index in the array of the whole, of which each rank computes whole subtrees;
/// those (16 bytes for each of at most 2 log2 n) are gathered by all ranks. @throws Error (usage) for integers, whose parts may not fit where
/// the whole does.
inline double product(const Array& data, MPI_Comm comm, const Options& options = {}) {
  // First the number of elements, whether the type is the same everywhere, and whether it is one of floats.
  std::array<std::int64_t, 3> mine{static_cast<std::int64_t>(data.size()), static_cast<std::int64_t>(data.type()), is_integer(data.type())};
  const auto ranks = static_cast<std::size_t>(detail::size_of(comm));
  std::vector<std::int64_t> all(3 * ranks);
  MPI_Allgather(mine.data(), 3, MPI_INT64_T, all.data(), 3, MPI_INT64_T, comm);
  std::uint64_t first = 0;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    if (all[3 * rank + 2] != 0) throw Error(ErrorKind::usage, "the product of integers over several ranks: their parts may not fit 64 bits");
    if (all[3 * rank + 1] != all[1]) throw Error(ErrorKind::usage, "the ranks have elements of different types");
    if (static_cast<int>(rank) < detail::rank_of(comm)) first += static_cast<std::uint64_t>(all[3 * rank]);
  }
  std::vector<detail::Node> nodes;
  std::exception_ptr own;
  try {
    nodes = detail::nodes_of(data, first, options);
  } catch (...) {
    own = std::current_exception();
    nodes.clear();
  }
  int bytes = own ? -1 : static_cast<int>(nodes.size() * sizeof(detail::Node));
  std::vector<int> sizes(ranks), places(ranks);
  MPI_Allgather(&bytes, 1, MPI_INT, sizes.data(), 1, MPI_INT, comm);
  if (own) std::rethrow_exception(own);
  const auto failed = std::find(sizes.begin(), sizes.end(), -1);
  if (failed != sizes.end()) detail::refuse(std::count(sizes.begin(), sizes.end(), -1), failed - sizes.begin(), comm);
  int total = 0;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    places[rank] = total;
    total += sizes[rank];
  }
  std::vector<detail::Node> gathered(static_cast<std::size_t>(total) / sizeof(detail::Node));
  MPI_Allgatherv(nodes.data(), bytes, MPI_BYTE, gathered.data(), sizes.data(), places.data(), MPI_BYTE, comm);
  return data.type() == DType::float64 ? detail::root_of<double>(gathered) : detail::root_of<float>(gathered);
}

}  // namespace samesum::mpi
