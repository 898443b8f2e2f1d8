// The directive that bounds registers, in PTX as NVIDIA's OpenCL compiler gives it.
#include "device/opencl/resident_groups.hpp"
#include "device/kernels/program.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace samesum::device::opencl {
namespace {

std::string source_with(std::vector<std::pair<std::string, std::string>> defines) {
  return assemble(Language::opencl_c, {{"plan/record.cl"}, std::move(defines)});
}

TEST(ResidentGroups, AreThoseThatTheHostDefines) {
  EXPECT_EQ(resident_groups_of(source_with({{"GROUP_SIZE", "256"}, {"RESIDENT", "4"}})), 4u);
  EXPECT_EQ(resident_groups_of(source_with({{"RESIDENT", "2"}, {"GROUP", "512"}})), 2u);
  EXPECT_EQ(resident_groups_of(source_with({{"GROUP_SIZE", "1024"}, {"RESIDENT", "8"}})), 2u) << "more than a compute unit has work-items";
  EXPECT_EQ(resident_groups_of(source_with({{"GROUP_SIZE", "256"}})), 0u);
  EXPECT_EQ(resident_groups_of(source_with({})), 0u);
}

TEST(ResidentGroups, AreNotThoseOfAFileOrOfAnExpression) {
  const std::string file = "#line 1 \"defines\"\n#define LOADS 4\n#line 1 \"a.cl\"\n#define GROUP_SIZE 256\n#define RESIDENT 4\n";
  EXPECT_EQ(resident_groups_of(file), 0u);
  EXPECT_EQ(resident_groups_of(source_with({{"GROUP_SIZE", "256"}, {"RESIDENT", "(1024 / GROUP_SIZE)"}})), 0u);
}

TEST(ResidentGroups, StandBehindEachFixedGroupSize) {
  const std::string ptx =
      ".version 9.0\n.entry a(\n)\n.reqntid 256, 1, 1\n{\n}\n.entry b(\n)\n{\n}\n.entry c(\n)\n.reqntid 256, 1, 1\n{\n}\n";
  EXPECT_EQ(with_resident_groups(ptx, 4),
            ".version 9.0\n.entry a(\n)\n.reqntid 256, 1, 1\n.minnctapersm 4\n{\n}\n.entry b(\n)\n{\n}\n.entry c(\n)\n"
            ".reqntid 256, 1, 1\n.minnctapersm 4\n{\n}\n");
  EXPECT_EQ(with_resident_groups("no directive\n", 4), "no directive\n");
  EXPECT_EQ(with_resident_groups("\n.reqntid 64, 1, 1", 2), "\n.reqntid 64, 1, 1");
  EXPECT_EQ(with_resident_groups("", 2), "");
}

}  // namespace
}  // namespace samesum::device::opencl
