// Records of shapes: their text, how they match, what has precedence, and files that are damaged.
#include "support/listing_device.hpp"
#include "tuning/tables.hpp"

#include <samesum/error.hpp>

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace samesum::tuning {
namespace {

class Records : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = std::filesystem::temp_directory_path() / ("samesum_tuning_" + std::to_string(::getpid()) + ".json");
    before_ = std::getenv("SAMESUM_TUNING") != nullptr ? std::getenv("SAMESUM_TUNING") : "";
    setenv("SAMESUM_TUNING", path_.c_str(), 1);
    reload_user_tables();
  }
  void TearDown() override {
    std::filesystem::remove(path_);
    before_.empty() ? unsetenv("SAMESUM_TUNING") : setenv("SAMESUM_TUNING", before_.c_str(), 1);
    reload_user_tables();
  }
  void write(const std::string& text) {
    std::ofstream(path_) << text;
    reload_user_tables();
  }
  Table own() const {
    Record record;
    record.operation = Operation::count;
    record.types.set();
    record.above_bytes = 100;
    record.max_bytes = 1000;
    record.shape.group_size = 128;
    record.timing = TuneTiming{1e-6, 5e-7, 2e-6, 3e-6};
    Table table;
    table.kind = "own";
    table.device = info_.name;
    table.platform = info_.platform;
    table.records = {record};
    return table;
  }
  Found first(std::uint64_t bytes) const { return find_shapes(info_, Operation::count, DType::int32, bytes).at(0); }

  std::filesystem::path path_;
  std::string before_;
  DeviceInfo info_ = test::ListingDevice().info();
};

TEST_F(Records, TextIsReadBackAsItWas) {
  for (const Table& table : shipped_tables()) {
    const std::vector<Table> again = parse_tables(text_of(std::span(&table, 1)));
    ASSERT_EQ(again.size(), 1u);
    EXPECT_EQ(again[0].records, table.records);
    EXPECT_EQ(again[0].names, table.names);
  }
  const Table table = own();
  EXPECT_EQ(parse_tables(text_of(std::span(&table, 1))).at(0).records, table.records);
}

TEST_F(Records, TheUsersComeFirstInTheirRangeOnTheirDevice) {
  EXPECT_EQ(first(500).match, TuneMatch::device_class);
  write_table(path_, own());
  EXPECT_EQ(first(500).match, TuneMatch::device);
  EXPECT_EQ(first(500).shape.group_size, 128u);
  EXPECT_EQ(first(100).match, TuneMatch::device_class);
  EXPECT_EQ(first(1001).match, TuneMatch::device_class);
  {
    const ShippedOnly only;
    EXPECT_EQ(first(500).match, TuneMatch::device_class);
  }
  DeviceInfo other = info_;
  other.name = "another";
  EXPECT_EQ(find_shapes(other, Operation::count, DType::int32, 500).at(0).match, TuneMatch::device_class);
  write_table(path_, own());
  EXPECT_EQ(read_tables(path_).tables.size(), 1u);
  remove_table(path_, info_);
  EXPECT_EQ(first(500).match, TuneMatch::device_class);
}

TEST_F(Records, MatchesFromTheBest) {
  const auto found = std::ranges::find(shipped_tables(), "nvidia-hopper", &Table::kind);
  ASSERT_NE(found, shipped_tables().end());
  const Table& gpu = *found;
  DeviceInfo info = info_;
  info.name = "NVIDIA H200";
  EXPECT_EQ(match_of(gpu, info), TuneMatch::kind);
  info.name = "NVIDIA A100";
  EXPECT_EQ(match_of(gpu, info), TuneMatch::vendor);
  info.name = "gfx90a";
  EXPECT_EQ(match_of(gpu, info), TuneMatch::device_class);
  info.is_cpu = true;
  EXPECT_EQ(match_of(gpu, info), TuneMatch::generic);
}

// A file for a kind of devices: of no device's own, and replaced kind by kind.
TEST_F(Records, OfAKindAreNobodysOwn) {
  Table kind = own();
  kind.kind = "listing";
  kind.device.clear();
  kind.platform.clear();
  kind.names = {info_.name};
  write_table(path_, kind);
  EXPECT_EQ(read_tables(path_).tables.size(), 1u);
  EXPECT_TRUE(user_tables()->tables.empty());
  EXPECT_EQ(first(500).match, TuneMatch::device_class);
  write_table(path_, own());
  EXPECT_EQ(first(500).match, TuneMatch::device);
  kind.kind = "another";
  write_table(path_, kind);
  write_table(path_, kind);
  EXPECT_EQ(read_tables(path_).tables.size(), 3u);
  remove_table(path_, info_);
  EXPECT_EQ(read_tables(path_).tables.size(), 2u);
}

// The tables for one kind stand before those for several, so that they are found first.
TEST_F(Records, OfFewerKindsAreSearchedFirst) {
  EXPECT_TRUE(std::ranges::is_sorted(shipped_tables(), {}, [](const Table& table) { return table.names.size(); }));
  for (const Table& table : shipped_tables()) EXPECT_TRUE(table.device.empty()) << table.kind;
}

// Each prefix of a file, and each of its bytes replaced, is a file of records or has a problem; what is found is always valid.
TEST_F(Records, DamagedFilesAreIgnored) {
  const Table table = own();
  const std::string whole = text_of(std::span(&table, 1));
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (const char byte : {'\0', '9', '"', '{', '-'}) {
      std::string text = whole;
      byte == '\0' ? text.resize(i) : static_cast<void>(text[i] = byte);
      write(text);
      const Found found = first(500);
      EXPECT_EQ(why_invalid(Operation::count, found.shape), "") << text;
      if (found.match != TuneMatch::device) continue;
      EXPECT_TRUE(user_tables()->problem.empty());
    }
  }
  write("{}");
  EXPECT_NE(user_tables()->problem, "");
  EXPECT_THROW(write_table(path_, table), Error);  // it may be a file of something else
  EXPECT_EQ(std::filesystem::file_size(path_), 2u);
}

// A record may be valid and still be one that the driver cannot compile: calls go on with the shipped one.
TEST_F(Records, WhatFailsWithTheUsersRecordIsTriedWithoutIt) {
  write_table(path_, own());
  std::vector<TuneMatch> tried;
  const auto build = [&] {
    tried.push_back(first(500).match);
    if (tried.back() == TuneMatch::device) throw Error(ErrorKind::device, "out of registers");
    return tried.size();
  };
  EXPECT_EQ(without_own_on_failure(build), 2u);
  EXPECT_EQ(tried, (std::vector{TuneMatch::device, TuneMatch::device_class}));
  EXPECT_EQ(first(500).match, TuneMatch::device) << "only for that call";
  const auto never = [&]() -> int { throw Error(ErrorKind::device, "no compiler"); };
  EXPECT_THROW(without_own_on_failure(never), Error);
}

}  // namespace
}  // namespace samesum::tuning
