// Environment variables and processes of a test's own.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace samesum::test {

/// A guard: in its scope an environment variable has another value, or none.
class ScopedVariable {
 public:
  ScopedVariable(std::string name, std::optional<std::string> value) : name_(std::move(name)) {
    if (const char* old = std::getenv(name_.c_str())) old_ = old;
    set(value);
  }
  ~ScopedVariable() { set(old_); }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;

 private:
  void set(const std::optional<std::string>& value) const {
    if (value) {
      setenv(name_.c_str(), value->c_str(), 1);
    } else {
      unsetenv(name_.c_str());
    }
  }

  std::string name_;
  std::optional<std::string> old_;
};

/// An empty folder that is removed with this object.
class ScopedFolder {
 public:
  ScopedFolder() : path_((std::filesystem::temp_directory_path() / "samesum-test.XXXXXX").string()) {
    if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error("no temporary folder");
  }
  ~ScopedFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScopedFolder(const ScopedFolder&) = delete;
  ScopedFolder& operator=(const ScopedFolder&) = delete;

  const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

/// Whether this process was started by run_in_children().
inline bool in_child() { return std::getenv("SAMESUM_TEST_CHILD") != nullptr; }

/// Runs the calling test again in `count` concurrent processes, with a changed `environment`; fails if one of them fails.
inline void run_in_children(const std::vector<std::pair<std::string, std::string>>& environment, int count = 1) {
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();
  const ScopedFolder folder;
  const ScopedVariable child("SAMESUM_TEST_CHILD", "1");
  const ScopedVariable no_report("GTEST_OUTPUT", std::nullopt);
  const ScopedVariable no_shards("GTEST_TOTAL_SHARDS", std::nullopt), no_shard("GTEST_SHARD_INDEX", std::nullopt);
  const std::string filter = fmt::format("--gtest_filter={}.{}", test->test_suite_name(), test->name());
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  std::vector<pid_t> children;
  for (int i = 0; i < count; ++i) {
    const std::string log = fmt::format("{}/{}", folder.path(), i);
    std::string command = "exec env";
    for (const auto& [name, value] : environment) command += fmt::format(" '{}={}'", name, value);
    command += fmt::format(" '{}' '{}' > '{}' 2>&1", program, filter, log);
    const pid_t pid = fork();
    ASSERT_GE(pid, 0);
    if (pid == 0) {
      execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
      _exit(127);
    }
    children.push_back(pid);
  }
  for (int i = 0; i < count; ++i) {
    int status = 0;
    ASSERT_EQ(waitpid(children[i], &status, 0), children[i]);
    std::ostringstream log;
    log << std::ifstream(fmt::format("{}/{}", folder.path(), i)).rdbuf();
    EXPECT_EQ(status, 0) << log.str();
    EXPECT_NE(log.str().find("[  PASSED  ] 1 test."), std::string::npos) << log.str();
  }
}

}  // namespace samesum::test
