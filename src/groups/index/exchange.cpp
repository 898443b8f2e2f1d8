// Sums of groups to and from bytes (docs/accumulator-format.md) and words that merge by addition.
#include "core/float_environment.hpp"
#include "exact/serialized.hpp"
#include "exact/words.hpp"
#include "groups/index/group_state.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

namespace samesum {
namespace {

constexpr std::uint16_t kVersion = 1;
constexpr std::size_t kHeaderBytes = 40;
constexpr std::uint64_t kSquares = 1, kExtrema = 2, kIgnoreOutside = 4;
constexpr std::size_t kMoreWords = 5;  // elements outside; whether there are unsigned, signed integers, floats

using groups::Kind;
using groups::Table;

// The four numbers of a group's extrema, as bits.
std::array<std::uint64_t, 4> bits_of(const Table::Extrema& extrema) {
  return {std::bit_cast<std::uint64_t>(extrema.min.high), static_cast<std::uint64_t>(extrema.min.low),
          std::bit_cast<std::uint64_t>(extrema.max.high), static_cast<std::uint64_t>(extrema.max.low)};
}

std::size_t words_of_group(const GroupOptions& options) { return Accumulator::kWords + (options.squares ? ProductAccumulator::kWords : 0); }

}  // namespace

// Of each group the forms of its sum and of its squares, each behind its size, and the extrema; of a group without elements a size of 0.
std::vector<std::byte> GroupSums::serialize() const {
  const core::DefaultFloatEnvironment environment;
  const State& state = *state_;
  state.require_counts();
  const Table& table = state.host();
  std::vector<std::byte> body;
  const auto put = [&body](std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) body.push_back(static_cast<std::byte>(value >> (8 * i)));
  };
  const auto put_form = [&](const std::vector<std::byte>& form) {
    put(form.size(), 2);
    body.insert(body.end(), form.begin(), form.end());
  };
  for (std::uint64_t group = 0; group < groups(); ++group) {
    if (table.count(group) == 0) {
      put(0, 2);
      continue;
    }
    put_form(table.sum(group, state.kind).serialize());
    if (state.options.squares) put_form(table.squares(group).serialize());
    if (!state.options.extrema) continue;
    for (const std::uint64_t bits : bits_of(table.extrema(group))) put(bits, 8);
  }
  exact::Writer writer(exact::kGroupsForm, kVersion, kHeaderBytes + body.size() + exact::kChecksumBytes);
  writer.put(
      (state.options.squares ? kSquares : 0) | (state.options.extrema ? kExtrema : 0) | (state.options.ignore_outside ? kIgnoreOutside : 0),
      2);
  writer.put(static_cast<std::uint64_t>(state.kind), 4);
  for (const std::uint64_t field : {groups(), state.outside, std::uint64_t{body.size()}}) writer.put(field, 8);
  writer.put(body);
  return writer.finish();
}

GroupSums GroupSums::deserialize(std::span<const std::byte> bytes) {
  const core::DefaultFloatEnvironment environment;
  exact::Reader reader(exact::kGroupsForm, kVersion, bytes, kHeaderBytes);
  const std::uint64_t flags = reader.take(2), kind = reader.take(4), groups = reader.take(8), outside = reader.take(8);
  std::uint64_t left = reader.take(8);
  if (left > bytes.size()) left = bytes.size();  // expect() tells how many there should be
  reader.expect(kHeaderBytes + left + exact::kChecksumBytes);
  if (groups > left / 2 || kind > static_cast<std::uint64_t>(Kind::floats)) reader.contradiction();  // before memory is allocated for them
  const auto take = [&](std::uint64_t count) {
    if (count > left) reader.contradiction();
    left -= count;
    return reader.take_bytes(count);
  };
  const auto take_number = [&](std::size_t size) {
    if (size > left) reader.contradiction();
    left -= size;
    return reader.take(size);
  };
  GroupOptions options;
  options.squares = (flags & kSquares) != 0;
  options.extrema = (flags & kExtrema) != 0;
  options.ignore_outside = (flags & kIgnoreOutside) != 0;
  GroupSums result(groups, options);
  State& state = *result.state_;
  Table& table = state.change();
  state.kind = static_cast<Kind>(kind);
  state.outside = outside;
  for (std::uint64_t group = 0; group < groups; ++group) {
    const std::uint64_t size = take_number(2);
    if (size == 0) continue;
    const Accumulator sum = Accumulator::deserialize(take(size));
    if (options.squares) {
      const ProductAccumulator squares = ProductAccumulator::deserialize(take(take_number(2)));
      table.assign(group, sum, &squares);
      // The sum and the squares of the same elements, or an error.
      static_cast<void>(Statistics::deserialize(state.statistics(group).serialize()));
    } else {
      table.assign(group, sum, nullptr);
    }
    if (!options.extrema) continue;
    Table::Extrema extrema;
    extrema.min.high = std::bit_cast<double>(take_number(8));
    extrema.min.low = static_cast<std::int64_t>(take_number(8));
    extrema.max.high = std::bit_cast<double>(take_number(8));
    extrema.max.low = static_cast<std::int64_t>(take_number(8));
    const bool none = table.count(group) == table.nans(group);
    if (none ? bits_of(extrema) != bits_of({}) : !Table::are_extrema(extrema, state.kind)) reader.contradiction();
    table.assign_extrema(group, extrema);
  }
  if (left != 0 || !std::ranges::equal(result.serialize(), bytes)) reader.contradiction();
  return result;
}

