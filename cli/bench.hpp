// What the commands under `samesum bench` share.
#pragma once

#include "command.hpp"
#include "progress.hpp"

#include <samesum/device.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace samesum::cli {

/// A benchmark wants the fastest device, whatever its start-up, where the user does not say which.
Device choose_for_bench(const std::string& selector);

/// "1000000", "2^28", "64M": K, M and G are powers of 1024. @throws Error (usage) that names `option`.
std::uint64_t parse_size(const std::string& text, const char* option);

void add_bench_barrier(CLI::App& parent, Action& action);
void add_bench_histogram(CLI::App& parent, Action& action);
void add_bench_pairs(CLI::App& parent, Action& action);
void add_bench_reduce(CLI::App& parent, Action& action);

}  // namespace samesum::cli
