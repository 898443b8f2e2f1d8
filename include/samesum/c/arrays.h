/* The C interface: errors, devices, arrays, options. samesum.h includes it. */
#ifndef SAMESUM_C_ARRAYS_H
#define SAMESUM_C_ARRAYS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SAMESUM_C_API __attribute__((visibility("default")))
/* In C++ an enumeration of C takes any number, as in C. */
#ifdef __cplusplus
#define SAMESUM_C_ENUM : unsigned
#else
#define SAMESUM_C_ENUM
#endif

typedef enum samesum_status SAMESUM_C_ENUM {
  SAMESUM_OK = 0,
  SAMESUM_NO_ANSWER = 1, /* the input is fine, but has no answer: the mean of no elements, an integer beyond 64 bits */
  SAMESUM_USAGE = 2,     /* an argument cannot be used */
  SAMESUM_DEVICE = 3,    /* a device, its driver or its compiler failed */
  SAMESUM_NO_MEMORY = 4,
  SAMESUM_CANCELLED = 5 /* samesum_options.progress asked for it */
} samesum_status;

/* What was wrong in this thread's latest call that failed, and what to do about it: one readable message. Valid until the thread's next
 * failure. "" if there was none. */
SAMESUM_C_API const char* samesum_message(void);
/* Sets that message, and returns `status`: for functions of the caller's that samesum calls. */
SAMESUM_C_API samesum_status samesum_fail(samesum_status status, const char* text);
/* Sets what an environment variable of samesum sets, and goes before it ("SAMESUM_CACHE_DIR", "/srv/kernels"); NULL: the variable holds
 * again. To be called before the first use of what it is for. */
SAMESUM_C_API samesum_status samesum_configure(const char* name, const char* value);
/* "0.1.0" */
SAMESUM_C_API const char* samesum_version(void);

typedef enum samesum_type SAMESUM_C_ENUM {
  SAMESUM_INT8,
  SAMESUM_UINT8,
  SAMESUM_INT16,
  SAMESUM_UINT16,
  SAMESUM_INT32,
  SAMESUM_UINT32,
  SAMESUM_INT64,
  SAMESUM_UINT64,
  SAMESUM_FLOAT16,
  SAMESUM_BFLOAT16,
  SAMESUM_FLOAT32,
  SAMESUM_FLOAT64
} samesum_type;

/* --- devices ----------------------------------------------------------------------------------------------------------------------- */

typedef struct samesum_device samesum_device;

/* By a selector: "cpu", "opencl:0", "cuda:0", a part of a name, or "auto": the CPU, or what SAMESUM_DEVICE names. */
SAMESUM_C_API samesum_status samesum_device_open(const char* selector, samesum_device** device);
/* The caller's own CUDA stream (a CUstream or cudaStream_t; NULL: the legacy one) on GPU `ordinal`, or OpenCL command queue. All work for
 * arrays on this device is enqueued there. The stream or queue must outlive the handle. */
SAMESUM_C_API samesum_status samesum_device_on_cuda_stream(void* stream, uint32_t ordinal, samesum_device** device);
SAMESUM_C_API samesum_status samesum_device_on_opencl_queue(void* queue, samesum_device** device);
/* The selectors of all devices that can be used, each before a line end. As samesum_accumulator_serialize() has bytes and size; the size
 * includes the 0 at the end. */
SAMESUM_C_API samesum_status samesum_device_list(char* text, size_t* size);
/* Work on the device from now on waits there for an event of another queue (a CUevent or cudaEvent_t, or a cl_event); and an event that
 * completes with all work so far: on CUDA `*event` is recorded, or a new one if it is NULL. A new one is the caller's. */
SAMESUM_C_API samesum_status samesum_device_wait_for(const samesum_device* device, void* event);
SAMESUM_C_API samesum_status samesum_device_record(const samesum_device* device, void** event);
/* 1 if it has a capability ("fp64", "kernels": `samesum devices` lists them). */
SAMESUM_C_API int samesum_device_has(const samesum_device* device, const char* capability);
/* Valid as long as the handle. */
SAMESUM_C_API const char* samesum_device_selector(const samesum_device* device);
SAMESUM_C_API const char* samesum_device_name(const samesum_device* device);
/* Runs the self-test, which takes seconds: SAMESUM_OK if all bits are right, SAMESUM_DEVICE with the failures as message if not. */
SAMESUM_C_API samesum_status samesum_device_selftest(const samesum_device* device);
/* Searches up to `seconds` for shapes of kernels that are faster on the device, and writes these to the file `path` (NULL: the user's own);
 * `*better`, if not NULL: for how many operations, types and sizes there were some. Results never change by it. */
SAMESUM_C_API samesum_status samesum_device_tune(const samesum_device* device, double seconds, const char* path, uint64_t* better);
SAMESUM_C_API void samesum_device_free(samesum_device* device);

/* --- arrays and options ------------------------------------------------------------------------------------------------------------ */

/* A view of the caller's elements, which must not change during a call. */
typedef struct samesum_array {
  const void* data; /* the first element; in device memory a CUDA device pointer, or a cl_mem */
  samesum_type type;
  uint32_t rank;          /* axes, up to 64; 0: one element */
  const uint64_t* shape;  /* elements along each axis */
  const int64_t* strides; /* bytes from an element to the next along each axis, also 0 or negative; NULL: C order */
  samesum_device* device; /* NULL: host memory */
  uint64_t offset;        /* in device memory: bytes from `data` to the first element; for negative strides; in host memory 0 */
} samesum_array;

/* All zero is the default, and so is a null pointer. */
typedef struct samesum_options {
  size_t size;            /* sizeof(samesum_options), or 0 if all is zero */
  samesum_device* device; /* for host arrays: where to compute; NULL: chosen by size */
  int skip_nan;           /* 1: NaNs are left out; 0: a NaN makes the result NaN */
  uint32_t threads;       /* of the CPU; 0: chosen */
  /* Called now and then during long calls on host arrays; a result other than 0 cancels the call. `total` is 0 if it is unknown. */
  int (*progress)(void* context, uint64_t done, uint64_t total);
  void* context;
} samesum_options;

/* A number of any type: `real` if type is SAMESUM_FLOAT64, `integer` if it is SAMESUM_INT64, `natural` if SAMESUM_UINT64. */
typedef struct samesum_value {
  samesum_type type;
  union {
    double real;
    int64_t integer;
    uint64_t natural;
  };
} samesum_value;

/* An extremum and the lowest index, in C order, at which it stands. */
typedef struct samesum_extremum {
  samesum_value value;
  uint64_t index;
} samesum_extremum;

#ifdef __cplusplus
}
#endif

#endif
