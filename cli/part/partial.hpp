// Files of partial results: of whole inputs, in the library's own forms; and of parts of inputs, which say what they are a part of.
#pragma once

#include "compute/pair_values.hpp"
#include "group/grouped.hpp"
#include "output/number.hpp"
#include "output/output_file.hpp"

#include <samesum/accumulator.hpp>
#include <samesum/histogram.hpp>
#include <samesum/product_accumulator.hpp>
#include <samesum/statistics.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace samesum::cli {

/// A result that merges.
using PartialResult = std::variant<Accumulator, ProductAccumulator, Statistics, Histogram, Grouped, PairValues>;

/// "partial sum", "histogram" ...
std::string_view kind_of(const PartialResult& result);

constexpr std::uint64_t kMaxParts = std::uint64_t{1} << 20;

/// What a partial result is a part of: the file's header.
struct PartOf {
  Json work;                               ///< the command, its files, and what decides its result: the same in all parts
  Json print = Json::object();             ///< how the answer is to be printed
  std::uint64_t part = 1, parts = 1;       ///< counted from 1
  std::optional<std::uint64_t> done = {};  ///< of a checkpoint: the elements of the part that were added up
};

struct Partial {
  PartialResult result;
  std::optional<PartOf> of;  ///< none: of whole inputs
};

/// The bytes of a file: the library's form where there is no header, else magic, version, length of the header, header (JSON), the
/// library's form, XXH3-64 of all before.
std::vector<std::byte> bytes_of(const Partial& partial);

/// XXH3-64.
std::uint64_t hash_of(std::span<const std::byte> bytes, std::uint64_t seed = 0) noexcept;

/// The output file for a partial result.
class PartialTarget : public OutputFile {
 public:
  using OutputFile::OutputFile;
  void save(Output& out, const Partial& partial) const { write(out, {bytes_of(partial)}); }
  void save(Output& out, const Accumulator& sum) const { write(out, {sum.serialize()}); }
};

/// The partial result in the file `path`, which may be a pipe; "-" is standard input.
/// @throws Error (usage) for what is none, truncated or damaged; the message begins with the path.
Partial load_partial(const std::string& path);

}  // namespace samesum::cli
