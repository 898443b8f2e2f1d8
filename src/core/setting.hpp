// What environment variables and configure() (samesum/settings.hpp) set.
#pragma once

#include <string>

namespace samesum::core {

/// The value that configure() was given, else that of the environment variable; empty if there is neither.
std::string setting(const char* name);

}  // namespace samesum::core
