// The leading bits of an exact number: quotients and roots of it, rounded once. In registers, by integers; floats are no more than a first guess. Stands after number.h.

// 192 bits of a positive number.
typedef struct {
  ulong words[3];  // the highest one first
  int top;         // the highest bit of words[0] weighs 2^(top - 1074)
  uint rest;       // not 0 if something is below
} LEADING;

// Of a trimmed number that is not zero: from its highest bit that is set.
FN LEADING leading_of(NUMBER x) {
  LEADING leading;
  ulong digit = (ulong)x.digits[x.last];
  const uint zeros = clz32((uint)digit);
  uint halves[6];
#pragma unroll
  for (int k = 0; k < 6; ++k) {
    const ulong below = exact_digit_in(x.digits, x.first, x.last, x.last - k - 1);
    halves[k] = (uint)((digit << 32 | below) << zeros >> 32);
    digit = below;
  }
#pragma unroll
  for (int k = 0; k < 3; ++k) leading.words[k] = (ulong)halves[2 * k] << 32 | halves[2 * k + 1];
  leading.top = 32 * x.last + 31 - (int)zeros;
  leading.rest = (uint)digit << zeros != 0 || x.first < x.last - 6;
  return leading;
}

// 2^64 / divisor, rounded down; of 1, 2^64 - 1. The divisor is not zero.
FN ulong reciprocal_of(uint divisor) { return ~(ulong)0 / divisor; }

// The lower digit of a quotient by `divisor`, of a number that is less than divisor * 2^32: a rest, and a digit below it.
FN ulong next_quotient(ulong* rest, ulong digit, uint divisor, ulong reciprocal) {
  const ulong dividend = *rest << 32 | digit;
  const ulong quotient = mul_hi64(dividend, reciprocal);  // or one less
  const ulong left = dividend - quotient * divisor;
  *rest = left >= divisor ? left - divisor : left;
  return quotient + (left >= divisor);
}

// Divided by two integers, whose reciprocals are given. The highest bits may be 0 then. The divisions take turns, so that they overlap.
FN LEADING divided(LEADING x, uint divisor1, ulong reciprocal1, uint divisor2, ulong reciprocal2) {
  ulong rest1 = 0;
  ulong rest2 = 0;
#pragma unroll
  for (int k = 0; k < 3; ++k) {
    const ulong high = next_quotient(&rest1, x.words[k] >> 32, divisor1, reciprocal1);
    const ulong upper = next_quotient(&rest2, high, divisor2, reciprocal2);
    const ulong low = next_quotient(&rest1, x.words[k] & 0xffffffffu, divisor1, reciprocal1);
    const ulong lower = next_quotient(&rest2, low, divisor2, reciprocal2);
    x.words[k] = upper << 32 | lower;
  }
  x.rest |= (rest1 | rest2) != 0;
  return x;
}

// From the highest bit that is set, which is among the upper 65: the upper 128 bits are right then.
FN LEADING with_top_bit(LEADING x) {
  if (x.words[0] == 0) {
    x.words[0] = x.words[1];
    x.words[1] = x.words[2];
    x.words[2] = 0;
    x.top -= 64;
  }
  const uint zeros = clz64(x.words[0]);
  if (zeros != 0) {
    x.words[0] = x.words[0] << zeros | x.words[1] >> (64 - zeros);
    x.words[1] = x.words[1] << zeros | x.words[2] >> (64 - zeros);
    x.words[2] <<= zeros;
  }
  x.top -= (int)zeros;
  return x;
}

// The root of a number of 128 bits, the highest of which or the one below it is set; `rest` is set if it is not a whole number. Newton's method, from the
// root of a float: two steps leave an error of a few units, by which the root is corrected.
FN ulong whole_root(ulong high, ulong low, uint* rest) {
  const float estimate = sqrt_f32((float)high);  // 2^31.5 to 2^32
  const ulong first = estimate < 4294967296.0f ? (ulong)estimate : 0xffffffffu;
  const float scale = 0.5f / estimate;
  // The difference between the number and the square of first * 2^32, in units of 2^64; over twice the root.
  const long correction = (long)((float)(long)(high - first * first) * (scale * 4294967296.0f));
  ulong root = (first << 32) + (ulong)correction;
  if (correction > 0 && root < first << 32) root = ~(ulong)0;
  // The same in units of 2^32.
  const long middle = (long)((high - mul_hi64(root, root) - (low < root * root)) << 32 | (low - root * root) >> 32);
  const long step = (long)((float)middle * scale);
  const ulong second = root + (ulong)step;
  root = step > 0 && second < root ? ~(ulong)0 : second;
  ulong left = low - root * root;
  ulong left_high = high - mul_hi64(root, root) - (low < root * root);
  while ((long)left_high < 0) {  // adds 2 root + 1 of the lower root
    --root;
    const ulong before = left;
    left += root << 1 | 1;
    left_high += (root >> 63) + (left < before);
  }
  while (left_high > root >> 63 || (left_high == root >> 63 && left > root << 1)) {
    const ulong before = left;
    left -= root << 1 | 1;
    left_high -= (root >> 63) + (left > before);
    ++root;
  }
  *rest |= (left | left_high) != 0;
  return root;
}

// The 64 leading bits of the root of a number with its top bit.
FN LEADING leading_root(LEADING x) {
  int exponent = x.top - 127 - 1074;  // of the lowest of 128 bits
  ulong high = x.words[0];
  ulong low = x.words[1];
  x.rest |= x.words[2] != 0;
  if ((exponent & 1) != 0) {  // a power of 2 with a whole root
    x.rest |= (uint)low & 1;
    low = low >> 1 | high << 63;
    high >>= 1;
    ++exponent;
  }
  x.words[0] = whole_root(high, low, &x.rest);
  x.words[1] = x.words[2] = 0;
  x.top = 63 + exponent / 2 + 1074;
  return x;
}

// The bits of the nearest float64, or float32, to a number with its top bit.
FN uint has_more(LEADING x) { return (x.words[1] | x.words[2]) != 0 || x.rest != 0; }
FN ulong leading_float64(LEADING x) { return encode(x.words[0], has_more(x), x.top, 53, 0, 2046); }
FN uint leading_float32(LEADING x) { return (uint)encode(x.words[0], has_more(x), x.top, 24, EXACT_FLOAT32_SHIFT, 254); }
