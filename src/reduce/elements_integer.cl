// The exact sum's elements: integers of INTEGER_BITS bits. A work-item adds them up in registers, and its sums to the bins in 16-bit pieces
// when these are collected. Signed integers (INTEGER_SIGNED) become unsigned by an offset of 2^(INTEGER_BITS - 1), taken off in the end.
#define ELEMENTS_PER_LOAD (128 / INTEGER_BITS)
#define ROW_BITS 16
#define ROW_BASE 1074
#define ROWS 8
#define BIN_ROWS 8  // four pieces of the sum of the lower 32 bits, four of that of the upper ones

#if INTEGER_BITS == 8
#define ELEMENT uchar
#define OFFSETS 0x80808080u
#define ABSENT_WORD (INTEGER_SIGNED ? OFFSETS : 0)
#elif INTEGER_BITS == 16
#define ELEMENT ushort
#define OFFSETS 0x80008000u
#define ABSENT_WORD (INTEGER_SIGNED ? OFFSETS : 0)
#elif INTEGER_BITS == 32
#define ELEMENT uint
#define OFFSETS 0x80000000u
#define ABSENT_WORD (INTEGER_SIGNED ? OFFSETS : 0)
#else
#define ELEMENT ulong
#define ABSENT_WORD 0
#endif
// With the offset, absent elements are zero.
#if INTEGER_BITS == 64
#define ABSENT_HIGH (INTEGER_SIGNED ? 0x80000000u : 0)
#define ABSENT 0, ABSENT_HIGH, 0, ABSENT_HIGH
#else
#define ABSENT ABSENT_WORD, ABSENT_WORD, ABSENT_WORD, ABSENT_WORD
#endif

#if INTEGER_BITS == 64
FN STATE add_wide(uint low, uint high, STATE sums) {
  sums.low += low;
  sums.high += INTEGER_SIGNED ? high ^ 0x80000000u : high;
  return sums;
}
FN STATE add_load(LOCAL uint* column, uint4 v, STATE sums) { return add_wide(v.z, v.w, add_wide(v.x, v.y, sums)); }
FN uint4 load_single(GLOBAL const ulong* element) { return make_uint4((uint)*element, (uint)(*element >> 32), 0, ABSENT_HIGH); }
#else
// The sum of the elements in a word.
FN ulong sum_word(uint word) {
  word ^= ABSENT_WORD;
#if INTEGER_BITS == 8
  word = (word & 0x00ff00ffu) + ((word >> 8) & 0x00ff00ffu);
#endif
#if INTEGER_BITS < 32
  word = (word & 0xffffu) + (word >> 16);
#endif
  return word;
}
FN STATE add_load(LOCAL uint* column, uint4 v, STATE sums) {
  sums.low += sum_word(v.x) + sum_word(v.y) + sum_word(v.z) + sum_word(v.w);
  return sums;
}
FN uint4 load_single(GLOBAL const ELEMENT* element) {
#if INTEGER_BITS == 32
  const uint absent_above = 0;
#else
  const uint absent_above = ABSENT_WORD & (0xffffffffu << INTEGER_BITS);
#endif
  return make_uint4(absent_above | *element, ABSENT_WORD, ABSENT_WORD, ABSENT_WORD);
}
#endif

FN long row_of(LOCAL const uint* bins, int row) {
  return (row < 4 ? bin_row(bins, row) : 0) + (row >= 2 && row < 6 ? bin_row(bins, 4 + row - 2) : 0);
}
