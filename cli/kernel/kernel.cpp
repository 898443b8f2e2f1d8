// samesum kernel PATTERN VARIANT
#include "bench/bench.hpp"
#include "command.hpp"
#include "kernel/user_kernel.hpp"
#include "output/output_file.hpp"
#include "usage.hpp"

#include <samesum/error.hpp>
#include <samesum/inspect.hpp>

#include <fmt/ranges.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <system_error>

namespace samesum::cli {
namespace {

struct KernelOptions {
  std::string pattern, variant, device = "auto", assembly, ptx, dtype = "float32", size, file, of;
  InspectOptions inspect;
};

// CUDA's disassembler, if it is installed.
std::string find_disassembler() {
  const char* const path = std::getenv("PATH");
  std::string folders = path != nullptr ? path : "";
  folders += ":/usr/local/cuda/bin";
  for (std::size_t begin = 0; begin <= folders.size();) {
    const std::size_t end = std::min(folders.find(':', begin), folders.size());
    for (const char* name : {"nvdisasm", "cuobjdump"}) {
      const std::string tool = folders.substr(begin, end - begin) + "/" + name;
      if (access(tool.c_str(), X_OK) == 0) return tool;
    }
    begin = end + 1;
  }
  return {};
}

// The machine code of a cubin as text; empty if the tool fails.
std::string disassemble(const std::string& tool, const std::string& cubin) {
  std::string path = (std::filesystem::temp_directory_path() / "samesum.XXXXXX").string();
  const int descriptor = mkstemp(path.data());
  if (descriptor < 0) return {};
  const bool written = write(descriptor, cubin.data(), cubin.size()) == static_cast<ssize_t>(cubin.size());
  close(descriptor);
  std::string text;
  const auto quoted = [](const std::string& word) {
    std::string result = "'";
    for (const char c : word) result += c == '\'' ? "'\\''" : std::string(1, c);
    return result + "'";
  };
  const std::string command = quoted(tool) + (tool.ends_with("cuobjdump") ? " -sass " : " ") + quoted(path) + " 2>/dev/null";
  if (std::FILE* const pipe = written ? popen(command.c_str(), "r") : nullptr) {
    std::array<char, 1 << 16> block;
    while (const std::size_t got = std::fread(block.data(), 1, block.size(), pipe)) text.append(block.data(), got);
    if (pclose(pipe) != 0) text.clear();
  }
  unlink(path.c_str());
  return text;
}

// The output of --asm, and its format.
struct Assembly {
  std::string bytes, what;
};

Assembly assembly_of(const std::vector<KernelListing>& listings) {
  Assembly all;
  const std::string tool = listings.front().format == "cubin" ? find_disassembler() : "";
  for (const KernelListing& listing : listings) {
    std::string text = tool.empty() ? "" : disassemble(tool, listing.binary);
    if (!text.empty()) {
      all.bytes += text;
      all.what = "SASS, by " + tool;
    } else if (listings.size() == 1 || listing.format == "PTX") {
      all.bytes += listing.binary;
      all.what = listing.format == "cubin" ? "a cubin, as there is neither nvdisasm nor cuobjdump to disassemble it" : listing.format;
    } else if (all.bytes.empty()) {  // binaries cannot be concatenated
      all.bytes = listing.binary;
      all.what = fmt::format("{}, of the first of {} programs", listing.format, listings.size());
    }
  }
  if (all.what == "the driver's own") all.what = "the program's binary in the driver's own form, with machine code where it has any";
  return all;
}

// The PTX of all programs, for --ptx.
std::string ptx_of(const std::vector<KernelListing>& listings, const DeviceInfo& device) {
  std::string all;
  for (const KernelListing& listing : listings) all += listing.ptx;
  if (all.empty()) {
    throw Error(ErrorKind::usage, fmt::format("{} has no PTX, which is of NVIDIA's devices: --asm writes what it has", device.selector));
  }
  return all;
}

int run(Output& out, KernelOptions options) {
  // The drivers' caches would give no build log the second time, and for samesum's PoCL compiles everything twice. No device has been
  // opened yet.
  setenv("CUDA_CACHE_DISABLE", "1", 1);
  setenv("POCL_KERNEL_CACHE", "0", 1);
  setenv("SAMESUM_CACHE", "0", 1);
  const OutputFile target(options.assembly, {}), ptx_target(options.ptx, {});
  if (!options.file.empty()) {
    if (!options.pattern.empty())
      throw Error(ErrorKind::usage, "a kernel of your own has --pattern, and no variant of samesum's beside it");
    UserKernel kernel = load_user_kernel(options.file);
    options.pattern = pattern_of(kernel, options.of);
    options.inspect.kernel_name = std::move(kernel.name);
    options.inspect.kernel_source = std::move(kernel.source);
  } else if (!options.of.empty()) {
    throw Error(ErrorKind::usage, "--pattern is that of --file; samesum's own kernels are named as in 'samesum kernel sum exact_bins'");
  }
  if (options.variant.empty() && options.file.empty()) {
    for (const std::string& pattern : options.pattern.empty() ? kernel_patterns() : std::vector{options.pattern}) {
      out.print("{}: {}\n", pattern, fmt::join(kernel_variants(pattern), " "));
    }
    return kExitOk;
  }
  options.inspect.type = parse_dtype(options.dtype);
  options.inspect.binaries = target.wanted() || ptx_target.wanted();
  if (!options.size.empty()) options.inspect.size = parse_size(options.size, "--size");
  const Device device = choose_for_bench(options.device);
  const std::vector<KernelListing> listings = inspect_kernels(device, options.pattern, options.variant, options.inspect);
  if (listings.empty())
    throw Error(ErrorKind::usage, fmt::format("{} {} has no kernels: it runs on the CPU alone", options.pattern, options.variant));
  const std::string ptx = ptx_target.wanted() ? ptx_of(listings, device.info()) : "";
  for (const KernelListing& listing : listings) {
    out.print("{}\n// --- build log, {}\n", listing.source, device.info().name);
    std::string_view log = listing.log.empty() ? "(the compiler said nothing)" : std::string_view(listing.log);
    while (!log.empty()) {
      const std::size_t end = std::min(log.find('\n'), log.size());
      if (end != 0) out.print("// {}\n", log.substr(0, end));
      log.remove_prefix(std::min(end + 1, log.size()));
    }
  }
  out.print("// --- launch: {}\n", listings.front().launch);
  if (ptx_target.wanted()) {
    ptx_target.write(out, {bytes_of(ptx)});
    out.print("// {}: PTX\n", options.ptx);
  }
  if (target.wanted()) {
    const Assembly assembly = assembly_of(listings);
    target.write(out, {bytes_of(assembly.bytes)});
    out.print("// {}: {}\n", options.assembly, assembly.what);
  }
  return kExitOk;
}

}  // namespace

void add_kernel(CLI::App& program, Action& action) {
  const auto options = std::make_shared<KernelOptions>();
  CLI::App* command = program.add_subcommand("kernel", "A kernel's source as compiled, the compiler's log, the machine code");
  command->add_option("PATTERN", options->pattern, "sum, histogram, pairs ...; without it all are listed");
  command->add_option("VARIANT", options->variant, "as in 'samesum bench'; without it they are listed");
  command->add_option("--file", options->file, "a kernel of your own instead")->type_name("FILE");
  command->add_option("--pattern", options->of, "sum, reduce, histogram, pairs, barrier; by default what its name says")
      ->option_text("PATTERN");
  command->add_option("--device", options->device, "by default the fastest there is")->type_name("DEVICE");
  command->add_option("--bins", options->inspect.bins, "of its histogram (default 256)")
      ->transform(whole_number(1, 4096))
      ->option_text("N");
  command->add_option("--asm", options->assembly, "file for the machine code")->type_name("FILE");
  command->add_option("--ptx", options->ptx, "file for NVIDIA's PTX, from which the machine code is made")->type_name("FILE");
  command->add_option("--dtype", options->dtype, "of the elements: float32 (default), float64 ...")->type_name("TYPE");
  command->add_option("--size", options->size, "elements of the array: 1000000, 2^20, 64K; by default 2^28, of pairs 2^16")
      ->option_text("N");
  const CLI::Validator number = whole_number(1, 1u << 16);
  command->add_option("--group", options->inspect.group_size, "work-items of a group")->transform(number)->option_text("N");
  command->add_option("--components", options->inspect.components, "of pairs' vectors")
      ->transform(whole_number(1, 1024u))
      ->option_text("D");
  command->add_option("--f", options->inspect.f, "of pairs")->type_name("NAME");
  command->add_option("--reduce", options->inspect.reduction, "of pairs")->type_name("NAME");
  command->footer(R"(Examples:
  samesum kernel                                   # what there is
  samesum kernel pairs register_blocks             # source, then the log
  samesum kernel sum exact_bins --device cuda:0 --asm sum.sass
  samesum kernel sum exact_bins --size 4K          # what so few data take
  samesum kernel --file my.cl --asm my.asm         # your own, as bench compiles it

The log has what the compiler tells of registers, local memory and spills. It is
fresh: no cache is used. The line 'launch' has the shape of the groups, and the local
memory that the launch adds to what the kernel declares (dynamic local memory, which
is DYNLOCAL in the source). Machine code of CUDA needs nvdisasm or cuobjdump from
CUDA's toolkit; without them a cubin is written. --ptx works on NVIDIA's devices, with
CUDA and with OpenCL. PoCL gives a binary of its own.)");
  command->callback([options, &action] { action = [options](Output& out) { return run(out, *options); }; });
}

}  // namespace samesum::cli
