#include <samesum/error.hpp>
#include <samesum/plain_sum.hpp>

#include "reduce/sum_cpu.hpp"

#include <string>

namespace samesum {
namespace {

void check_type(View data) {
  if (data.type() == DType::float32 || data.type() == DType::float64) return;
  throw Error(ErrorKind::usage,
              "a plain sum, rounded at every addition, is there for float32 and float64, not for " + std::string(name_of(data.type())));
}

}  // namespace

double plain_sum_forward(View data) {
  check_type(data);
  return reduce::plain_sum_forward(data);
}

double plain_sum_backward(View data) {
  check_type(data);
  return reduce::plain_sum_backward(data);
}

}  // namespace samesum
