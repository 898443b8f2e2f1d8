// Files that are truncated while they are read.
#pragma once

namespace samesum::cli {

/// From now on, reading the missing part of a mapped file that was truncated (SIGBUS) ends the program with a message that names the file,
/// and exit code 2.
void watch_mapped_files() noexcept;

}  // namespace samesum::cli
