// sum_exact.cl for float32, run on the host.
#include "support/sum_exact_test.hpp"

#define INTEGERS 0
#define ELEMENTS_FILE "reduce/elements_float32.cl"
namespace samesum::dialect::exact32 {
#include "support/sum_exact_kernel.inc"
}  // namespace samesum::dialect::exact32

namespace samesum::test {
namespace {

using dialect::exact32::kKernel;

TEST(SumExact32, IsRight) { ExactSum(kKernel, DType::float32).check_hard_cases(); }
TEST(SumExact32, OfConcurrentGroupsIsRight) {
  const dialect::ConcurrentGroups concurrent;
  ExactSum(kKernel, DType::float32).check_hard_cases();
}

}  // namespace
}  // namespace samesum::test
