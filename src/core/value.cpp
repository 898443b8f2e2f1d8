#include <samesum/value.hpp>

#include "core/float_environment.hpp"

namespace samesum {

double Value::as_double() const noexcept {
  const core::DefaultFloatEnvironment environment;
  return std::visit([](auto value) { return static_cast<double>(value); }, number);
}

}  // namespace samesum
