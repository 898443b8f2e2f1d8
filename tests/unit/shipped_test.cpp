// Kernels that ship with samesum: the file, which of them suit a device, and a device without a compiler (with a fake of the driver).
#include "device/kernels/shipped.hpp"
#include "device/cuda/cuda.hpp"
#include "device/cuda/driver_api.hpp"
#include "device/cuda/nvrtc.hpp"
#include "device/kernels/conformance.hpp"
#include "device/kernels/program.hpp"
#include "support/fake_cuda.hpp"
#include "support/process.hpp"
#include "warm/noting_device.hpp"

#include <samesum/error.hpp>

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace samesum::device {
namespace {

using test::FakeCuda;
using test::ScopedFolder;
using test::ScopedVariable;

class Shipped : public testing::Test {
 protected:
  std::string path() const { return folder_.path() + "/kernels"; }

  // Each under a name of its own, as a process reads a file once.
  static std::string content(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::string changed(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_.path() + '/' + name, std::ios::binary) << bytes;
    return folder_.path() + '/' + name;
  }

  ScopedFolder folder_;
};

TEST_F(Shipped, EntriesAreFoundByTextAndArchitecture) {
  const std::string code("\0machine code\0", 14);
  write_shipped(path(), {{"sm_90", 12090}, {"compute_75", 12000}},
                {{"a", "sm_90", code}, {"a", "compute_75", "ptx"}, {"b", "compute_75", ""}});
  const ScopedVariable named("SAMESUM_KERNELS", path());
  EXPECT_EQ(shipped_targets(), (std::vector<ShippedTarget>{{"sm_90", 12090}, {"compute_75", 12000}}));
  const auto found = find_shipped("a", "sm_90");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->bytes, code);
  EXPECT_EQ(found->arch, "sm_90");
  EXPECT_EQ(find_shipped("a", "compute_75")->bytes, "ptx");
  EXPECT_EQ(find_shipped("b", "compute_75")->bytes, "");
  EXPECT_FALSE(find_shipped("b", "sm_90"));
  EXPECT_FALSE(find_shipped("c", "sm_90"));
  EXPECT_FALSE(find_shipped("a", "sm_80"));
}

TEST_F(Shipped, ThereMayBeNoFile) {
  for (const std::string& path : {std::string("0"), folder_.path() + "/none", folder_.path(), std::string("/dev/null")}) {
    const ScopedVariable named("SAMESUM_KERNELS", path);
    EXPECT_TRUE(shipped_targets().empty()) << path;
    EXPECT_FALSE(find_shipped("a", "sm_90")) << path;
  }
  EXPECT_THROW(write_shipped(folder_.path() + "/none/kernels", {}, {}), Error);
}

// Whatever byte is another one, an entry is found as it was, or not.
TEST_F(Shipped, DamageIsAMiss) {
  const std::string text(300, 'x');
  write_shipped(path(), {{"sm_90", 12090}}, {{"a", "sm_90", text + "a"}, {"b", "sm_90", text + "b"}});
  const std::string whole = content(path());
  int misses = 0;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x11);
    const ScopedVariable named("SAMESUM_KERNELS", changed("byte" + std::to_string(at), bytes));
    for (const char* const source : {"a", "b"}) {
      if (const auto found = find_shipped(source, "sm_90")) {
        EXPECT_EQ(found->bytes, text + source) << at;
      } else {
        ++misses;
      }
    }
  }
  EXPECT_GE(misses, static_cast<int>(whole.size()));  // of an entry's byte one is missed, of the head both
  for (std::size_t length = 0; length < whole.size(); length += 7) {
    const ScopedVariable named("SAMESUM_KERNELS", changed("cut" + std::to_string(length), whole.substr(0, length)));
    EXPECT_FALSE(find_shipped("a", "sm_90") && find_shipped("b", "sm_90")) << length;
  }
}

