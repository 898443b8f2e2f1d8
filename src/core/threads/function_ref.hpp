// A reference to something that can be called: two pointers, for functions that take a caller's lambda and are compiled once, not for each.
#pragma once

#include <memory>

namespace samesum::core {

template <class Signature>
class FunctionRef;

/// Must not outlive what it refers to: for parameters alone.
template <class... Arguments>
class FunctionRef<void(Arguments...)> {
 public:
  template <class Body>
  FunctionRef(const Body& body) noexcept
      : body_(std::addressof(body)), call_([](const void* of, Arguments... arguments) { (*static_cast<const Body*>(of))(arguments...); }) {}

  void operator()(Arguments... arguments) const { call_(body_, arguments...); }

 private:
  const void* body_;
  void (*call_)(const void*, Arguments...);
};

}  // namespace samesum::core
