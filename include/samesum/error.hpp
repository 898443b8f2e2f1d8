// The one exception type of the library.
#pragma once

#include <samesum/export.hpp>

#include <stdexcept>
#include <string>

namespace samesum SAMESUM_EXPORT {

/// What kind of failure an Error reports. The program turns `no_answer` into exit code 1 and the others into 2.
enum class ErrorKind {
  usage,      ///< bad input: an argument, a file, a selector that cannot be used
  no_answer,  ///< the input is fine, but has no correct answer (a sum that does not fit its type, say)
  device,     ///< a device, its driver or its compiler failed
};

/// Thrown by every function of samesum that fails; nothing is printed, nothing exits.
///
/// `what()` is one readable message: what was being done, what was wrong, what to do. The context has the parts separately, for logs.
class Error : public std::runtime_error {
 public:
  /// Where the failure happened; empty strings if a part does not apply.
  struct Context {
    std::string device;         ///< selector and name, "cuda:0 (NVIDIA H100)"
    std::string kernel;         ///< kernel entry
    std::string configuration;  ///< groups, group size and so on, as printed by --verbose
    std::string code;           ///< the driver's code by name, "CL_OUT_OF_RESOURCES"
    std::string build_log;      ///< the compiler's log, whole
  };

  Error(ErrorKind kind, std::string message, Context context);
  Error(ErrorKind kind, std::string message);

  ErrorKind kind() const noexcept { return kind_; }             ///< bad input, no answer, or the device
  const Context& context() const noexcept { return context_; }  ///< what was being done, and where

 private:
  ErrorKind kind_;
  Context context_;
};

}  // namespace samesum
