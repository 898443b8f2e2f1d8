#include <samesum/error.hpp>
#include <samesum/plain_sum.hpp>

#include "core/array/array_blocks.hpp"
#include "reduce/cpu/sum_cpu.hpp"

#include <string>

namespace samesum {
namespace {

View checked(const Array& data) {
  if (data.type() == DType::float32 || data.type() == DType::float64) {
    return core::require_single_view(data, core::Order::index, "a plain sum");
  }
  throw Error(ErrorKind::usage,
              "a plain sum, rounded at every addition, is there for float32 and float64, not for " + std::string(name_of(data.type())));
}

}  // namespace

double plain_sum_forward(const Array& data, double start) { return reduction::plain_sum_forward(checked(data), start); }

double plain_sum_backward(const Array& data, double start) { return reduction::plain_sum_backward(checked(data), start); }

}  // namespace samesum
