#include "exact/counted.hpp"

#include <samesum/error.hpp>

namespace samesum::exact {

void too_many_elements() {
  throw Error(ErrorKind::no_answer, "more than 2^64 - 1 elements, which cannot be counted: keep such parts apart");
}

}  // namespace samesum::exact
