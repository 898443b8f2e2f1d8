#include "arrow.hpp"

#include "objects.hpp"

#include <samesum/error.hpp>

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace samesum::python {
namespace {

// The structures of the interface, as its specification lays them out.
struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  std::int64_t flags;
  std::int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  std::int64_t length;
  std::int64_t null_count;
  std::int64_t offset;
  std::int64_t n_buffers;
  std::int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};

struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema*);
  int (*get_next)(ArrowArrayStream*, ArrowArray*);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};

/// A structure that is released where it ends.
template <class Structure>
struct Owned : Structure {
  Owned() : Structure{} {}
  /// Takes it from the capsule of this name, which is left with a released one.
  Owned(nb::handle capsule, const char* name) : Structure{} {
    auto* given = static_cast<Structure*>(PyCapsule_GetPointer(capsule.ptr(), name));
    if (given == nullptr) throw nb::python_error();
    static_cast<Structure&>(*this) = *given;
    given->release = nullptr;
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() {
    if (this->release != nullptr) this->release(this);
  }
};

using Chunk = std::unique_ptr<Owned<ArrowArray>>;

struct Column {
  std::string format;
  std::vector<Chunk> chunks;
};

Column column_of(nb::handle object) {
  Column column;
  if (nb::hasattr(object, "__arrow_c_array__")) {
    const nb::tuple pair = nb::cast<nb::tuple>(object.attr("__arrow_c_array__")());
    const Owned<ArrowSchema> schema(pair[0], "arrow_schema");
    column.format = schema.dictionary == nullptr ? schema.format : "dictionary";
    column.chunks.push_back(std::make_unique<Owned<ArrowArray>>(pair[1], "arrow_array"));
    return column;
  }
  const nb::object capsule = object.attr("__arrow_c_stream__")();
  Owned<ArrowArrayStream> stream(capsule, "arrow_array_stream");
  const auto check = [&stream](int code) {
    if (code == 0) return;
    const char* said = stream.get_last_error(&stream);
    throw Error(ErrorKind::usage, std::string("a stream of Arrow failed: ") + (said == nullptr ? std::strerror(code) : said));
  };
  Owned<ArrowSchema> schema;
  check(stream.get_schema(&stream, &schema));
  column.format = schema.dictionary == nullptr ? schema.format : "dictionary";
  while (true) {
    auto chunk = std::make_unique<Owned<ArrowArray>>();
    check(stream.get_next(&stream, chunk.get()));
    if (chunk->release == nullptr) return column;  // the end
    column.chunks.push_back(std::move(chunk));
  }
}

constexpr const char* kBits = "b";   // booleans, eight in a byte
constexpr const char* kNulls = "n";  // of no type, as all are missing

DType type_of(const std::string& format) {
  constexpr std::pair<const char*, DType> all[] = {
      {"c", DType::int8},    {"C", DType::uint8},   {"s", DType::int16},     {"S", DType::uint16},  {"i", DType::int32},
      {"I", DType::uint32},  {"l", DType::int64},   {"L", DType::uint64},    {"e", DType::float16}, {"f", DType::float32},
      {"g", DType::float64}, {kBits, DType::uint8}, {kNulls, DType::float64}};
  for (const auto& [name, type] : all) {
    if (format == name) return type;
  }
  const std::string message =
      "samesum: a column of Arrow of the format '" + format +
      (format.starts_with("+") ? "' is nested: pass one column of numbers" : "' has no numbers that it knows: cast it first");
  throw nb::type_error(message.c_str());
}

bool bit(const void* bits, std::int64_t i) { return (static_cast<const std::uint8_t*>(bits)[i / 8] >> (i % 8) & 1) != 0; }

/// The validity bitmap, or null where nothing is missing.
const void* validity(const ArrowArray& chunk) { return chunk.null_count == 0 ? nullptr : chunk.buffers[0]; }

std::int64_t missing_of(const ArrowArray& chunk) {
  const void* valid = validity(chunk);
  if (valid == nullptr || chunk.null_count > 0) return valid == nullptr ? 0 : chunk.null_count;
  std::int64_t missing = 0;  // -1: not counted yet
  for (std::int64_t i = 0; i < chunk.length; ++i) missing += bit(valid, chunk.offset + i) ? 0 : 1;
  return missing;
}

/// Copies the elements that are not null to `to`; returns the place after them.
std::byte* copy(const ArrowArray& chunk, bool bits, std::size_t size, std::byte* to) {
  const void* valid = validity(chunk);
  const void* from = chunk.buffers[1];
  if (!bits && valid == nullptr) {
    const std::size_t bytes = static_cast<std::size_t>(chunk.length) * size;
    if (bytes != 0) std::memcpy(to, static_cast<const std::byte*>(from) + static_cast<std::size_t>(chunk.offset) * size, bytes);
    return to + bytes;
  }
  for (std::int64_t i = chunk.offset; i < chunk.offset + chunk.length; ++i) {
    if (valid != nullptr && !bit(valid, i)) continue;
    if (bits) {
      *to = static_cast<std::byte>(bit(from, i));
    } else {
      std::memcpy(to, static_cast<const std::byte*>(from) + static_cast<std::size_t>(i) * size, size);
    }
    to += size;
  }
  return to;
}

}  // namespace

nb::tuple read_arrow(nb::handle object) {
  Column column = column_of(object);
  const DType type = type_of(column.format);
  const bool bits = column.format == kBits;
  std::int64_t length = 0, missing = 0;
  if (column.format == kNulls) {
    for (const Chunk& chunk : column.chunks) missing += chunk->length;
    column.chunks.clear();
    length = missing;
  }
  for (const Chunk& chunk : column.chunks) {
    length += chunk->length;
    missing += missing_of(*chunk);
  }
  const std::size_t size = size_of(type);
  if (column.chunks.size() == 1 && missing == 0 && !bits && length != 0) {
    Owned<ArrowArray>* chunk = column.chunks.front().release();
    const nb::capsule owner(chunk, [](void* p) noexcept { delete static_cast<Owned<ArrowArray>*>(p); });
    const auto* first = static_cast<const std::byte*>(chunk->buffers[1]) + static_cast<std::size_t>(chunk->offset) * size;
    return nb::make_tuple(array_at(first, type, {static_cast<std::uint64_t>(length)}, owner), 0);
  }
  Values present(type, {static_cast<std::uint64_t>(length - missing)});
  auto* to = static_cast<std::byte*>(present.data());
  for (const Chunk& chunk : column.chunks) to = copy(*chunk, bits, size, to);
  return nb::make_tuple(array_of(std::move(present), type), missing);
}

}  // namespace samesum::python
