// The kernel cache with hostile contents, and build()'s use of it.
#include "device/kernels/hash.hpp"
#include "device/kernels/kernel_cache.hpp"
#include "device/kernels/program.hpp"
#include "support/process.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

namespace samesum::device {
namespace {

namespace fs = std::filesystem;
using test::ScopedFolder;
using test::ScopedVariable;

class CacheTest : public testing::Test {
 protected:
  std::string path() const { return folder_.path() + "/cache"; }

  std::vector<fs::path> entries() const {
    std::vector<fs::path> found;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(path(), none)) found.push_back(entry.path());
    return found;
  }

  std::string contents() const {
    std::ostringstream text;
    text << std::ifstream(entries().at(0)).rdbuf();
    return text.str();
  }

  void replace(std::string_view with) const { std::ofstream(entries().at(0), std::ios::trunc) << with; }

  ScopedFolder folder_;
  ScopedVariable directory_{"SAMESUM_CACHE_DIR", path()};
  ScopedVariable on_{"SAMESUM_CACHE", std::nullopt};
  const std::string key_ = hash_of({"a", "test"});
};

TEST(Hash, FieldsAreSeparated) {
  EXPECT_EQ(hash_of({"ab", "c"}), hash_of({"ab", "c"}));
  EXPECT_NE(hash_of({"ab", "c"}), hash_of({"a", "bc"}));
  EXPECT_NE(hash_of({"a", ""}), hash_of({"a"}));
  EXPECT_NE(hash_of({"a", ""}), hash_of({"", "a"}));
  EXPECT_EQ(hash_of({}).size(), 32u);
}

TEST_F(CacheTest, GivesBackWhatWasKept) {
  EXPECT_FALSE(find_cached(key_));
  const std::string bytes("\0binary\0", 8);
  keep_cached(key_, {bytes, "a warning"});
  const auto found = find_cached(key_);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->bytes, bytes);
  EXPECT_EQ(found->log, "a warning");
  EXPECT_FALSE(find_cached(hash_of({"another"})));
  keep_cached(key_, {"", ""});
  ASSERT_TRUE(find_cached(key_));
  EXPECT_EQ(find_cached(key_)->bytes, "");
  EXPECT_EQ(entries().size(), 1u);
}

