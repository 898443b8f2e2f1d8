// The kernel cache in a faulty folder: owned by another user, read-only, full, linked, left by processes that were killed.
#include "device/kernels/hash.hpp"
#include "device/kernels/kernel_cache.hpp"
#include "support/process.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <thread>

namespace samesum::device {
namespace {

namespace fs = std::filesystem;
using test::ScopedFolder;
using test::ScopedVariable;

constexpr uid_t kNobody = 65534;

class CacheFolderTest : public testing::Test {
 protected:
  std::string path() const { return folder_.path() + "/cache"; }
  fs::path entry() const { return path() + '/' + key_ + ".kernel"; }
  std::size_t files() const { return static_cast<std::size_t>(std::distance(fs::directory_iterator(path()), {})); }

  ScopedFolder folder_;
  ScopedVariable directory_{"SAMESUM_CACHE_DIR", path()};
  ScopedVariable on_{"SAMESUM_CACHE", std::nullopt};
  const std::string key_ = hash_of({"a", "test"});
};

TEST_F(CacheFolderTest, IsNotUsedWhereOthersMayWrite) {
  keep_cached(key_, {"binary", ""});
  for (const mode_t mode : {0770, 0702, 0777}) {
    ASSERT_EQ(chmod(path().c_str(), mode), 0);
    EXPECT_FALSE(find_cached(key_)) << std::oct << mode;
    keep_cached(hash_of({"another"}), {"binary", ""});
    EXPECT_EQ(files(), 1u) << std::oct << mode;
  }
  ASSERT_EQ(chmod(path().c_str(), 0755), 0);  // others may read it
  EXPECT_TRUE(find_cached(key_));
}

TEST_F(CacheFolderTest, IsNotUsedWhereItIsAnotherUsers) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  keep_cached(key_, {"binary", ""});
  ASSERT_EQ(chown(path().c_str(), kNobody, kNobody), 0);
  EXPECT_FALSE(find_cached(key_));
  keep_cached(hash_of({"another"}), {"binary", ""});
  EXPECT_EQ(files(), 1u);
}

TEST_F(CacheFolderTest, ReadOnlyIsRead) {
  keep_cached(key_, {"binary", ""});
  ASSERT_EQ(chmod(path().c_str(), 0500), 0);
  const bool root = geteuid() == 0;  // permissions do not apply to root
  if (root) {
    ASSERT_EQ(chmod(folder_.path().c_str(), 0755), 0);
    for (const fs::path& owned : {fs::path(path()), entry()}) ASSERT_EQ(chown(owned.c_str(), kNobody, kNobody), 0);
    ASSERT_EQ(seteuid(kNobody), 0);
  }
  const bool found = find_cached(key_).has_value();
  keep_cached(key_, {"a newer binary", ""});
  const auto newer = find_cached(key_);
  if (root) {
    ASSERT_EQ(seteuid(0), 0);
  }
  EXPECT_TRUE(found);
  ASSERT_TRUE(newer);
  EXPECT_EQ(newer->bytes, "binary");
  EXPECT_EQ(files(), 1u);
}

// A write to a full disk: a part of it succeeds, the rest fails.
TEST_F(CacheFolderTest, AFullDiskLeavesTheOldEntryAndNoRubbish) {
  keep_cached(key_, {"old", ""});
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{1000, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  keep_cached(key_, {std::string(5000, 'n'), ""});
  keep_cached(hash_of({"another"}), {std::string(5000, 'n'), ""});
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  ASSERT_TRUE(find_cached(key_));
  EXPECT_EQ(find_cached(key_)->bytes, "old");
  EXPECT_EQ(files(), 1u);
}

TEST_F(CacheFolderTest, ALinkIsNoEntryAndItsTargetStaysAsItIs) {
  keep_cached(key_, {"binary", ""});
  const fs::path elsewhere = folder_.path() + "/elsewhere";
  fs::rename(entry(), elsewhere);
  fs::create_symlink(elsewhere, entry());
  EXPECT_FALSE(find_cached(key_));
  const auto size = fs::file_size(elsewhere);
  keep_cached(key_, {"a longer binary", ""});  // replaces the link
  EXPECT_TRUE(find_cached(key_));
  EXPECT_FALSE(fs::is_symlink(entry()));
  EXPECT_EQ(fs::file_size(elsewhere), size);
}

TEST_F(CacheFolderTest, MayBeALinkItself) {
  fs::create_directory(folder_.path() + "/real");
  fs::permissions(folder_.path() + "/real", fs::perms::owner_all);
  fs::create_directory_symlink(folder_.path() + "/real", path());
  keep_cached(key_, {"binary", ""});
  EXPECT_TRUE(find_cached(key_));
}

TEST_F(CacheFolderTest, OldTemporariesGoAndYoungOnesStay) {
  keep_cached(key_, {"binary", ""});
  const fs::path young = path() + "/new.young", old = path() + "/new.old";
  for (const fs::path& left : {young, old}) std::ofstream(left) << "half an entry";
  fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(2));
  keep_cached(key_, {"binary", ""});
  EXPECT_TRUE(fs::exists(young));
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(find_cached(key_));
}

TEST_F(CacheFolderTest, GoneInTheMiddleOfThingsIsNoError) {
  std::atomic<bool> done = false;
  std::thread remover([&] {
    std::error_code ignored;
    while (!done) fs::remove_all(path(), ignored);
  });
  const Binary binary{std::string(50000, 'b'), "log"};
  for (int i = 0; i < 200; ++i) {
    keep_cached(key_, binary);
    if (const auto found = find_cached(key_)) {
      EXPECT_TRUE(found->bytes == binary.bytes && found->log == binary.log);
    }
  }
  done = true;
  remover.join();
}

// Writers that are killed at any time: readers see only complete entries.
TEST_F(CacheFolderTest, KilledWritersLeaveNoHalfEntries) {
  const auto binary = [](char fill) { return Binary{std::string(300000, fill), "log"}; };
  keep_cached(key_, binary('a'));
  for (int kill_after = 0; kill_after < 40; ++kill_after) {
    const pid_t writer = fork();
    ASSERT_GE(writer, 0);
    if (writer == 0) {
      for (;;) keep_cached(key_, binary(static_cast<char>('a' + kill_after % 26)));
    }
    std::this_thread::sleep_for(std::chrono::microseconds(1000 + 137 * kill_after));
    kill(writer, SIGKILL);
    ASSERT_EQ(waitpid(writer, nullptr, 0), writer);
    const auto found = find_cached(key_);
    ASSERT_TRUE(found);
    EXPECT_TRUE(found->bytes.size() == 300000 && found->bytes == std::string(300000, found->bytes[0]) && found->log == "log");
  }
}

}  // namespace
}  // namespace samesum::device
