#include "device/opencl/build_log.hpp"

#include <fmt/format.h>

#include <charconv>

namespace samesum::device::opencl {
namespace {

constexpr std::string_view kWholeText[] = {"<kernel>:", "input.cl:"};  // NVIDIA's name for it, Oclgrind's
constexpr std::string_view kDirective = "#line 1 \"";

// "reduce/x.cl:7" for a line of the whole text, counted from 1.
std::string place_of(std::string_view source, std::uint64_t line) {
  std::string_view file = "<kernel>";
  std::uint64_t line_in_file = 0;
  for (std::uint64_t at = 1; at <= line && !source.empty(); ++at) {
    const std::string_view text = source.substr(0, source.find('\n'));
    source.remove_prefix(text.size() < source.size() ? text.size() + 1 : text.size());
    ++line_in_file;
    if (!text.starts_with(kDirective)) continue;
    file = text.substr(kDirective.size(), text.rfind('"') - kDirective.size());
    line_in_file = 0;
  }
  return fmt::format("{}:{}", file, line_in_file);
}

}  // namespace

std::string with_files(std::string_view log, std::string_view source) {
  std::string result;
  while (!log.empty()) {
    std::size_t found = log.size();
    std::size_t after = log.size();
    for (const std::string_view name : kWholeText) {
      if (const std::size_t at = log.find(name); at < found) found = at, after = at + name.size();
    }
    std::uint64_t line = 0;
    const auto [end, error] = std::from_chars(log.data() + after, log.data() + log.size(), line);
    if (error == std::errc() && !source.empty()) {
      result.append(log.substr(0, found)).append(place_of(source, line));
      after = static_cast<std::size_t>(end - log.data());
    } else {
      result += log.substr(0, after);
    }
    log.remove_prefix(after);
  }
  return result;
}

}  // namespace samesum::device::opencl
