# SAMESUM_SANITIZERS: the environment of every test. What the sanitizers are to overlook, as it is not ours, stands in tests/sanitizers/.
# Libraries that are not built with ThreadSanitizer (PoCL) are not watched by it, but for the locks that they take. AddressSanitizer frees a
# thread's signal stack at its end, also one that LLVM has put there (in PoCL): so it is to set up none.
set(suppressions ${CMAKE_CURRENT_SOURCE_DIR}/tests/sanitizers)
set(SAMESUM_SANITIZERS
    ASAN_OPTIONS=use_sigaltstack=0
    LSAN_OPTIONS=suppressions=${suppressions}/lsan.supp:print_suppressions=0
    UBSAN_OPTIONS=print_stacktrace=1
    TSAN_OPTIONS=suppressions=${suppressions}/tsan.supp:ignore_noninstrumented_modules=1:halt_on_error=1)
