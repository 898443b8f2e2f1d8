// What compilers yielded, kept on disk between processes. A cache may forget at any time and never fails: a missing, damaged or
// unreadable entry is simply not there, and what cannot be written is not kept.
//
// Folder: $SAMESUM_CACHE_DIR, else $XDG_CACHE_HOME/samesum/kernels, else ~/.cache/samesum/kernels; SAMESUM_CACHE=0 turns it off.
// It is created for the user alone, and used only where no other user owns it or may write to it, as what lies in it is executed.
#pragma once

#include "device/device.hpp"

#include <optional>
#include <string>

namespace samesum::device {

/// The entry under `key` (of hash_of()), if there is an undamaged one.
std::optional<Binary> find_cached(const std::string& key);

/// Keeps `binary` under `key`, replacing what was there. Readers and writers in other processes see an old or the new entry, whole.
void keep_cached(const std::string& key, const Binary& binary) noexcept;

}  // namespace samesum::device
