#include "nccl/library.hpp"
#include "core/setting.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <dlfcn.h>

#include <cstdlib>
#include <utility>

namespace samesum::nccl {
namespace {

struct Loaded {
  Library library;
  std::string reason;  // why there is none
};

Loaded load() {
  const std::string chosen = core::setting("SAMESUM_NCCL_LIBRARY");
  const bool named = !chosen.empty();
  const char* const name = named ? chosen.c_str() : "libnccl.so.2";
  void* const handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return {{}, fmt::format("{}{} cannot be loaded: {}", named ? "SAMESUM_NCCL_LIBRARY names it, and " : "", name, dlerror())};
  }
  Loaded loaded;
  const auto take = [&](auto& function, const char* symbol) {
    *reinterpret_cast<void**>(&function) = dlsym(handle, symbol);
    return function != nullptr;
  };
  Library& library = loaded.library;
  for (const auto& [there, symbol] : {std::pair(take(library.init_all, "ncclCommInitAll"), "ncclCommInitAll"),
                                      std::pair(take(library.destroy, "ncclCommDestroy"), "ncclCommDestroy"),
                                      std::pair(take(library.all_reduce, "ncclAllReduce"), "ncclAllReduce"),
                                      std::pair(take(library.error_string, "ncclGetErrorString"), "ncclGetErrorString")}) {
    if (!there) loaded.reason = fmt::format("{} has no function {}", name, symbol);
  }
  take(library.last_error, "ncclGetLastError");
  return loaded;
}

}  // namespace

void Library::check(Result result, std::string_view call) const {
  if (result == 0) return;
  const char* const text = error_string(result);
  const char* const more = last_error != nullptr ? last_error(nullptr) : nullptr;
  const std::string because = more != nullptr && *more != '\0' ? fmt::format(" ({})", more) : "";
  Error::Context context;
  context.code = fmt::format("ncclResult_t {}", result);
  throw Error(ErrorKind::device,
              fmt::format("{} failed: {}{}; NCCL_DEBUG=WARN tells more", call, text != nullptr ? text : "an unknown error", because),
              std::move(context));
}

const Library& library() {
  static const Loaded loaded = load();
  if (!loaded.reason.empty()) throw Error(ErrorKind::device, fmt::format("NCCL is not there: {}", loaded.reason));
  return loaded.library;
}

}  // namespace samesum::nccl
