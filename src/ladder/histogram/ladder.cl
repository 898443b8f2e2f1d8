// The textbook's histograms of bytes, from the incorrect one up. counts has BINS counters; the last rung is count.cl.
// Defined by the host: GROUP, BINS, and where bins are not the bytes themselves OWN_BINS, with bin_of() before this file: BINS where a byte
// belongs to none. RESIDENT: groups that a compute unit is to hold at once, which limits the registers of a work-item.
#ifndef RESIDENT
#define RESIDENT 1
#endif

#if OWN_BINS
#define IN_BINS(bin) ((bin) < BINS)
#else
FN uint bin_of(uint x) { return x; }
#define IN_BINS(bin) 1
#endif

// A data race: two work-items read one counter, both add one, both write, and one count is lost.
KERNEL FIXED_GROUP(GROUP, RESIDENT) void racy(GLOBAL const uchar* data, ulong n, GLOBAL volatile uint* counts) {
  for (ulong i = global_id(); i < n; i += global_size()) {
    const uint bin = bin_of(data[i]);
    if (IN_BINS(bin)) counts[bin] = counts[bin] + 1;
  }
}

// A contiguous section for each work-item: neighbouring work-items read distant addresses.
KERNEL FIXED_GROUP(GROUP, RESIDENT) void block_partition(GLOBAL const uchar* data, ulong n, GLOBAL uint* counts) {
  ulong section = (n + global_size() - 1) / global_size();
  ulong begin = global_id() * section;
  ulong end = begin + section < n ? begin + section : n;
  for (ulong i = begin; i < end; ++i) {
    const uint bin = bin_of(data[i]);
    if (IN_BINS(bin)) atomic_add_global32(&counts[bin], 1);
  }
}

// Neighbouring work-items read neighbouring bytes.
KERNEL FIXED_GROUP(GROUP, RESIDENT) void interleaved(GLOBAL const uchar* data, ulong n, GLOBAL uint* counts) {
  for (ulong i = global_id(); i < n; i += global_size()) {
    const uint bin = bin_of(data[i]);
    if (IN_BINS(bin)) atomic_add_global32(&counts[bin], 1);
  }
}

// Each group has its own counters, in local memory.
KERNEL FIXED_GROUP(GROUP, RESIDENT) void privatized(GLOBAL const uchar* data, ulong n, GLOBAL uint* counts) {
  LOCAL_VAR uint own[BINS];
  for (uint i = local_id(); i < BINS; i += GROUP) own[i] = 0;
  barrier_local();
  for (ulong i = global_id(); i < n; i += global_size()) {
    const uint bin = bin_of(data[i]);
    if (IN_BINS(bin)) atomic_add_local32(&own[bin], 1);
  }
  barrier_local();
  for (uint i = local_id(); i < BINS; i += GROUP) {
    if (own[i] != 0) atomic_add_global32(&counts[i], own[i]);
  }
}

// A run of equal values is counted in a register, and added when it ends.
KERNEL FIXED_GROUP(GROUP, RESIDENT) void aggregated(GLOBAL const uchar* data, ulong n, GLOBAL uint* counts) {
  LOCAL_VAR uint own[BINS];
  for (uint i = local_id(); i < BINS; i += GROUP) own[i] = 0;
  barrier_local();
  uint value = 0;
  uint run = 0;
  for (ulong i = global_id(); i < n; i += global_size()) {
    uint next = bin_of(data[i]);
    if (next != value) {
      if (run != 0 && IN_BINS(value)) atomic_add_local32(&own[value], run);
      value = next;
      run = 0;
    }
    ++run;
  }
  if (run != 0 && IN_BINS(value)) atomic_add_local32(&own[value], run);
  barrier_local();
  for (uint i = local_id(); i < BINS; i += GROUP) {
    if (own[i] != 0) atomic_add_global32(&counts[i], own[i]);
  }
}

KERNEL void clear(GLOBAL uint* counts) { counts[global_id()] = 0; }
