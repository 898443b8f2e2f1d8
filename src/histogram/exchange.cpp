// Histograms to and from bytes (docs/accumulator-format.md) and words that merge by addition.
#include "core/float_environment.hpp"
#include "exact/serialized.hpp"
#include "exact/words.hpp"
#include "histogram/count.hpp"

#include <samesum/error.hpp>
#include <samesum/histogram.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace samesum {
namespace {

constexpr std::uint16_t kVersion = 1;
constexpr std::size_t kHeaderBytes = 16;

// The size of the serialized form.
constexpr std::uint64_t form_bytes(std::uint64_t bins) { return kHeaderBytes + 8 * (bins + 1) + 8 * (bins + 3) + exact::kChecksumBytes; }

}  // namespace

std::vector<std::uint64_t> binning::slots_of(const Histogram& histogram) {
  std::vector<std::uint64_t> slots{histogram.under()};
  slots.reserve(histogram.counts().size() + 3);
  slots.insert(slots.end(), histogram.counts().begin(), histogram.counts().end());
  slots.insert(slots.end(), {histogram.over(), histogram.nan_count()});
  return slots;
}

std::vector<std::byte> Histogram::serialize() const {
  exact::Writer writer(exact::kHistogramForm, kVersion, form_bytes(bins_.count()));
  writer.put(0, 2);
  writer.put(bins_.count(), 4);
  for (const double edge : bins_.edges()) writer.put(std::bit_cast<std::uint64_t>(edge), 8);
  for (const std::uint64_t count : binning::slots_of(*this)) writer.put(count, 8);
  return writer.finish();
}

Histogram Histogram::deserialize(std::span<const std::byte> bytes) {
  const core::DefaultFloatEnvironment environment;
  exact::Reader reader(exact::kHistogramForm, kVersion, bytes, kHeaderBytes);
  reader.take(2);
  const std::uint64_t count = reader.take(4);
  reader.expect(form_bytes(count));  // before memory is allocated for them
  std::vector<double> edges(count + 1);
  for (double& edge : edges) edge = std::bit_cast<double>(reader.take(8));
  std::vector<std::uint64_t> slots(count + 3);
  for (std::uint64_t& slot : slots) slot = reader.take(8);
  std::optional<Histogram> result;
  try {
    result.emplace(Bins::between(std::move(edges)), slots);
  } catch (const Error&) {
    reader.contradiction();
  }
  if (!std::ranges::equal(result->serialize(), bytes)) reader.contradiction();
  return *std::move(result);
}

std::vector<std::int64_t> Histogram::words() const {
  std::vector<std::int64_t> words(2 * (counts_.size() + 3));
  exact::WordWriter writer(words);
  for (const std::uint64_t count : binning::slots_of(*this)) writer.put_count(count);
  return words;
}

Histogram Histogram::from_words(Bins bins, std::span<const std::int64_t> words) {
  std::vector<std::uint64_t> slots(bins.count() + 3);
  if (words.size() != 2 * slots.size()) {
    throw Error(ErrorKind::usage,
                fmt::format("a histogram over {} bins has {} words; here are {}", bins.count(), 2 * slots.size(), words.size()));
  }
  exact::WordReader reader(words);
  for (std::uint64_t& slot : slots) slot = reader.take_count();
  return {std::move(bins), slots};
}

}  // namespace samesum
