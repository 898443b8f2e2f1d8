#include <samesum/error.hpp>
#include <samesum/types.hpp>
#include <samesum/version.hpp>

namespace samesum {

std::string_view name_of(DType type) noexcept { return type == DType::float32 ? "float32" : "float64"; }

DType parse_dtype(std::string_view name) {
  if (name == "float32" || name == "f4" || name == "float") return DType::float32;
  if (name == "float64" || name == "f8" || name == "double") return DType::float64;
  throw Error(ErrorKind::usage, "unknown element type '" + std::string(name) + "': samesum sums float32 and float64");
}

const char* version() noexcept { return SAMESUM_VERSION; }

}  // namespace samesum
