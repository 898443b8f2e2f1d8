// Histograms of characters: all bytes are counted, then assigned to bins.
#include <samesum/error.hpp>
#include <samesum/histogram.hpp>

#include "core/float_environment.hpp"
#include "core/progress.hpp"
#include "core/reports.hpp"
#include "core/view.hpp"
#include "device/memory/run.hpp"
#include "histogram/count.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace samesum {
namespace {

constexpr std::size_t kMaxBins = std::numeric_limits<std::int16_t>::max();

}  // namespace

CharacterMap CharacterMap::bytes() {
  CharacterMap map;
  for (std::size_t i = 0; i < 256; ++i) {
    const char character = static_cast<char>(i);
    map.names.push_back(i > 32 && i < 127 ? std::string(1, character) : fmt::format("0x{:02x}", i));
    map.bin[i] = static_cast<std::int16_t>(i);
  }
  return map;
}

CharacterMap CharacterMap::letters(std::uint32_t group) {
  if (group < 1 || group > 26) throw Error(ErrorKind::usage, fmt::format("{} letters to a bin: it must be 1 to 26", group));
  CharacterMap map;
  map.bin.fill(kNone);
  for (std::uint32_t first = 0; first < 26; first += group) {
    const std::uint32_t last = std::min(first + group, 26u) - 1;
    const char from = static_cast<char>('a' + first), to = static_cast<char>('a' + last);
    for (char c = from; c <= to; ++c) {
      map.bin[static_cast<std::size_t>(c)] = map.bin[static_cast<std::size_t>(c - 'a' + 'A')] = static_cast<std::int16_t>(map.names.size());
    }
    map.names.push_back(first == last ? std::string(1, from) : fmt::format("{}-{}", from, to));
  }
  return map;
}

CharacterMap CharacterMap::of(const std::vector<std::string>& groups) {
  CharacterMap map;
  map.bin.fill(kNone);
  for (const std::string& group : groups) {
    for (const char c : group) {
      std::int16_t& bin = map.bin[static_cast<unsigned char>(c)];
      if (bin != kNone && bin != static_cast<std::int16_t>(map.names.size())) {
        throw Error(ErrorKind::usage, fmt::format("the byte 0x{:02x} is in two groups: '{}' and '{}'", static_cast<unsigned char>(c),
                                                  map.names[static_cast<std::size_t>(bin)], group));
      }
      bin = static_cast<std::int16_t>(map.names.size());
    }
    map.names.push_back(group);
    if (map.names.size() > kMaxBins)
      throw Error(ErrorKind::usage, fmt::format("{} groups of characters: there can be {}", groups.size(), kMaxBins));
  }
  return map;
}

CharacterCounts count_characters(std::string_view text, const CharacterMap& map, const Options& options) {
  const core::DefaultFloatEnvironment environment;
  for (std::size_t i = 0; i < 256; ++i) {
    if (map.bin[i] != CharacterMap::kNone && (map.bin[i] < 0 || static_cast<std::size_t>(map.bin[i]) >= map.names.size())) {
      throw Error(ErrorKind::usage, fmt::format("the byte 0x{:02x} is in bin {}: there are {} names of bins, and {} stands for none", i,
                                                map.bin[i], map.names.size(), CharacterMap::kNone));
    }
  }
  const View bytes(text.data(), text.size(), DType::uint8);
  const Device device = device::device_for(text.size(), options);
  std::vector<std::uint64_t> counted(256);
  core::Reports reports(options.report);
  core::ProgressParts(options, text.size(), device.info().has(Capability::kernels)).for_parts(bytes, [&](View part) {
    const std::vector<std::uint64_t> more = binning::count_bytes(part, 1, device, options.tuning, reports.next());
    for (std::size_t i = 0; i < 256; ++i) counted[i] += more[i];
    reports.add();
  });
  CharacterCounts result{map.names, std::vector<std::uint64_t>(map.names.size()), 0};
  for (std::size_t i = 0; i < 256; ++i) {
    (map.bin[i] == CharacterMap::kNone ? result.others : result.counts[static_cast<std::size_t>(map.bin[i])]) += counted[i];
  }
  return result;
}

}  // namespace samesum
