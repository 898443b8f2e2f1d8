// {fmt}'s library, compiled into this one, so that programs that link samesum do not need {fmt}. The functions are weak: a program that
// also links {fmt} has two equal copies. The program `samesum` takes what it needs of it from here, too.
#if !defined(FMT_HEADER_ONLY)
#define FMT_API __attribute__((weak, visibility("hidden")))
#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE
namespace detail {

template FMT_API auto thousands_sep_impl<char>(locale_ref) -> thousands_sep_result<char>;
template FMT_API auto decimal_point_impl<char>(locale_ref) -> char;
template FMT_API auto locale_ref::get<std::locale>() const -> std::locale;

}  // namespace detail
FMT_END_NAMESPACE
#endif