std::vector<std::int64_t> GroupSums::words() const {
  const core::DefaultFloatEnvironment environment;
  const State& state = *state_;
  state.require_counts();
  const Table& table = state.host();
  if (state.options.extrema && state.kind != Kind::none) {
    throw Error(ErrorKind::usage, "extrema are no sums, and have no words: keep none (GroupOptions::extrema), or serialize() and merge()");
  }
  std::vector<std::int64_t> words(groups() * words_of_group(state.options) + kMoreWords);
  exact::WordWriter writer(words);
  for (std::uint64_t group = 0; group < groups(); ++group) {
    writer.put_words(table.sum(group, state.kind).words());
    if (state.options.squares) writer.put_words(table.squares(group).words());
  }
  writer.put_count(state.outside);
  for (const Kind kind : {Kind::unsigned_integers, Kind::integers, Kind::floats}) writer.put_flag(state.kind == kind);
  return words;
}

GroupSums GroupSums::from_words(std::uint64_t groups, const GroupOptions& options, std::span<const std::int64_t> words) {
  const core::DefaultFloatEnvironment environment;
  const std::size_t of_group = words_of_group(options);
  if (words.size() < kMoreWords || (words.size() - kMoreWords) / of_group != groups || (words.size() - kMoreWords) % of_group != 0) {
    throw Error(ErrorKind::usage,
                fmt::format("the sums of {} groups have {} words; here are {}", groups, groups * of_group + kMoreWords, words.size()));
  }
  GroupOptions how = options;
  how.extrema = false;
  how.counts = true;
  GroupSums result(groups, how);
  State& state = *result.state_;
  Table& table = state.change();
  exact::WordReader reader(words);
  for (std::uint64_t group = 0; group < groups; ++group) {
    const Accumulator sum = Accumulator::from_words(reader.take_words<Accumulator::kWords>());
    if (!options.squares) {
      table.assign(group, sum, nullptr);
      continue;
    }
    const ProductAccumulator squares = ProductAccumulator::from_words(reader.take_words<ProductAccumulator::kWords>());
    if (squares.count() != sum.count()) exact::refuse_words();
    table.assign(group, sum, &squares);
  }
  state.outside = reader.take_count();
  for (const Kind kind : {Kind::unsigned_integers, Kind::integers, Kind::floats}) {
    if (reader.take_parts() != 0) state.kind = kind;
  }
  return result;
}

// Friends are exported only by an attribute on their definition.
SAMESUM_EXPORT bool operator==(const GroupSums& a, const GroupSums& b) {
  const GroupSums::State &x = *a.state_, &y = *b.state_;
  if (a.groups() != b.groups() || x.kind != y.kind || x.outside != y.outside || x.options.squares != y.options.squares ||
      x.options.extrema != y.options.extrema || x.options.counts != y.options.counts || x.options.ignore_outside != y.options.ignore_outside) {
    return false;
  }
  const groups::Table &of_a = x.host(), &of_b = y.host();
  for (std::uint64_t group = 0; group < a.groups(); ++group) {
    if (of_a.sum(group, x.kind) != of_b.sum(group, y.kind)) return false;
    if (x.options.squares && of_a.squares(group) != of_b.squares(group)) return false;
    if (x.options.extrema && bits_of(of_a.extrema(group)) != bits_of(of_b.extrema(group))) return false;
  }
  return true;
}

}  // namespace samesum
