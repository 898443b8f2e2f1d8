// Before exact.h, where its digits are to lie in private memory; local_again.h stands after it.
#ifdef __OPENCL_VERSION__
#undef LOCAL
#define LOCAL __private
#endif
