// Sources of the C interface: files, pipes, text, formulas, and functions of the caller's.
#include <samesum/source.hpp>

#include "c/formulas.hpp"
#include "c/handles.hpp"

#include <samesum/map_source.hpp>
#include <samesum/reduce.hpp>

#include <algorithm>
#include <type_traits>

using namespace samesum;
using namespace samesum::c;

namespace {

// Chunks that a function of the caller's gives.
class Called : public Source {
 public:
  Called(samesum_next function, void* context) : next_(function), context_(context) {}

  std::optional<Array> next() override {
    samesum_array chunk = {};
    int there = 0;
    const samesum_status status = next_(context_, &chunk, &there);
    if (status != SAMESUM_OK) throw Failed{status, samesum_message()};
    if (there == 0) return std::nullopt;
    Array array = array_of(&chunk);
    bytes_ += array.bytes();
    return array;
  }
  std::string_view format() const noexcept override { return "caller"; }
  std::uint64_t bytes_read() const noexcept override { return bytes_; }

 private:
  samesum_next next_;
  void* context_;
  std::uint64_t bytes_ = 0;
};

std::vector<std::string> strings_of(const char* const* texts, size_t count, const char* name) {
  std::vector<std::string> result;
  for (const char* const text : need(texts, count, name)) result.emplace_back(&need(text, name));
  return result;
}

char character_of(int character, const char* name) {
  if (character < 0 || character > 127) refuse(std::string("'") + name + "' is " + std::to_string(character) + ", no character");
  return static_cast<char>(character);
}

static_assert(std::has_unique_object_representations_v<samesum_input_options>);  // copy_of() compares them

InputOptions input_options_of(const samesum_input_options* options) {
  const samesum_input_options given = copy_of(options, "samesum_input_options");
  InputOptions result{.offset = given.offset, .threads = given.threads, .allow_empty = given.allow_empty != 0};
  if (given.raw != nullptr) result.raw = parse_raw_type(given.raw);
  if (given.count != nullptr) result.count = *given.count;
  TextOptions& text = result.text;
  text.columns = strings_of(given.columns, given.column_count, "columns");
  text.keys = strings_of(given.keys, given.key_count, "keys");
  text.missing = strings_of(given.missing, given.missing_count, "missing");
  if (given.header != 0) text.header = given.header > 0;
  text.separator = character_of(given.separator, "separator");
  if (given.decimal != 0) text.decimal = character_of(given.decimal, "decimal");
  text.thousands = character_of(given.thousands, "thousands");
  text.integers = given.floats == 0;
  text.skip_lines = given.skip_lines;
  text.in_order = given.in_order != 0 || !text.keys.empty();
  return result;
}

}  // namespace

extern "C" {

samesum_status samesum_source_open(const char* path, const samesum_input_options* options, samesum_source** source) {
  return give(source, [&] { return open_source(&need(path, "path"), input_options_of(options)); });
}
samesum_status samesum_source_of_map(const char* formula, const samesum_input* inputs, size_t count, samesum_source** source) {
  return give(source, [&] {
    const Inputs given = inputs_of(inputs, count);
    return map(Formula(&need(formula, "formula")), given.arrays, given.parameters);
  });
}
samesum_status samesum_source_of_calls(samesum_next next, void* context, samesum_source** source) {
  return give(source, [&]() -> std::unique_ptr<Source> {
    if (next == nullptr) refuse("'next' is a null pointer");
    return std::make_unique<Called>(next, context);
  });
}
samesum_status samesum_source_next(samesum_source* source, samesum_array* chunk, int* there) {
  return guard([&] {
    samesum_source& from = need(source, "source");
    samesum_array& place = need(chunk, "chunk");
    int& found = need(there, "there");
    std::optional<Array> next = from.value->next();
    if (next && next->on_device()) refuse("the chunks of this source lie on a device: a reduction takes them there");
    from.chunk = std::move(next);
    found = from.chunk.has_value() ? 1 : 0;
    if (!from.chunk) return;
    const Array& array = *from.chunk;
    place = {.data = array.data(),
             .type = c::type_of(array.type()),
             .rank = static_cast<uint32_t>(array.rank()),
             .shape = array.shape().data(),
             .strides = array.strides().data(),
             .device = nullptr,
             .offset = 0};
  });
}
const uint64_t* samesum_source_groups(const samesum_source* source, uint64_t* groups) {
  if (source == nullptr) return nullptr;
  if (groups != nullptr) *groups = source->value->group_count();
  return source->value->groups().data();
}
samesum_status samesum_source_key(const samesum_source* source, uint64_t group, size_t column, char* text, size_t* size) {
  return guard([&] {
    const Source& from = *need(source, "source").value;
    if (group >= from.group_count()) refuse("there is no group " + std::to_string(group) + " of " + std::to_string(from.group_count()));
    const std::vector<std::string> words = from.key(group);
    if (column >= words.size()) refuse("there is no column " + std::to_string(column) + " of the keys' " + std::to_string(words.size()));
    write(std::span<const char>(words[column].c_str(), words[column].size() + 1), text, size);
  });
}
uint64_t samesum_source_missing(const samesum_source* source) { return source == nullptr ? 0 : source->value->missing(); }
void samesum_source_free(samesum_source* source) { delete source; }

samesum_status samesum_accumulator_add_source(samesum_accumulator* accumulator, samesum_source* source, const samesum_options* options) {
  return guard([&] {
    Accumulator& to = need(accumulator, "accumulator").value;
    to.merge(accumulate(*need(source, "source").value, options_of(options)));
  });
}
samesum_status samesum_products_add_sources(samesum_products* products, samesum_source* a, samesum_source* b,
                                            const samesum_options* options) {
  return guard([&] {
    ProductAccumulator& to = need(products, "products").value;
    to.merge(dot(*need(a, "a").value, *need(b, "b").value, options_of(options)));
  });
}
samesum_status samesum_statistics_collect_source(samesum_source* source, const samesum_options* options, samesum_statistics** statistics) {
  return give(statistics, [&] { return collect(*need(source, "source").value, kAllFields, options_of(options)); });
}
samesum_status samesum_histogram_of_source(samesum_source* source, const samesum_bins* bins, const samesum_options* options,
                                           samesum_histogram** histogram) {
  return give(histogram, [&] { return samesum::histogram(*need(source, "source").value, need(bins, "bins").value, options_of(options)); });
}
samesum_status samesum_product_of_source(samesum_source* source, const samesum_options* options, samesum_value* result) {
  return guard([&] {
    samesum_value& place = need(result, "result");
    place = c::value_of(product(*need(source, "source").value, options_of(options)));
  });
}

samesum_status samesum_count_characters(const char* text, size_t size, const char* const* groups, size_t count, uint64_t* counts,
                                        uint64_t* others) {
  return guard([&] {
    const CharacterMap map = groups == nullptr ? CharacterMap::bytes() : CharacterMap::of(strings_of(groups, count, "groups"));
    if (count != map.names.size()) refuse("without groups of characters there are 256 counts, not " + std::to_string(count));
    const std::span places = need(counts, count, "counts");
    const std::span given = need(text, size, "text");
    const CharacterCounts found = count_characters(std::string_view(given.data(), given.size()), map);
    std::ranges::copy(found.counts, places.begin());
    if (others != nullptr) *others = found.others;
  });
}

}  // extern "C"
