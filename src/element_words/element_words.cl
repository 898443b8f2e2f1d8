// Elements as words that add up over ranks, and back (element_words.h). Defined by the host: ELEMENT, an unsigned integer of the element's size;
// WIDTH, FRACTION, LOWEST, its form; COUNT_BITS; GROUP_SIZE.
//
// A group takes piece after piece. `exponents` has e of each piece. Behind the words of `count` elements stands one for each piece, which is not 0 if
// some element of it did not fit into its word. Arrays begin at the element number `…_first` of the memory.

#define AT_ONCE (ELEMENTS_OF_PIECE / GROUP_SIZE)  // elements of a work-item: loads in flight

FN ELEMENT_FORM form_of_elements(void) {
  ELEMENT_FORM form;
  form.width = WIDTH;
  form.fraction = FRACTION;
  form.lowest = LOWEST;
  return form;
}
FN ulong piece_count(ulong count) { return (count + ELEMENTS_OF_PIECE - 1) / ELEMENTS_OF_PIECE; }

KERNEL FIXED_GROUP(GROUP_SIZE, 1)
void exponents_of_elements(GLOBAL const ELEMENT* x, ulong x_first, ulong count, GLOBAL long* exponents, ulong exponents_first) {
  LOCAL_VAR ELEMENT greatest[GROUP_SIZE];
  const uint id = local_id();
  x += x_first;
  for (ulong piece = group_id(); piece < piece_count(count); piece += group_count()) {
    const ulong first = piece * ELEMENTS_OF_PIECE + id;
    ELEMENT own = 0;
#pragma unroll
    for (uint k = 0; k < AT_ONCE; ++k) {
      const ulong i = first + k * GROUP_SIZE;
      const ELEMENT magnitude = (ELEMENT)((i < count ? x[i] : 0) & (((ulong)1 << (WIDTH - 1)) - 1));
      own = own > magnitude ? own : magnitude;
    }
    greatest[id] = own;
    barrier_local();
    for (uint distance = GROUP_SIZE / 2; distance != 0; distance /= 2) {
      if (id < distance && greatest[id] < greatest[id + distance]) greatest[id] = greatest[id + distance];
      barrier_local();
    }
    if (id == 0) exponents[exponents_first + piece] = element_exponent(greatest[0], form_of_elements());
    barrier_local();
  }
}

KERNEL FIXED_GROUP(GROUP_SIZE, 1)
void words_of_elements(GLOBAL const ELEMENT* x, ulong x_first, ulong count, GLOBAL const long* exponents, ulong exponents_first, GLOBAL long* words,
                       ulong words_first) {
  LOCAL_VAR uint any;
  const uint id = local_id();
  x += x_first;
  words += words_first;
  for (ulong piece = group_id(); piece < piece_count(count); piece += group_count()) {
    const long exponent = exponents[exponents_first + piece];
    const int scale = scale_of(exponent, COUNT_BITS);
    const ulong first = piece * ELEMENTS_OF_PIECE + id;
    ELEMENT loaded[AT_ONCE];
#pragma unroll
    for (uint k = 0; k < AT_ONCE; ++k) loaded[k] = first + k * GROUP_SIZE < count ? x[first + k * GROUP_SIZE] : 0;
    if (id == 0) any = 0;
    barrier_local();
    uint misfit = !exponent_is_usable(exponent);
#pragma unroll
    for (uint k = 0; k < AT_ONCE; ++k) {
      const long word = element_word(loaded[k], form_of_elements(), scale, COUNT_BITS, &misfit);
      if (first + k * GROUP_SIZE < count) words[first + k * GROUP_SIZE] = word;
    }
    if (misfit != 0) any = 1;
    barrier_local();
    if (id == 0) words[count + piece] = any;
    barrier_local();
  }
}

// Pieces of which some rank's elements did not fit stay as they are.
KERNEL FIXED_GROUP(GROUP_SIZE, 1)
void elements_of_words(GLOBAL const long* words, ulong words_first, ulong count, GLOBAL const long* exponents, ulong exponents_first,
                       GLOBAL ELEMENT* x, ulong x_first) {
  x += x_first;
  words += words_first;
  for (ulong piece = group_id(); piece < piece_count(count); piece += group_count()) {
    const int scale = scale_of(exponents[exponents_first + piece], COUNT_BITS);
    const uint fits = words[count + piece] == 0;
    const ulong first = piece * ELEMENTS_OF_PIECE + local_id();
    long loaded[AT_ONCE];
#pragma unroll
    for (uint k = 0; k < AT_ONCE; ++k) loaded[k] = first + k * GROUP_SIZE < count ? words[first + k * GROUP_SIZE] : 0;
#pragma unroll
    for (uint k = 0; k < AT_ONCE; ++k) {
      const ulong element = element_of_word(loaded[k], form_of_elements(), scale, COUNT_BITS);
      if (fits && first + k * GROUP_SIZE < count) x[first + k * GROUP_SIZE] = (ELEMENT)element;
    }
  }
}
