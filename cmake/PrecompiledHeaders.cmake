# samesum_precompile(TARGET HEADERS…): what many files include, the standard library's headers and these, is compiled once for all files of a
# target. Files include what they use all the same: preset `dev` compiles them without.
function(samesum_precompile target)
  target_precompile_headers(${target} PRIVATE <algorithm> <array> <atomic> <bit> <charconv> <chrono> <cmath> <cstdint> <cstring> <exception> <functional>
    <limits> <map> <memory> <mutex> <numeric> <optional> <span> <string> <string_view> <type_traits> <utility> <variant> <vector> ${ARGN})
endfunction()
