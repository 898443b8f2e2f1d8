// Included after exact.h with digits in private memory (private_digits.h): LOCAL means local memory again.
#ifdef __OPENCL_VERSION__
#undef LOCAL
#define LOCAL __local
#endif
