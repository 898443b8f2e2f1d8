#include "input/elements.hpp"

#include "input/text_matrix.hpp"
#include "output/number.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <optional>
#include <string_view>
#include <utility>

namespace samesum::cli {
namespace {

// A source over an array that is owned elsewhere.
class ViewSource final : public Source {
 public:
  ViewSource(Array view, std::string_view format) : view_(view), format_(format) {}
  std::optional<Array> next() override { return std::exchange(given_, true) ? std::nullopt : std::optional(view_); }
  std::string_view format() const noexcept override { return format_; }
  std::optional<DType> type() const noexcept override { return view_.type(); }
  std::vector<std::uint64_t> shape() const override { return {view_.size()}; }
  std::uint64_t resident_bytes() const noexcept override { return view_.bytes(); }

 private:
  Array view_;
  std::string_view format_;
  bool given_ = false;
};

}  // namespace

namespace {

std::unique_ptr<Source> open_all(const std::string& name, InputOptions options, TextLines& lines) {
  options.text.in_order = true;
  options.mapped = true;
  if (options.raw || options.text.columns.size() == 1) lines = TextLines::sequence;
  if (lines == TextLines::sequence) return open_source(name, options);
  options.text.table = options.text.columns.empty();
  return open_table(name, options);
}

}  // namespace

Elements::Elements(std::string name, InputOptions options, TextAs text, TextLines lines) : name_(std::move(name)) {
  names_columns_ = options.text.header.value_or(false) || !options.text.columns.empty();
  source_ = open_all(name_, std::move(options), lines);
  take(text, lines);
  if (const std::uint64_t missing = source_->missing(); missing != 0) {
    throw Error(ErrorKind::usage,
                fmt::format("{}: {} missing, and here each number has its position: write nan for {}", shown_name(name_),
                            missing == 1 ? "1 number is" : grouped(missing) + " numbers are", missing == 1 ? "it" : "them"));
  }
}

Elements::Elements(std::string name, std::unique_ptr<Source> source) : name_(std::move(name)), source_(std::move(source)) {
  take(TextAs::float64, TextLines::sequence);
}

void Elements::take(TextAs text, TextLines lines) {
  if (source_->resident_bytes() != 0) {
    view_ = source_->next().value();  // one chunk; the check for changes comes at the end
  } else {
    keep(text, lines);
  }
}

void Elements::keep(TextAs text, TextLines lines) {
  try {
    if (lines == TextLines::rows && source_->format() == "text") {
      matrix_ = std::make_unique<Values>(text_matrix(*source_, text == TextAs::numbers, names_columns_));
      view_ = matrix_->array().reshaped({matrix_->size()});
      return;
    }
    spool_ = std::make_unique<Spool>(*source_);
    view_ = spool_->all(text == TextAs::numbers);
  } catch (const Error& error) {
    const std::string name = shown_name(name_) + ":";
    if (std::string_view(error.what()).starts_with(name)) throw;
    throw Error(error.kind(), name + " " + error.what());
  }
}

Elements Elements::aligned(std::string name, const InputOptions& options, TextLines lines) {
  Elements elements(std::move(name), options, TextAs::float64, lines);
  if (reinterpret_cast<std::uintptr_t>(elements.view_.data()) % size_of(elements.type()) != 0) {
    elements.source_ = open_all(elements.name_, options, lines);
    elements.keep(TextAs::float64, lines);
  }
  return elements;
}

std::vector<std::uint64_t> Elements::shape() const {
  if (matrix_) return matrix_->shape();
  return source_->type() ? source_->shape() : std::vector<std::uint64_t>{view_.size()};
}

void Elements::check_unchanged() const { source_->next(); }

std::vector<NamedSource> Elements::sources() const {
  return {{name_, [this] { return std::make_unique<ViewSource>(view_, source_->format()); }}};
}

}  // namespace samesum::cli