TEST_F(CacheTest, IsPrivate) {
  keep_cached(key_, {"binary", ""});
  struct stat status {};
  ASSERT_EQ(stat(path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
  ASSERT_EQ(stat(entries().at(0).c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  ASSERT_EQ(chmod(path().c_str(), 0777), 0);  // any user could have stored a program there
  EXPECT_FALSE(find_cached(key_));
}

TEST_F(CacheTest, CanBeSwitchedOff) {
  const ScopedVariable off("SAMESUM_CACHE", "0");
  keep_cached(key_, {"binary", ""});
  EXPECT_FALSE(fs::exists(path()));
  EXPECT_FALSE(find_cached(key_));
}

TEST_F(CacheTest, LiesWhereTheEnvironmentSays) {
  const ScopedVariable no_own("SAMESUM_CACHE_DIR", std::nullopt);
  const ScopedVariable home("HOME", folder_.path() + "/home");
  {
    const ScopedVariable xdg("XDG_CACHE_HOME", folder_.path() + "/xdg");
    keep_cached(key_, {"binary", ""});
    EXPECT_TRUE(fs::exists(folder_.path() + "/xdg/samesum/kernels/" + key_ + ".kernel"));
  }
  const ScopedVariable relative("XDG_CACHE_HOME", "relative");  // its specification says to ignore relative paths
  keep_cached(key_, {"binary", ""});
  EXPECT_TRUE(fs::exists(folder_.path() + "/home/.cache/samesum/kernels/" + key_ + ".kernel"));
  const ScopedVariable no_xdg("XDG_CACHE_HOME", std::nullopt);
  const ScopedVariable no_home("HOME", std::nullopt);
  keep_cached(key_, {"binary", ""});
  EXPECT_FALSE(find_cached(key_));
}

TEST_F(CacheTest, ForgetsTruncatedEntries) {
  keep_cached(key_, {"a binary of some length", "and a log"});
  const std::string whole = contents();
  for (std::size_t length = 0; length < whole.size(); ++length) {
    replace(whole.substr(0, length));
    EXPECT_FALSE(find_cached(key_)) << length << " of " << whole.size() << " bytes";
  }
  replace(whole + "x");
  EXPECT_FALSE(find_cached(key_));
  replace(whole);
  EXPECT_TRUE(find_cached(key_));
}

TEST_F(CacheTest, ForgetsCorruptedEntries) {
  keep_cached(key_, {"a binary", "and a log"});
  const std::string whole = contents();
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << at % 8));
    replace(damaged);
    EXPECT_FALSE(find_cached(key_)) << "byte " << at;
  }
}

TEST_F(CacheTest, ForgetsAnEntryUnderAnotherName) {
  keep_cached(key_, {"binary", ""});
  const std::string other = hash_of({"other"});
  fs::rename(entries().at(0), path() + "/" + other + ".kernel");
  EXPECT_FALSE(find_cached(other));
}

TEST_F(CacheTest, ThingsThatAreNoFilesAreNoEntries) {
  keep_cached(key_, {"binary", ""});
  const fs::path entry = entries().at(0);
  fs::remove(entry);
  ASSERT_EQ(mkfifo(entry.c_str(), 0600), 0);
  EXPECT_FALSE(find_cached(key_));  // and does not wait for a writer
  fs::remove(entry);
  fs::create_directory(entry);
  EXPECT_FALSE(find_cached(key_));
  keep_cached(key_, {"binary", ""});  // cannot replace a folder
  EXPECT_FALSE(find_cached(key_));
  EXPECT_EQ(entries().size(), 1u) << "a temporary was left";
}

TEST_F(CacheTest, FoldersThatCannotBeAreNoErrors) {
  std::ofstream(folder_.path() + "/file") << "in the way";
  for (const std::string& impossible : {folder_.path() + "/file/cache", folder_.path() + "/file", std::string("/proc/1/none"),
                                        std::string(5000, 'x'), std::string("/dev/full")}) {
    const ScopedVariable directory("SAMESUM_CACHE_DIR", impossible);
    keep_cached(key_, {"binary", ""});
    EXPECT_FALSE(find_cached(key_)) << impossible;
  }
}

TEST_F(CacheTest, ReadersSeeWholeEntriesWhileOthersWrite) {
  const auto binary = [](int i) { return Binary{std::string(200000 + 1000 * i, static_cast<char>('a' + i)), std::string(i, 'l')}; };
  keep_cached(key_, binary(0));
  std::atomic<bool> done = false;
  std::vector<std::thread> writers;
  for (int i = 0; i < 4; ++i) {
    writers.emplace_back([&, i] {
      while (!done) keep_cached(key_, binary(i));
    });
  }
  for (int read = 0; read < 300; ++read) {
    const auto found = find_cached(key_);
    ASSERT_TRUE(found);
    const int i = found->bytes[0] - 'a';
    EXPECT_TRUE(found->bytes == binary(i).bytes && found->log == binary(i).log);
  }
  done = true;
  for (auto& writer : writers) writer.join();
  EXPECT_EQ(entries().size(), 1u);
}

// A device whose compiler only counts: its binaries are "compiled:" and the source.
class CountingDevice final : public Device {
 public:
  explicit CountingDevice(std::string identity = "compiler 1") : identity_(std::move(identity)) {
    info_.selector = "fake:0";
    info_.name = "a counter";
  }

  int compiled = 0;
  int loaded = 0;
  bool rejects_old_binaries = false;

  Memory allocate(std::uint64_t) override { return {}; }
  void write(const Memory&, std::uint64_t, const void*, std::uint64_t) override {}
  void read(const Memory&, std::uint64_t, void*, std::uint64_t) override {}
  Language language() const override { return Language::opencl_c; }
  std::string compiler_identity() const override { return identity_; }
  Binary compile(const std::string& source) override {
    ++compiled;
    if (source.find("#define BROKEN 1") != std::string::npos) {
      Error::Context context;
      context.build_log = "reduce/x.cl:7: error: nonsense";
      throw Error(ErrorKind::device, "the compiler rejected the program", context);
    }
    return {"compiled:" + source, "fine"};
  }
  Kernel load(const Binary& binary, const std::string& name) override {
    ++loaded;
    if (!binary.bytes.starts_with("compiled:") || (rejects_old_binaries && compiled == 0)) throw Error(ErrorKind::device, "bad binary");
    return {std::make_shared<std::string>(name), name};
  }
  void launch(const Kernel&, Grid, std::span<const Argument>) override {}
  std::optional<std::uint32_t> resident_groups(const Kernel&, std::uint32_t) override { return std::nullopt; }
  Mark mark() override { return {}; }
  double seconds_between(const Mark&, const Mark&) override { return 0; }
  void finish() override {}

 private:
  std::string identity_;
};

const Source kSource{{"device/kernels/conformance.cl"}, {{"SIZE", "4"}}};

TEST_F(CacheTest, BuildCompilesOnceForAllEntriesAndProcesses) {
  CountingDevice first;
  const Kernel kernel = build(first, kSource, "one");
  EXPECT_EQ(build(first, kSource, "one").handle, kernel.handle);
  build(first, kSource, "two");
  EXPECT_EQ(first.compiled, 1);
  EXPECT_EQ(first.loaded, 2);
  CountingDevice second;  // as in another process
  build(second, kSource, "one");
  build(second, kSource, "two");
  EXPECT_EQ(second.compiled, 0);
}

TEST_F(CacheTest, WithoutTheCacheBuildStillCompilesOnce) {
  const ScopedVariable off("SAMESUM_CACHE", "0");
  CountingDevice first;
  build(first, kSource, "one");
  build(first, kSource, "two");
  EXPECT_EQ(first.compiled, 1);
  CountingDevice second;
  build(second, kSource, "one");
  EXPECT_EQ(second.compiled, 1);
}

TEST_F(CacheTest, EverythingThatDecidesAProgramIsInItsKey) {
  CountingDevice device;
  build(device, kSource, "one");
  CountingDevice other_compiler("compiler 2");
  build(other_compiler, kSource, "one");
  EXPECT_EQ(other_compiler.compiled, 1);
  CountingDevice other_define;
  build(other_define, {kSource.files, {{"SIZE", "8"}}}, "one");
  EXPECT_EQ(other_define.compiled, 1);
  CountingDevice other_files;
  build(other_files, {{"exact/exact.h", "device/kernels/conformance.cl"}, kSource.defines}, "one");
  EXPECT_EQ(other_files.compiled, 1);
  const auto altered = [](auto alter) {
    CountingDevice changed;
    DeviceInfo info = changed.info();
    alter(info);
    changed.restrict_to(info);
    build(changed, kSource, "one");
    return changed.compiled;
  };
  EXPECT_EQ(altered([](DeviceInfo&) {}), 0);
  EXPECT_EQ(altered([](DeviceInfo& info) { info.driver = "2"; }), 1);
  EXPECT_EQ(altered([](DeviceInfo& info) { info.name = "another"; }), 1);
  EXPECT_EQ(altered([](DeviceInfo& info) { info.missing = {{Capability::fp64, "masked"}}; }), 1);
  EXPECT_EQ(altered([](DeviceInfo& info) { info.selector = "fake:1"; }), 0) << "equal devices share programs";
}

TEST_F(CacheTest, BuildMendsADamagedEntry) {
  CountingDevice first;
  build(first, kSource, "one");
  const std::string whole = contents();
  replace(whole.substr(0, whole.size() / 2));
  CountingDevice second;
  build(second, kSource, "one");
  EXPECT_EQ(second.compiled, 1);
  EXPECT_EQ(contents(), whole);
}

TEST_F(CacheTest, BuildCompilesAgainWhereTheDriverRejectsTheCachedBinary) {
  CountingDevice first;
  build(first, kSource, "one");
  CountingDevice second;
  second.rejects_old_binaries = true;
  build(second, kSource, "one");
  EXPECT_EQ(second.compiled, 1);
}

TEST_F(CacheTest, ABuildFailureSaysEverythingAndIsNotKept) {
  CountingDevice device;
  const Source broken{{"device/kernels/conformance.cl"}, {{"BROKEN", "1"}, {"SIZE", "8"}}};
  try {
    build(device, broken, "sum");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::device);
    EXPECT_EQ(error.context().device, "fake:0 (a counter)");
    EXPECT_EQ(error.context().kernel, "sum");
    EXPECT_TRUE(error.context().configuration.starts_with("BROKEN=1 SIZE=8"));
    EXPECT_EQ(error.context().build_log, "reduce/x.cl:7: error: nonsense");
    EXPECT_TRUE(std::string(error.what()).starts_with("cannot build the kernel 'sum': the compiler rejected the program\n"));
  }
  EXPECT_THROW(build(device, broken, "sum"), Error);
  EXPECT_EQ(device.compiled, 2);
  EXPECT_TRUE(entries().empty());
}

TEST(Assemble, MarksFilesAndSetsCapabilities) {
  const std::string text = assemble(Language::opencl_c, kSource);
  const auto position = [&](std::string_view part) {
    const auto found = text.find(part);
    EXPECT_NE(found, std::string::npos) << part;
    return found;
  };
  EXPECT_LT(position("#define SIZE 4"), position("#line 1 \"device/dialect/opencl.h\""));
  EXPECT_LT(position("#line 1 \"device/dialect/opencl.h\""), position("#line 1 \"device/kernels/conformance.cl\""));
  EXPECT_NE(assemble(Language::cuda, kSource).find("#define SAMESUM_FP64 1"), std::string::npos);
  EXPECT_THROW(assemble(Language::cuda, {{"none.cl"}, {}}), Error);
}

}  // namespace
}  // namespace samesum::device
