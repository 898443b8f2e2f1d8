// What of the library can be seen from outside.
#pragma once

/// Behind the name of a namespace, for the public headers: what is declared there is what the shared library exports. All else is hidden.
#define SAMESUM_EXPORT __attribute__((visibility("default")))
/// For what public headers have to name and users cannot use.
#define SAMESUM_HIDDEN __attribute__((visibility("hidden")))
