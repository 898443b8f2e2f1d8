#include "io/text_source.hpp"

#include "io/pipeline.hpp"
#include "io/text.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace samesum::io {
namespace {

class TextSource final : public Source {
 public:
  TextSource(std::unique_ptr<ByteStream> stream, const TextOptions& options, std::uint32_t threads, bool allow_empty)
      : stream_(std::move(stream)),
        allow_empty_(allow_empty),
        reader_([this](std::span<char> into) { return stream_->read(std::as_writable_bytes(into)); }, options),
        pipeline_(
            threads, [this](TextBlock& block) { return reader_.fill(block); }, [this](TextBlock& block) { reader_.parse(block); },
            [this] { stream_->cancel(); }) {}

  std::optional<View> next() override {
    for (;;) {
      if (given_ < views_.size()) {
        if (const View view = views_[given_++]; view.size() != 0) {
          any_ = true;
          return view;
        }
        continue;
      }
      const TextBlock* block = pipeline_.next();
      if (block == nullptr) {
        if (!stream_->unchanged()) refuse("was changed while it was being read: run again");
        if (!any_ && missing_ == 0 && !allow_empty_) refuse("there is no number in it (--allow-empty says that there need not be one)");
        return std::nullopt;
      }
      take(*block);
    }
  }
  std::string_view format() const noexcept override { return "text"; }
  std::string part() const override { return column_text_; }
  std::uint64_t missing() const noexcept override { return missing_; }
  std::uint64_t bytes() const noexcept override { return stream_->size(); }
  std::uint64_t bytes_read() const noexcept override { return stream_->bytes_read(); }

 private:
  [[noreturn]] void refuse(std::string_view message) const {
    throw Error(ErrorKind::usage, fmt::format("{}: {}", stream_->name(), message));
  }

  // "x.txt:3:7: …", by the place of a character of `block`.
  [[noreturn]] void refuse(const TextBlock& block, std::size_t offset, std::string_view message) const {
    const std::string_view before(block.text.get(), offset);
    const std::size_t line_end = before.rfind('\n');
    const std::uint64_t column = line_end == std::string_view::npos ? column_ + offset : offset - line_end - 1;
    throw Error(ErrorKind::usage, fmt::format("{}:{}:{}: {}", stream_->name(),
                                              line_ + static_cast<std::uint64_t>(std::ranges::count(before, '\n')), column + 1, message));
  }

  void take(const TextBlock& block) {
    // Which separators a text has is known only once all of it has been read.
    comma_ = comma_ || block.comma;
    semicolon_ = semicolon_ || block.semicolon;
    if (comma_ && semicolon_) {
      const std::size_t place = block.comma && block.semicolon ? std::max(*block.comma, *block.semicolon)
                                : block.comma                  ? *block.comma
                                                               : *block.semicolon;
      refuse(block, place, "both commas and semicolons divide numbers; decimal commas are not read");
    }
    if (block.error) refuse(block, block.error->offset, block.error->message);
    missing_ += block.missing;
    if (column_text_.empty()) column_text_ = reader_.column_text();
    line_ += block.line_ends;
    column_ = block.line_ends == 0 ? column_ + block.end : block.end - std::string_view(block.text.get(), block.end).rfind('\n') - 1;
    views_ = {View(block.numbers.integers()), View(block.numbers.large()), View(block.numbers.reals())};
    given_ = 0;
  }

  std::unique_ptr<ByteStream> stream_;
  const bool allow_empty_;
  bool any_ = false;  // there was a number
  TextReader reader_;
  std::array<View, 3> views_ = {View(nullptr, 0, DType::int64), View(nullptr, 0, DType::uint64), View(nullptr, 0, DType::float64)};
  std::string column_text_;
  std::size_t given_ = 3;     // of the views
  std::uint64_t line_ = 1;    // in which the next block begins,
  std::uint64_t column_ = 0;  // and characters of it that came before
  std::uint64_t missing_ = 0;
  bool comma_ = false, semicolon_ = false;
  Pipeline<TextBlock> pipeline_;  // last: its threads use the others
};

}  // namespace

std::unique_ptr<Source> text_source(std::unique_ptr<ByteStream> stream, const TextOptions& options, std::uint32_t threads,
                                    bool allow_empty) {
  return std::make_unique<TextSource>(std::move(stream), options, threads, allow_empty);
}

}  // namespace samesum::io
