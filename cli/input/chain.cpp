#include "input/chain.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace samesum::cli {
namespace {

std::string list(std::span<const Column> columns) {
  constexpr std::size_t kMax = 12;
  std::string text;
  for (std::size_t i = 0; i < std::min(columns.size(), kMax); ++i) text += (i == 0 ? "" : ", ") + columns[i].label;
  return text.empty() ? "none" : columns.size() > kMax ? text + ", ..." : text;
}

}  // namespace

Chain::Chain(std::vector<NamedSource> sources) : sources_(std::move(sources)) {
  open_next();
  format_ = source_->format();
  type_ = source_->type();
}

void Chain::open_next() {
  source_ = opened_ < sources_.size() ? sources_[opened_++].open() : nullptr;
  known_ = false;
  if (source_ && source_->type() != type_) type_.reset();
}

std::optional<Array> Chain::next() {
  while (source_) {
    const std::optional<Array> chunk = source_->next();
    if (!std::exchange(known_, true)) take_columns();
    if (chunk) {
      count_ += chunk->size();
      return chunk;
    }
    add_facts();
    open_next();
  }
  return std::nullopt;
}

void Chain::take_columns() {
  const std::span<const Column> columns = source_->columns();
  if (opened_ == 1) {
    columns_.assign(columns.begin(), columns.end());
    for (Column& column : columns_) column.missing = column.words = 0;
    part_ = source_->part();
  } else if (!std::ranges::equal(columns, columns_, {}, &Column::label, &Column::label)) {
    throw Error(ErrorKind::usage, fmt::format("--total: {} and {} do not have the same columns: {}; {}", sources_.front().name,
                                              sources_[opened_ - 1].name, list(columns_), list(columns)));
  }
}

// Adds the properties of an input that are known once it has been read.
void Chain::add_facts() {
  missing_ += source_->missing();
  const std::span<const Column> columns = source_->columns();
  for (std::size_t i = 0; i < columns.size(); ++i) {
    columns_[i].missing += columns[i].missing;
    if (columns_[i].words == 0) {
      columns_[i].first_word = columns[i].first_word;
      columns_[i].first_line = columns[i].first_line;
    }
    columns_[i].words += columns[i].words;
  }
}

NamedSource as_one(std::vector<NamedSource> sources) {
  if (sources.size() == 1) return sources.front();
  return {fmt::format("{} files", sources.size()), [sources] { return std::make_unique<Chain>(sources); }};
}

std::uint64_t Chain::missing_before(std::uint64_t index) const {
  return (columns_.empty() ? missing_ : columns_[source_->column()].missing) + source_->missing_before(index);
}

}  // namespace samesum::cli
