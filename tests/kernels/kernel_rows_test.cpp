// Checks that the kernels that run on the host are those that ship.
#include "support/kernel_rows.hpp"
#include "kernels/shipped.hpp"
#include "selftest/cases.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace samesum::test {
namespace {

template <class Kernel>
void append_names(std::set<std::string>& names) {
  for (const Kernel& row : all_rows<Kernel>()) EXPECT_TRUE(names.emplace(row.name).second) << row.name << " is there twice";
}

std::set<std::string> names_of_rows() {
  std::set<std::string> names;
  append_names<SmallSumKernel>(names);
  append_names<ExtremesKernel>(names);
  append_names<StatisticsKernel>(names);
  append_names<ProductKernel>(names);
  append_names<RecordKernel>(names);
  return names;
}

const std::vector<ShippedKernel>& kernels() {
  static const auto* all = new std::vector<ShippedKernel>(kernels_of_rows());
  return *all;
}

// In `samesum_tests` the few, in `samesum_shapes` the others.
TEST(KernelRows, AreAllThatWereWritten) {
  std::set<std::string> written[2];
  for (const ShippedKernel& kernel : kernels()) written[kernel.few].insert(kernel.name);
  const std::set<std::string> names = names_of_rows();
  EXPECT_EQ(names, written[names.contains(*written[1].begin())]);
}

// All kernels that plans compile, for arrays of any size, are among the rows; of families with too many settings, each pair of settings is.
TEST(KernelRows, HaveEveryShapeThatShips) {
  hard::Random random(4);
  std::vector<std::uint64_t> sizes{1, 100, 4000};
  for (int i = 0; i < 12; ++i) sizes.push_back(random.bits(random.between(9, 29)));
  std::set<std::string> names, pairs;
  for (const ShippedKernel& kernel : kernels()) {
    names.insert(kernel.name);
    for (const std::string& pair : pairs_of(kernel)) pairs.insert(pair);
  }
  std::set<std::string> families;
  for (const ShippedKernel& kernel : shipped_kernels(sizes, false)) {
    families.insert(kernel.family);
    if (kernel.name.find("_by") != std::string::npos) continue;  // the largest of these sizes only
    if (kernel.family == "small_sum" || kernel.family == "product" || kernel.family == "record") {
      EXPECT_TRUE(names.contains(kernel.name)) << kernel.name << " ships, and no row has it";
    }
    for (const std::string& pair : pairs_of(kernel)) EXPECT_TRUE(pairs.contains(pair)) << kernel.name << ": no row has " << pair;
  }
  EXPECT_EQ(families.size(), 5u);
}

}  // namespace
}  // namespace samesum::test
