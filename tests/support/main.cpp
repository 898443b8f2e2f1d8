// The test runner: GoogleTest's, plus --file=NAME, which runs the cases of one source file; of these a filter may leave some out, or name some.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <string_view>

namespace {

// A GoogleTest filter for every case that was written in `file`; suites are named whole.
std::string filter_of(std::string_view file) {
  std::string filter;
  const auto& tests = *testing::UnitTest::GetInstance();
  for (int i = 0; i < tests.total_test_suite_count(); ++i) {
    const auto& suite = *tests.GetTestSuite(i);
    const std::string_view path = suite.GetTestInfo(0)->file();
    if (path.substr(path.rfind('/') + 1) == file) filter.append(suite.name()).append(".*:");
  }
  return filter;
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const std::string given = testing::GTEST_FLAG(filter), left_out = given.substr(0, 1) == "-" ? given : "";
  constexpr std::string_view kOption = "--file=";
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const bool known = argument.substr(0, kOption.size()) == kOption;
    const std::string filter = known ? filter_of(argument.substr(kOption.size())) : "";
    if (filter.empty()) {
      std::fprintf(stderr, "samesum_tests: %s\n",
                   known ? "no test is in that file" : "unknown argument; try --help or --file=sum_test.cpp");
      return 2;
    }
    if (given == "*" || !left_out.empty()) testing::GTEST_FLAG(filter) = filter + left_out;
  }
  return RUN_ALL_TESTS();
}
