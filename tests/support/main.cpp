// The test runner: GoogleTest's, plus --file=NAME, which runs the cases of one source file: those among them that a filter names or leaves
// out.
#include <gtest/gtest.h>

#include <fnmatch.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>

namespace {

// Whether any of the patterns, with colons between them, names the case.
bool is_named(const std::string& name, std::string_view patterns) {
  while (!patterns.empty()) {
    const std::string pattern(patterns.substr(0, patterns.find(':')));
    if (fnmatch(pattern.c_str(), name.c_str(), 0) == 0) return true;
    patterns.remove_prefix(std::min(patterns.size(), pattern.size() + 1));
  }
  return false;
}

// A GoogleTest filter for every case that was written in `file` and that `given`, a filter, does not leave out.
std::string filter_of(std::string_view file, std::string_view given) {
  const std::size_t minus = std::min(given.find('-'), given.size());
  std::string filter;
  const auto& tests = *testing::UnitTest::GetInstance();
  for (int i = 0; i < tests.total_test_suite_count(); ++i) {
    const auto& suite = *tests.GetTestSuite(i);
    const std::string_view path = suite.GetTestInfo(0)->file();
    if (path.substr(path.rfind('/') + 1) != file) continue;
    for (int k = 0; k < suite.total_test_count(); ++k) {
      const std::string name = std::string(suite.name()) + "." + suite.GetTestInfo(k)->name();
      if (minus == 0 || is_named(name, given.substr(0, minus))) filter.append(name).append(":");
    }
  }
  return filter.append(given.substr(minus));
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const std::string given = testing::GTEST_FLAG(filter);
  constexpr std::string_view kOption = "--file=";
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const bool known = argument.substr(0, kOption.size()) == kOption;
    const std::string filter = known ? filter_of(argument.substr(kOption.size()), given) : "";
    if (filter.empty() || filter.front() == '-') {
      std::fprintf(stderr, "samesum_tests: %s\n",
                   known ? "no such test is in that file" : "unknown argument; try --help or --file=sum_test.cpp");
      return 2;
    }
    testing::GTEST_FLAG(filter) = filter;
  }
  return RUN_ALL_TESTS();
}
