// Files that become shorter while they are read.
#pragma once

namespace samesum::cli {

/// From now on, a mapped file that loses its end while it is read (SIGBUS) ends the program with a message that names it, and exit code 2.
void watch_mapped_files() noexcept;

}  // namespace samesum::cli
