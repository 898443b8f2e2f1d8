// Compiled kernels, cached on disk between processes. The cache never fails: a missing, damaged or unreadable entry is a miss, and an entry
// that cannot be written is dropped.
//
// Folder: $SAMESUM_CACHE_DIR, else $XDG_CACHE_HOME/samesum/kernels, else ~/.cache/samesum/kernels; SAMESUM_CACHE=0 disables it. It is
// created for the user alone, and used only where no other user owns it or may write to it, as its contents are executed.
#pragma once

#include "device/device.hpp"

#include <optional>
#include <string>

namespace samesum::device {

/// Whether there may be a cache: it is not disabled.
bool may_cache();

/// The entry under `key` (of hash_of()), if there is an undamaged one.
std::optional<Binary> find_cached(const std::string& key);

/// Stores `binary` under `key`, replacing an old entry. Readers and writers in other processes see the old or the new entry, complete.
void keep_cached(const std::string& key, const Binary& binary) noexcept;

}  // namespace samesum::device
