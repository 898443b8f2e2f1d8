// Histograms, over one axis and over several, to and from bytes (docs/accumulator-format.md) and words that merge by addition.
#include "core/float_environment.hpp"
#include "exact/serialized.hpp"
#include "exact/words.hpp"
#include "histogram/count.hpp"
#include "histogram/nd/along_axis.hpp"

#include <samesum/error.hpp>
#include <samesum/histogram.hpp>
#include <samesum/histogram_nd.hpp>
#include <samesum/weighted_histogram.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

namespace samesum {
namespace {

constexpr std::uint16_t kVersion = 1;
constexpr std::size_t kHeaderBytes = 16;

// The size of the serialized form.
constexpr std::uint64_t form_bytes(std::uint64_t bins) { return kHeaderBytes + 8 * (bins + 1) + 8 * (bins + 3) + exact::kChecksumBytes; }

// Of histograms over several axes.
constexpr std::size_t kAxesHeaderBytes = 24;

// The axes in a form: of each its number of bins, and the edges; then what follows them.
std::uint64_t axes_bytes(const std::vector<Bins>& axes) {
  std::uint64_t bytes = 0;
  for (const Bins& bins : axes) bytes += 8 + 8 * (bins.count() + 1);
  return bytes;
}

exact::Writer begin(const exact::Form& form, const std::vector<Bins>& axes, std::uint64_t more) {
  const std::uint64_t size = axes_bytes(axes) + more;
  exact::Writer writer(form, kVersion, kAxesHeaderBytes + size + exact::kChecksumBytes);
  writer.put(0, 2);
  writer.put(axes.size(), 4);
  writer.put(size, 8);
  for (const Bins& bins : axes) {
    writer.put(bins.count(), 8);
    for (const double edge : bins.edges()) writer.put(std::bit_cast<std::uint64_t>(edge), 8);
  }
  return writer;
}

// A form after its beginning: all sizes are checked before memory is allocated.
class AxesReader {
 public:
  AxesReader(const exact::Form& form, std::span<const std::byte> bytes) : reader_(form, kVersion, bytes, kAxesHeaderBytes) {
    reader_.take(2);
    const std::uint64_t rank = reader_.take(4);
    left_ = std::min<std::uint64_t>(reader_.take(8), bytes.size());  // expect() tells how many there should be
    reader_.expect(kAxesHeaderBytes + left_ + exact::kChecksumBytes);
    for (std::uint64_t i = 0; i < rank; ++i) {
      const std::uint64_t count = take();
      if (count >= left_ / 8) reader_.contradiction();
      std::vector<double> edges(count + 1);
      for (double& edge : edges) edge = std::bit_cast<double>(take());
      try {
        axes_.push_back(Bins::between(std::move(edges)));
      } catch (const Error&) {
        reader_.contradiction();
      }
    }
  }
  const std::vector<Bins>& axes() const noexcept { return axes_; }
  std::uint64_t left() const noexcept { return left_; }
  std::uint64_t take() {
    if (left_ < 8) reader_.contradiction();
    left_ -= 8;
    return reader_.take(8);
  }
  std::span<const std::byte> rest() {
    const std::uint64_t size = std::exchange(left_, 0);
    return reader_.take_bytes(size);
  }
  [[noreturn]] void contradiction() const { reader_.contradiction(); }

 private:
  exact::Reader reader_;
  std::uint64_t left_ = 0;
  std::vector<Bins> axes_;
};

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

std::vector<std::byte> HistogramNd::serialize() const {
  exact::Writer writer = begin(exact::kHistogramNdForm, axes_, 8 * cells_.size());
  for (const std::uint64_t cell : cells_) writer.put(cell, 8);
  return writer.finish();
}

HistogramNd HistogramNd::deserialize(std::span<const std::byte> bytes) {
  const core::DefaultFloatEnvironment environment;
  AxesReader reader(exact::kHistogramNdForm, bytes);
  std::vector<std::uint64_t> cells(reader.left() / 8);
  for (std::uint64_t& cell : cells) cell = reader.take();
  std::optional<HistogramNd> result;
  try {
    result.emplace(reader.axes(), std::move(cells));
  } catch (const Error&) {
    reader.contradiction();
  }
  if (!std::ranges::equal(result->serialize(), bytes)) reader.contradiction();
  return *std::move(result);
}

std::vector<std::int64_t> HistogramNd::words() const {
  std::vector<std::int64_t> words(2 * cells_.size());
  exact::WordWriter writer(words);
  for (const std::uint64_t cell : cells_) writer.put_count(cell);
  return words;
}

HistogramNd HistogramNd::from_words(std::vector<Bins> axes, std::span<const std::int64_t> words) {
  std::vector<std::uint64_t> cells(binning::cell_count(axes, kMaxCells));
  if (words.size() != 2 * cells.size()) {
    throw Error(ErrorKind::usage, fmt::format("a histogram over these axes has {} words; here are {}", 2 * cells.size(), words.size()));
  }
  exact::WordReader reader(words);
  for (std::uint64_t& cell : cells) cell = reader.take_count();
  return {std::move(axes), std::move(cells)};
}

std::vector<std::byte> WeightedHistogram::serialize() const {
  const std::vector<std::byte> sums = sums_.serialize();
  exact::Writer writer = begin(exact::kWeightedForm, axes_, sums.size());
  writer.put(sums);
  return writer.finish();
}

WeightedHistogram WeightedHistogram::deserialize(std::span<const std::byte> bytes) {
  const core::DefaultFloatEnvironment environment;
  AxesReader reader(exact::kWeightedForm, bytes);
  GroupSums sums = GroupSums::deserialize(reader.rest());
  std::optional<WeightedHistogram> empty;
  try {
    empty.emplace(reader.axes(), sums.options().squares);
  } catch (const Error&) {
    reader.contradiction();
  }
  if (sums.groups() != empty->sums_.groups() || sums.options().extrema || sums.options().ignore_outside || sums.outside() != 0) {
    reader.contradiction();
  }
  WeightedHistogram result(reader.axes(), std::move(sums));
  if (!std::ranges::equal(result.serialize(), bytes)) reader.contradiction();
  return result;
}

std::vector<std::int64_t> WeightedHistogram::words() const { return sums_.words(); }

WeightedHistogram WeightedHistogram::from_words(std::vector<Bins> axes, std::span<const std::int64_t> words, bool squares) {
  GroupOptions options;
  options.squares = squares;
  GroupSums sums = GroupSums::from_words(binning::cell_count(axes, kMaxCells), options, words);
  return {std::move(axes), std::move(sums)};
}

}  // namespace samesum
