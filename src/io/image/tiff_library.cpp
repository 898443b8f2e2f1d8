#include "io/image/tiff_library.hpp"

#include <samesum/error.hpp>

#include <dlfcn.h>
#include <fmt/format.h>

namespace samesum::io {

TiffLibrary open_tiff_library(const char* name) {
  void* const handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    throw Error(ErrorKind::usage,
                fmt::format("to read a TIFF takes libtiff, which cannot be loaded: {}; install it (Debian: libtiff6)", dlerror()));
  }
  TiffLibrary library;
  const auto load = [&](auto& function, const char* symbol) {
    *reinterpret_cast<void**>(&function) = dlsym(handle, symbol);
    if (function == nullptr) {
      throw Error(ErrorKind::usage,
                  fmt::format("to read a TIFF takes libtiff 4.5 or newer: {} has no function {}; update it", name, symbol));
    }
  };
#define SAMESUM_LOAD(function) load(library.function, #function);
  SAMESUM_TIFF_FUNCTIONS(SAMESUM_LOAD)
#undef SAMESUM_LOAD
  return library;
}

const TiffLibrary& tiff_library() {
  static const TiffLibrary library = open_tiff_library("libtiff.so.6");
  return library;
}

}  // namespace samesum::io