TEST_F(Shipped, SuitsADevice) {
  write_shipped(path(), {{"sm_90", 12090}, {"sm_80", 12090}, {"compute_75", 12000}, {"compute_90", 13000}}, {});
  const ScopedVariable named("SAMESUM_KERNELS", path());
  const auto of = [](int capability, int driver) {
    const cuda::ShippedChoice choice = cuda::choose_shipped(capability, driver);
    return choice.code + " " + choice.ptx;
  };
  EXPECT_EQ(of(90, 13000), "sm_90 compute_90");
  EXPECT_EQ(of(90, 12000), "sm_90 compute_75");  // machine code: of any 12
  EXPECT_EQ(of(90, 11080), " ");                 // older than all compilers
  EXPECT_EQ(of(89, 12040), "sm_80 compute_75");  // of its generation
  EXPECT_EQ(of(120, 12090), " compute_75");
  EXPECT_EQ(of(75, 13000), " compute_75");
  EXPECT_EQ(of(70, 13000), " ");
}

class ShippedToFake : public Shipped {
 protected:
  void SetUp() override {
    const char* fakes = std::getenv("SAMESUM_FAKES");
    if (fakes == nullptr) GTEST_SKIP() << "SAMESUM_FAKES does not name the folder of the stand-ins (ctest sets it)";
    const std::string driver = std::string(fakes) + "/libfake_cuda.so";
    driver_.emplace("SAMESUM_CUDA_LIBRARY", driver);
    void* const library = dlopen(driver.c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << dlerror();
    fake_ = reinterpret_cast<FakeCuda* (*)()>(dlsym(library, "fake_cuda"))();
    *fake_ = FakeCuda{};
    Dl_info found{};
    const cuda::DriverOrReason& loaded = cuda::load_driver();
    ASSERT_NE(loaded.driver, nullptr) << loaded.reason;
    dladdr(reinterpret_cast<void*>(loaded.driver->cuInit), &found);
    if (!std::filesystem::equivalent(found.dli_fname, driver)) GTEST_SKIP() << "this process has loaded the real driver already";
  }

  ScopedVariable no_compiler_{"SAMESUM_NVRTC_LIBRARY", "/nowhere/libnvrtc.so"};
  ScopedVariable cache_{"SAMESUM_CACHE", "0"};
  ScopedVariable tuning_{"SAMESUM_TUNING", "0"};
  std::optional<ScopedVariable> driver_;
  FakeCuda* fake_ = nullptr;
};

constexpr const char* kWaits = "kernel waits l\n";  // to the fake, a program

TEST_F(ShippedToFake, NeedsNoCompiler) {
  const Source source{{}, {}, kWaits};
  warming::NotingDevice noting(227 << 10, 132);
  build(noting, source, "waits");
  const std::string text = *noting.texts.begin();
  write_shipped(path(), {{"sm_90", 12090}, {"compute_75", 12000}}, {{text, "sm_90", kWaits}, {text, "compute_75", kWaits}});
  {
    const ScopedVariable named("SAMESUM_KERNELS", "0");
    EXPECT_NE(cuda::probe().absent.at(0).reason.find("/nowhere/libnvrtc.so"), std::string::npos);
  }
  const ScopedVariable named("SAMESUM_KERNELS", path());
  for (const auto& [capability, waits] : {std::pair{90, true}, {80, false}, {120, false}}) {  // PTX of 7.5 cannot wait for other launches
    fake_->capability = capability;
    ASSERT_EQ(cuda::probe().devices.size(), 1u);
    const auto device = cuda::open(0);
    Kernel kernel = build(*device, source, "waits");
    kernel.early = true;
    const Argument arguments[] = {std::int64_t{1}};
    device->launch(kernel, {1, 32}, arguments);
    EXPECT_EQ(fake_->launches.back().early, waits) << capability;
    try {
      build(*device, Source{{}, {}, "kernel other l\n"}, "other");
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("not among the kernels that ship with samesum; SAMESUM_NVRTC_LIBRARY"), std::string::npos)
          << error.what();
    }
  }
  fake_->capability = 70;
  EXPECT_TRUE(cuda::probe().devices.empty());
}

