// Results that kernels could not compute: others do.

// Appends the index of a result to `pending`, in any order, if there is room; `words[0]` counts them.
FN void add_pending(GLOBAL ulong* words, GLOBAL ulong* pending, ulong capacity, ulong index) {
  const uint number = atomic_add_global32((GLOBAL uint*)words, 1);
  if (number < capacity) pending[number] = index;
}
