// Elements of all types: keys, integers in the elements' order; mantissas and positions of floats.
//
// Defined by the host: BITS of an element (8 to 64), FLOATS, SIGNED (of integers), FRACTION_BITS and EXPONENT_BITS (of floats).

#define ELEMENTS_PER_LOAD (128 / BITS)
#if BITS == 8
#define ELEMENT uchar
#elif BITS == 16
#define ELEMENT ushort
#elif BITS == 32
#define ELEMENT uint
#else
#define ELEMENT ulong
#endif

#if BITS == 64
#define WORD ulong
#define KEY long
#define KEY_MIN ((long)((ulong)1 << 63))
#define KEY_MAX ((long)~((ulong)1 << 63))
#else
#define WORD uint
#define KEY int
#define KEY_MIN ((int)0x80000000u)
#define KEY_MAX 0x7fffffff
#endif

FN uint word_of(uint4 v, int i) { return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w; }

// Element i of a load of 16 bytes.
FN WORD element_of(uint4 v, int i) {
#if BITS == 64
  return (ulong)word_of(v, 2 * i + 1) << 32 | word_of(v, 2 * i);
#elif BITS == 32
  return word_of(v, i);
#else
  return (word_of(v, i * BITS / 32) >> (i * BITS % 32)) & ((1u << BITS) - 1);
#endif
}

// The load with x as its element i.
#if FLOATS
FN uint4 with_element(uint4 v, int i, WORD x) {
#if BITS == 64
  return i == 0 ? make_uint4((uint)x, (uint)(x >> 32), v.z, v.w) : make_uint4(v.x, v.y, (uint)x, (uint)(x >> 32));
#else
  const int at = i * BITS / 32, shift = i * BITS % 32;
  const uint word = BITS == 32 ? x : (word_of(v, at) & ~(0xffffu << shift)) | x << shift;
  return make_uint4(at == 0 ? word : v.x, at == 1 ? word : v.y, at == 2 ? word : v.z, at == 3 ? word : v.w);
#endif
}
#endif

// A load that begins with this element.
FN uint4 load_of(WORD x) {
#if BITS == 64
  return make_uint4((uint)x, (uint)(x >> 32), 0, 0);
#else
  return make_uint4(x, 0, 0, 0);
#endif
}

#if FLOATS
#define SIGN_BIT ((WORD)1 << (BITS - 1))
#define HIDDEN ((WORD)1 << FRACTION_BITS)
#define INFINITE ((((WORD)1 << EXPONENT_BITS) - 1) << FRACTION_BITS)
FN WORD magnitude_of(WORD x) { return x & (SIGN_BIT - 1); }
#if BITS == 64 && defined(is_nan_f64)
FN uint is_nan(WORD x) { return is_nan_f64(x); }
#else
FN uint is_nan(WORD x) { return magnitude_of(x) > INFINITE; }
#endif
#if BITS == 32
FN uint is_special(WORD x) { return !is_finite_f32(x); }
#else
FN uint is_special(WORD x) { return magnitude_of(x) >= INFINITE; }
#endif
FN uint is_zero(WORD x) { return magnitude_of(x) == 0; }
// All ones for negative numbers, else zero.
FN uint sign_of(WORD x) { return 0 - (uint)(x >> (BITS - 1)); }
// A finite number is its mantissa times 2^(position - LOWEST).
FN uint position_of(WORD x) {
  const uint exponent = (uint)((x & INFINITE) >> FRACTION_BITS);
  return exponent - (exponent != 0 ? 1 : 0);
}
#if BITS == 64
FN KEY key_of(WORD x) { return (long)(x ^ ((ulong)((long)x >> 63) & 0x7fffffffffffffffUL)); }
#elif BITS == 32
FN KEY key_of(WORD x) { return (int)(x ^ ((uint)((int)x >> 31) & 0x7fffffffu)); }
#else
FN KEY key_of(WORD x) { return (int)(x & 0x8000u ? ~(x & 0x7fffu) : x); }
#endif
// The element that has this key.
#if BITS == 16
FN WORD element_with(KEY key) { return key < 0 ? 0x8000u | (uint)~key : (uint)key; }
#else
FN WORD element_with(KEY key) { return (WORD)key_of((WORD)key); }
#endif
#else
FN uint is_nan(WORD x) { return 0; }
FN uint is_zero(WORD x) { return x == 0; }
#if SIGNED
FN long integer_of(WORD x) {
#if BITS == 64
  return (long)x;
#else
  return (long)((int)(x << (32 - BITS)) >> (32 - BITS));
#endif
}
FN KEY key_of(WORD x) { return (KEY)integer_of(x); }
FN WORD element_with(KEY key) { return BITS == 64 ? (WORD)key : (WORD)key & (WORD)(((ulong)1 << (BITS & 63)) - 1); }
FN uint sign_of(WORD x) { return integer_of(x) < 0 ? ~0u : 0; }
FN ulong absolute_of(WORD x) { return integer_of(x) < 0 ? 0 - (ulong)integer_of(x) : (ulong)integer_of(x); }
#else
#if BITS < 32
FN KEY key_of(WORD x) { return (int)x; }
FN WORD element_with(KEY key) { return (uint)key; }
#else
FN KEY key_of(WORD x) { return (KEY)(x ^ (WORD)KEY_MIN); }
FN WORD element_with(KEY key) { return (WORD)key ^ (WORD)KEY_MIN; }
#endif
FN uint sign_of(WORD x) { return 0; }
FN ulong absolute_of(WORD x) { return x; }
#endif
#endif

#if FLOATS && BITS == 16
// Two at a time, as the halves of a word. The halves in the order of the elements, as unsigned numbers: 2^15 above their keys.
FN uint ordered_halves(uint x) { return x ^ (signs2_s16(x) | 0x80008000u); }
FN uint magnitudes_of(uint x) { return x & 0x7fff7fffu; }
FN uint greater_half(uint x) { return max_u32(x & 0xffffu, x >> 16); }
FN uint lesser_half(uint x) { return min_u32(x & 0xffffu, x >> 16); }
// Magnitudes less one, in halves whose highest bit is set, but of a zero 2^15 - 1: as signed numbers in the order of the magnitudes, zeros highest.
FN uint4 less_one_of(uint4 v) {
  return make_uint4(magnitudes_of(v.x) + 0x7fff7fffu, magnitudes_of(v.y) + 0x7fff7fffu, magnitudes_of(v.z) + 0x7fff7fffu,
                    magnitudes_of(v.w) + 0x7fff7fffu);
}
FN uint nonzeros_of(uint4 less_one) {
  const uint highest = 0x80008000u;
  return count_bits32((less_one.x & highest) | (less_one.y >> 1 & highest >> 1) | (less_one.z >> 2 & highest >> 2) |
                      (less_one.w >> 3 & highest >> 3));
}
#endif

// Integers of 8 and 16 bits are processed several at a time. To compare unsigned halves of a word, signed ones are offset by this.
#define PACKED (!FLOATS && BITS <= 16)
#define UNSIGNED_ORDER (SIGNED ? (BITS == 8 ? 0x80808080u : 0x80008000u) : 0)

// The 128 bits of a product of 64-bit numbers.
FN ulong product_high(ulong a, ulong b) {
  const ulong a_low = a & 0xffffffffu, a_high = a >> 32, b_low = b & 0xffffffffu, b_high = b >> 32;
  const ulong middle = a_high * b_low + (a_low * b_low >> 32);
  const ulong other = a_low * b_high + (middle & 0xffffffffu);
  return a_high * b_high + (middle >> 32) + (other >> 32);
}
