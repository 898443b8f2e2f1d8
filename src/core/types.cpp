#include <samesum/error.hpp>
#include <samesum/types.hpp>
#include <samesum/version.hpp>

#include <algorithm>
#include <string>

namespace samesum {
namespace {

struct Name {
  DType type;
  std::string_view name;
  std::string_view short_form;
  std::string_view other = {};
};

constexpr Name kNames[] = {
    {DType::int8, "int8", "i1"},           {DType::uint8, "uint8", "u1"},     {DType::int16, "int16", "i2"},
    {DType::uint16, "uint16", "u2"},       {DType::int32, "int32", "i4"},     {DType::uint32, "uint32", "u4"},
    {DType::int64, "int64", "i8"},         {DType::uint64, "uint64", "u8"},   {DType::float16, "float16", "f2", "half"},
    {DType::bfloat16, "bfloat16", "bf16"}, {DType::float32, "float32", "f4"}, {DType::float64, "float64", "f8", "double"},
};

}  // namespace

std::string_view name_of(DType type) noexcept { return kNames[static_cast<std::size_t>(type)].name; }

DType parse_dtype(std::string_view name) {
  std::string known;
  for (const Name& row : kNames) {
    if (name == row.name || name == row.short_form || (name == row.other && !name.empty())) return row.type;
    known.append(known.empty() ? "" : ", ").append(row.name);
  }
  if (name == "float") throw Error(ErrorKind::usage, "the element type 'float' is float32 in C and float64 in numpy: write one of these");
  throw Error(ErrorKind::usage, "unknown element type '" + std::string(name) + "': there are " + known);
}

const char* version() noexcept { return SAMESUM_VERSION; }

}  // namespace samesum
