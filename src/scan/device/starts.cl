// Where scans begin anew, as bits for group.h.

// The bits of lines of `extent` elements each.
KERNEL void scan_rows(GLOBAL uint* starts, ulong words, ulong extent) {
  const ulong step = global_size();
  for (ulong i = global_id(); i < words; i += step) {
    uint bits = 0;
    for (ulong start = (32 * i + extent - 1) / extent * extent; start < 32 * i + 32; start += extent) bits |= (uint)1 << (uint)(start - 32 * i);
    starts[i] = bits;
  }
}

// Adds bits at these places, of which those beyond the elements are left out.
KERNEL void scan_offsets(GLOBAL uint* starts, GLOBAL const ulong* offsets, ulong count, ulong size) {
  const ulong step = global_size();
  for (ulong i = global_id(); i < count; i += step) {
    const ulong offset = offsets[i];
    if (offset < size) atomic_or_global32(&starts[offset / 32], (uint)1 << (uint)(offset % 32));
  }
}