TEST_F(ShippedToFake, TakesPtxWhereTheDriverRefusesMachineCode) {
  const Source source{{}, {}, kWaits};
  warming::NotingDevice noting(227 << 10, 132);
  build(noting, source, "waits");
  const std::string text = *noting.texts.begin();
  for (const char* const ptx : {kWaits, "damaged"}) {
    const std::string file = path() + ptx[0];
    write_shipped(file, {{"sm_90", 12090}, {"compute_75", 12000}}, {{text, "sm_90", "damaged"}, {text, "compute_75", ptx}});
    const ScopedVariable named("SAMESUM_KERNELS", file);
    const auto device = cuda::open(0);
    try {
      build(*device, source, "waits");
      EXPECT_EQ(ptx, kWaits);
    } catch (const Error& error) {
      EXPECT_NE(ptx, kWaits);
      EXPECT_NE(std::string(error.what()).find("the driver refuses the one that ships with samesum; SAMESUM_NVRTC_LIBRARY"),
                std::string::npos)
          << error.what();
    }
  }
}

// What a real compiler is asked for where there is one: not what ships, but for machine code.
TEST_F(ShippedToFake, ComesBeforeACompiler) {
  const ScopedVariable compiler("SAMESUM_NVRTC_LIBRARY", std::string(std::getenv("SAMESUM_FAKES")) + "/libfake_nvrtc.so");
  const Source source{{}, {}, kWaits};
  warming::NotingDevice noting(227 << 10, 132);
  build(noting, source, "waits");
  const std::string text = *noting.texts.begin(), other = "kernel other l\n";
  write_shipped(path(), {{"sm_90", 12090}, {"compute_75", 12000}}, {{text, "sm_90", kWaits + other}, {text, "compute_75", kWaits + other}});
  const ScopedVariable named("SAMESUM_KERNELS", path());
  const auto is_shipped = [&] {
    const auto device = cuda::open(0);
    try {
      build(*device, source, "other");  // which the text does not have
      return true;
    } catch (const Error&) {
      return false;
    }
  };
  EXPECT_TRUE(is_shipped());
  fake_->capability = 80;
  EXPECT_FALSE(is_shipped());
  fake_->capability = 90;
  fake_->failures["cuModuleLoadDataEx"] = 200;  // nothing is loaded: neither what ships nor what is compiled
  EXPECT_FALSE(is_shipped());
}

// All that opening a device and plain calls on it take is among what the packing tool compiles.
// What the fake reads of a program, where it finds its kernels. Whole texts take half of the test's time to compress.
std::string kernels_of(const std::string& text) {
  std::string lines = "KERNEL\n";
  for (std::size_t begin = 0, end; begin < text.size(); begin = end + 1) {
    end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    if (line.find("void ") != std::string_view::npos) lines.append(line).push_back('\n');
  }
  return lines;
}

TEST_F(ShippedToFake, HasEveryPlainCall) {
  std::vector<ShippedEntry> entries;
  for (const std::string& text : warming::texts_of_calls(227 << 10, 132)) entries.push_back({text, "sm_90", kernels_of(text)});
  write_shipped(path(), {{"sm_90", 12090}}, entries);
  const ScopedVariable named("SAMESUM_KERNELS", path());
  const std::shared_ptr<Device> device = cuda::open(0);
  for (const Missing& missing : check_conformance(*device)) {  // its kernel computes nothing here: the device is not restricted by it
    EXPECT_EQ(missing.reason.find("cannot build"), std::string::npos) << missing.reason;
  }
  int calls = 0;
  for (const warming::Call& call : warming::plain_calls(samesum::Device(device))) {
    try {
      call.run();
    } catch (const Error& error) {
      ADD_FAILURE() << call.operation << " of " << name_of(call.type) << ": " << error.what();
      break;
    }
    ++calls;
  }
  EXPECT_GT(calls, 2000);
  EXPECT_GT(device->built().size(), 800u);
}

}  // namespace
}  // namespace samesum::device
