// Included before exact.h to put its digits in private memory; local_again.h is included after it.
#ifdef __OPENCL_VERSION__
#undef LOCAL
#define LOCAL __private
#endif
