// Elements of a vector as integers of 64 bits that add up over ranks, in integer arithmetic only: one source for the host (inside namespace
// samesum::dialect) and for kernels (element_words.cl).
//
// The word of an element x is x * 2^scale * 2^COUNT_BITS, and in its lowest COUNT_BITS 1 if x is not -0.0. Magnitudes are below 2^e on all ranks, and
// scale = 62 - 2 COUNT_BITS - e, so that the words of less than 2^COUNT_BITS ranks add up within 63 bits. Each piece of ELEMENTS_OF_PIECE elements has
// an e of its own.

#define ELEMENTS_OF_PIECE 1024
#define NO_EXPONENT (1L << 20)  // of a piece with a NaN or an infinity

// How an element lies in memory: `width` bits, a fraction of `fraction` bits; the least positive number is 2^lowest.
typedef struct {
  int width, fraction, lowest;
} ELEMENT_FORM;

FN ulong element_infinity(ELEMENT_FORM form) { return ((1UL << (form.width - 1)) - 1) >> form.fraction << form.fraction; }

// The least e with a magnitude below 2^e.
FN long element_exponent(ulong magnitude, ELEMENT_FORM form) {
  const int field = (int)(magnitude >> form.fraction);
  if (magnitude >= element_infinity(form)) return NO_EXPONENT;
  if (field != 0) return field + form.lowest + form.fraction;
  return form.lowest + (magnitude != 0 ? 64 - (int)clz64(magnitude) : 0);
}
FN uint exponent_is_usable(long exponent) { return exponent != NO_EXPONENT; }
FN int scale_of(long exponent, int count_bits) { return 62 - 2 * count_bits - (exponent_is_usable(exponent) ? (int)exponent : 0); }

// The word of an element with these bits. *misfit becomes 1 if it is no multiple of 2^-scale, or not finite, or too large.
FN long element_word(ulong bits, ELEMENT_FORM form, int scale, int count_bits, uint* misfit) {
  const ulong sign = 1UL << (form.width - 1), hidden = 1UL << form.fraction;
  const ulong magnitude = bits & (sign - 1);
  const int field = (int)(magnitude >> form.fraction);
  const ulong significand = field != 0 ? (magnitude & (hidden - 1)) | hidden : magnitude;
  const int shift = (field != 0 ? field - 1 : 0) + form.lowest + scale;
  ulong whole = 0;
  if (significand != 0) {
    const int room = 62 - 2 * count_bits;  // bits of a word's number
    if (shift >= 0) {
      if (magnitude >= element_infinity(form) || shift >= room || significand >> (room - shift) != 0) *misfit = 1;
      whole = significand << (shift & 63);
    } else {
      const int dropped = -shift;
      whole = dropped > 63 ? 0 : significand >> dropped;
      if (magnitude >= element_infinity(form) || dropped > 63 || whole << dropped != significand || whole >> room != 0) *misfit = 1;
    }
  }
  const ulong number = (bits & sign) != 0 ? 0 - whole : whole;
  return (long)((number << count_bits) + (bits != sign));
}

// The bits of a sum of such words, rounded once to the nearest element, ties to even; -0.0 if nothing but -0.0 was added.
FN ulong element_of_word(long word, ELEMENT_FORM form, int scale, int count_bits) {
  const ulong sign = 1UL << (form.width - 1);
  if (word == 0) return sign;
  const long number = word >> count_bits;
  if (number == 0) return 0;
  const ulong magnitude = number < 0 ? 0 - (ulong)number : (ulong)number;
  const int top = 63 - (int)clz64(magnitude);
  // The weight of the result's lowest bit, and the bits below it.
  const int unit = top - scale - form.fraction > form.lowest ? top - scale - form.fraction : form.lowest;
  const int drop = unit + scale;
  ulong significand = 0;
  if (drop <= 0) {
    significand = magnitude << -drop;
  } else if (drop < 63) {
    const ulong rest = magnitude & ((1UL << drop) - 1), half_unit = 1UL << (drop - 1);
    significand = magnitude >> drop;
    significand += rest > half_unit || (rest == half_unit && (significand & 1) != 0);
  }
  // The leading bit of the significand, and a carry out of it, count in the exponent.
  ulong result = ((ulong)(unit - form.lowest) << form.fraction) + significand;
  if (result > element_infinity(form)) result = element_infinity(form);
  return number < 0 ? result | sign : result;
}
