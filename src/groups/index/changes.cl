// Whether indices are in runs, as sorted ones are. INDEX and GROUP_SIZE are as in by_index.cl, after digits.h.

// Of a sample, every `apart`-th element: how many have another index than the next one.
KERNEL FIXED_GROUP(GROUP_SIZE, 1)
void index_changes(GLOBAL const INDEX* indices, ulong from, long stride, ulong count, ulong apart, GLOBAL uint* words) {
  uint changes = 0;
  for (ulong i = global_id() * apart; i + 1 < count; i += global_size() * apart) {
    changes += indices[(long)from + (long)i * stride] != indices[(long)from + (long)(i + 1) * stride];
  }
  if (changes != 0) atomic_add_global32(&words[CHANGES], changes);
}
