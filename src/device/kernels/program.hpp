// Building kernels from their files: assembles the source and uses the disk cache, for all backends.
#pragma once

#include "device/device.hpp"

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace samesum::device {

/// The parts of a program: `files` in order (embedded; named by their path under src/, "product/product.cl"), preceded by the prelude of
/// the device's language and a #define for each entry of `defines`, followed by `text`, the source of a user's kernel or a formula's, and
/// that by the files of `after`.
struct Source {
  std::vector<std::string_view> files;
  std::vector<std::pair<std::string, std::string>> defines;
  std::string text = {};
  std::vector<std::string_view> after = {};
};

/// The source text that the device's compiler gets for `source`.
std::string assemble(Language language, const Source& source);

/// The kernel `entry` of `source` for `device`: from memory, from the disk cache, from what ships with samesum, or compiled.
/// @throws Error (device) with kernel, configuration and build log where compilation fails.
Kernel build(Device& device, const Source& source, std::string_view entry);

/// An embedded kernel file's text. `path` must be one of kernel_files().
std::string_view kernel_file(std::string_view path);
std::vector<std::string_view> kernel_files();

}  // namespace samesum::device
