#include "io/text/text_source.hpp"

#include "core/view.hpp"
#include "io/pipeline.hpp"
#include "io/text/text.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace samesum::io {
namespace {

class TextSource final : public Source {
 public:
  TextSource(std::unique_ptr<ByteStream> stream, const TextOptions& options, Layout layout, std::uint32_t threads, bool allow_empty)
      : stream_(std::move(stream)),
        allow_empty_(allow_empty),
        reader_([this](std::span<char> into) { return stream_->read(std::as_writable_bytes(into)); }, options, layout),
        pipeline_(
            threads, [this](TextBlock& block) { return reader_.fill(block); }, [this](TextBlock& block) { reader_.parse(block); },
            [this] { stream_->cancel(); }) {}

  std::optional<Array> next() override {
    while (block_ == nullptr || !next_chunk()) {
      block_ = pipeline_.next();
      if (block_ == nullptr) {
        if (!stream_->unchanged()) refuse("was changed while it was being read: run again");
        const bool words = std::ranges::any_of(columns_, [](const Column& column) { return column.words != 0; });
        if (!any_ && missing_ == 0 && !words && !allow_empty_)
          refuse("there is no number in it (--allow-empty says that there need not be one)");
        return std::nullopt;
      }
      take(*block_);
    }
    any_ = any_ || chunk_.size() != 0;
    if (!key_columns_.empty()) find_groups();
    return chunk_;
  }
  std::string_view format() const noexcept override { return "text"; }
  std::string part() const override { return columns_.size() == 1 ? text_of(columns_.front()) : ""; }
  std::span<const Column> columns() const override { return columns_; }
  std::size_t column() const noexcept override { return column_; }
  std::span<const std::uint64_t> groups() const override { return groups_; }
  std::uint64_t group_count() const noexcept override { return keys_.size(); }
  std::vector<std::string> key(std::uint64_t group) const override { return fields_of(keys_.at(group)); }
  std::span<const Column> key_columns() const override { return key_columns_; }
  std::uint64_t missing() const noexcept override { return missing_; }
  std::uint64_t missing_before(std::uint64_t index) const override {
    const Numbers& numbers = block_->columns[column_].numbers;
    return missing_of_[column_] - numbers.missing() + numbers.missing_before(static_cast<std::size_t>(before_chunk_ + index));
  }
  std::uint64_t bytes() const noexcept override { return stream_->size(); }
  std::uint64_t bytes_read() const noexcept override { return stream_->bytes_read(); }

 private:
  [[noreturn]] void refuse(std::string_view message) const {
    throw Error(ErrorKind::usage, fmt::format("{}: {}", stream_->name(), message));
  }

  // Advances to the next chunk of the block; false where there is none.
  bool next_chunk() {
    for (; column_ < block_->columns.size(); ++column_, next_ = 0, before_chunk_ = 0) {
      const std::span<const View> chunks = block_->columns[column_].numbers.chunks();
      if (next_ > 0) before_chunk_ += chunks[next_ - 1].size();
      if (next_ < chunks.size()) {
        chunk_ = chunks[next_++];
        return true;
      }
    }
    return false;
  }

  // The groups of the chunk's elements.
  void find_groups() {
    const Numbers& numbers = block_->columns[column_].numbers;
    groups_.resize(chunk_.size());
    for (std::uint64_t i = 0; i < groups_.size(); ++i) {
      const std::uint64_t index = before_chunk_ + i;
      const std::uint64_t row = numbers.missing() == 0 ? index : index + numbers.missing_before(static_cast<std::size_t>(index));
      groups_[i] = group_of_key_[block_->key_of_row[row]];
    }
  }

  std::uint64_t line_of(const TextBlock& block, std::size_t offset) const {
    return line_ + static_cast<std::uint64_t>(std::count(block.text.get(), block.text.get() + offset, '\n'));
  }

  // "x.txt:3:7: …", for the position of a character of `block`.
  [[noreturn]] void refuse(const TextBlock& block, std::size_t offset, std::string_view message) const {
    const std::string_view before(block.text.get(), offset);
    const std::size_t line_end = before.rfind('\n');
    const std::uint64_t place = line_end == std::string_view::npos ? line_offset_ + offset : offset - line_end - 1;
    throw Error(ErrorKind::usage, fmt::format("{}:{}:{}: {}", stream_->name(), line_of(block, offset), place + 1, message));
  }

  void take(const TextBlock& block, std::size_t i) {
    const TextColumn& read = block.columns[i];
    if (missing_of_.size() <= i) missing_of_.resize(i + 1);
    missing_of_[i] += read.numbers.missing();
    missing_ += read.numbers.missing();
    if (columns_.empty()) return;
    Column& column = columns_[i];
    column.missing = missing_of_[i];
    if (read.words != 0 && column.words == 0) {
      column.first_word = printable(std::string_view(block.text.get(), read.first_word_end).substr(read.first_word));
      column.first_line = line_of(block, read.first_word);
    }
    column.words += read.words;
  }

  void take(const TextBlock& block) {
    // The separators of a text are known only once all of it has been read.
    comma_ = comma_ || block.comma;
    semicolon_ = semicolon_ || block.semicolon;
    if (comma_ && semicolon_) {
      const std::size_t place = block.comma && block.semicolon ? std::max(*block.comma, *block.semicolon)
                                : block.comma                  ? *block.comma
                                                               : *block.semicolon;
      refuse(block, place, "both commas and semicolons divide numbers; for decimal commas say --decimal ,");
    }
    if (block.error) refuse(block, block.error->offset, block.error->message);
    if (columns_.empty() && !block.skipped) {
      columns_ = reader_.columns();
      key_columns_ = reader_.key_columns();
    }
    keys_.numbers_of(block.keys, group_of_key_);
    for (std::size_t i = 0; i < block.columns.size(); ++i) take(block, i);
    line_ += block.line_ends;
    line_offset_ =
        block.line_ends == 0 ? line_offset_ + block.end : block.end - std::string_view(block.text.get(), block.end).rfind('\n') - 1;
    column_ = next_ = 0;
    before_chunk_ = 0;
  }

  std::unique_ptr<ByteStream> stream_;
  const bool allow_empty_;
  bool any_ = false;  // whether there was a number
  TextReader reader_;
  std::vector<Column> columns_, key_columns_;
  KeyTable keys_;
  std::vector<std::uint64_t> group_of_key_;  // of the block's keys
  std::vector<std::uint64_t> groups_;        // of the chunk's elements
  const TextBlock* block_ = nullptr;
  View chunk_{nullptr, 0, DType::float64};
  std::size_t column_ = 0, next_ = 0;      // in the block: the current column, and its next chunk
  std::uint64_t before_chunk_ = 0;         // numbers of the column in the block before the chunk
  std::vector<std::uint64_t> missing_of_;  // for each column, up to the block's end
  std::uint64_t line_ = 1;                 // the line in which the next block begins,
  std::uint64_t line_offset_ = 0;          // and how many of its characters come before the block
  std::uint64_t missing_ = 0;
  bool comma_ = false, semicolon_ = false;
  Pipeline<TextBlock> pipeline_;  // last: its threads use the other members
};

}  // namespace

std::unique_ptr<Source> text_source(std::unique_ptr<ByteStream> stream, const TextOptions& options, Layout layout, std::uint32_t threads,
                                    bool allow_empty) {
  return std::make_unique<TextSource>(std::move(stream), options, layout, threads, allow_empty);
}

}  // namespace samesum::io
