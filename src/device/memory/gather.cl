// Gathers elements first, first + 1, … in C order of an array with several axes into contiguous memory.
//
// `axes` has two words for each axis, from the last to the first: its extent and its stride in bytes. INDEX is a type that holds the number
// of elements; ELEMENT is one of their size.

KERNEL void gather(GLOBAL const uchar* from, ulong offset, GLOBAL const ulong* axes, uint rank, ulong first, ulong count, GLOBAL ELEMENT* to) {
  for (ulong i = global_id(); i < count; i += global_size()) {
    INDEX number = (INDEX)(first + i);
    ulong at = offset;
    for (uint axis = 0; axis + 1 < rank; ++axis) {
      const INDEX extent = (INDEX)axes[2 * axis];
      const INDEX before = number / extent;
      at += (ulong)(number - before * extent) * axes[2 * axis + 1];
      number = before;
    }
    at += (ulong)number * axes[2 * (rank - 1) + 1];
    to[i] = *(GLOBAL const ELEMENT*)(from + at);
  }
}
