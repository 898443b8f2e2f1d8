// What the host asks before sums: where elements lie, whether indices are in runs, as sorted ones are, whether any is outside, and whether offsets of
// segments are right. After shares.h; INDEX is the type of indices or offsets, and GROUP_SIZE as in by_index.cl.

// Of a sample, every `apart`-th element: how many have another index than the next one.
KERNEL FIXED_GROUP(GROUP_SIZE, 1)
void index_changes(GLOBAL const INDEX* indices, ulong from, long stride, ulong count, ulong apart, GLOBAL uint* words) {
  uint changes = 0;
  for (ulong i = global_id() * apart; i + 1 < count; i += global_size() * apart) {
    changes += indices[(long)from + (long)i * stride] != indices[(long)from + (long)(i + 1) * stride];
  }
  if (changes != 0) atomic_add_global32(&words[CHANGES], changes);
}

// The highest bit of a sample of the elements, every `apart`-th.
KERNEL FIXED_GROUP(GROUP_SIZE, 1)
void greatest_bit(GLOBAL const VALUE* values, ulong from, long stride, ulong count, ulong apart, GLOBAL uint* words) {
  uint greatest = 0;
  for (ulong i = global_id() * apart; i < count; i += global_size() * apart) {
    const NUMBER number = number_of(values[(long)from + (long)i * stride]);
    if (number.kind == NUMBER_FINITE && number.mantissa != 0) greatest = max_u32(greatest, number.place + VALUE_BITS);
  }
  if (greatest != 0) atomic_max_global32(&words[GREATEST], greatest);
}

// The first element whose index is outside, as sums_by_index() tells it.
KERNEL FIXED_GROUP(GROUP_SIZE, 1)
void first_outside(GLOBAL const INDEX* indices, ulong from, long stride, ulong count, ulong groups, GLOBAL uint* words) {
  for (ulong i = global_id(); i < count; i += global_size()) {
    if ((ulong)indices[(long)from + (long)i * stride] < groups) continue;
    atomic_max_global32(&words[FIRST_OUTSIDE], (uint)(count - i));
    return;
  }
}

// Looks at `count` offsets of segments among `size` elements.
KERNEL FIXED_GROUP(GROUP_SIZE, 1)
void offsets_seen(GLOBAL const INDEX* offsets, ulong from, ulong count, ulong size, GLOBAL uint* words) {
  uint wrong = 0;
  for (ulong i = global_id(); i < count; i += global_size()) {
    const ulong offset = (ulong)offsets[from + i];
    wrong |= offset > size || (i != 0 && (ulong)offsets[from + i - 1] > offset);
    if (i == 0) {
      words[FIRST_OFFSET] = (uint)offset;
      words[FIRST_OFFSET + 1] = (uint)(offset >> 32);
    }
    if (i + 1 == count) {
      words[LAST_OFFSET] = (uint)offset;
      words[LAST_OFFSET + 1] = (uint)(offset >> 32);
    }
  }
  if (wrong) atomic_or_global32(&words[WRONG_OFFSETS], 1);
}
