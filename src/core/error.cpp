#include <samesum/error.hpp>

#include <utility>

namespace samesum {
namespace {

std::string compose(std::string message, const Error::Context& context) {
  const auto append = [&message](std::string_view label, const std::string& text) {
    if (!text.empty()) message.append("\n  ").append(label).append(": ").append(text);
  };
  append("device", context.device);
  append("kernel", context.kernel);
  append("configuration", context.configuration);
  append("code", context.code);
  append("build log", context.build_log);
  return message;
}

}  // namespace

Error::Error(ErrorKind kind, std::string message, Context context)
    : std::runtime_error(compose(std::move(message), context)), kind_(kind), context_(std::move(context)) {}

Error::Error(ErrorKind kind, std::string message) : Error(kind, std::move(message), Context{}) {}

}  // namespace samesum
