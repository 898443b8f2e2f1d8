// A tile of float32 as integers, for quick_sum.h.
#define QUICK (ALONE && !STRIDED && REALS <= 16 && SUBGROUPS <= 16)
#define QUICK_STORAGE (SUBGROUPS / 2)  // of 16 bytes
#define QUICK_TERM(element) (element)
#define QUICK_BITS 22            // from one power to the next
#define QUICK_ABOVE 5            // exponents from the greatest element's to the power's: one more than what fits
#define QUICK_FIRST 0x00100000u  // 1.125 times the power: sums stay in its binade, 2^20 of its last bits above that or below
#define QUICK_LAST_BIT (QUICK_BITS + 23)  // so far below the power is the last bit of all
#define QUICK_LEAST (QUICK_LAST_BIT + 1)  // exponent fields of the power, with which that is a normal number
#define QUICK_MOST 253
#define FIELD_OF(bits) ((bits) >> 23)
#define UPPER_HALF(value) as_uint(value)
// In a sub-group's word, below its sum: whether any work-item has failed, and whether there was anything but -0.0.
#define QUICK_FAILED 64
#define QUICK_OTHER 1
#define QUICK_SHIFT 7

// What fits, and not only as a multiple of the last bit, where elements are 2^16 apart at most: then their bits, less these, have not one of those.
#define QUICK_RANGE(field) (((field) - 19) << 23)
#define QUICK_BEYOND 0x78000000u

// Leaves the sum, rounded, and as it is; or nothing, and says so. `zero`, of which the compiler does not know that it is: so work-items look at
// their first elements while the last ones are on their way.
FN uint sum_quickly(const REAL* v, uint field, uint none, uint zero, LOCAL uint4* storage, LOCAL ulong* mailbox, GLOBAL ulong* result,
                    GLOBAL ulong* record) {
  LOCAL ulong* words = (LOCAL ulong*)storage;
  const float first = as_float(field << 23 | QUICK_FIRST), second = as_float((field - QUICK_BITS) << 23 | 0x00400000u);
  const float both = add_rn_f32(first, second);
  float power = first;
  uint high = 0, low = 0, beyond = field == 0 ? ~0u : 0;
#pragma unroll
  for (int i = 0; i < REALS; ++i) {
    const float upper = add_rn_f32(v[i], power), lower = add_rn_f32(v[i], add_rn_f32(both, -upper));
    high += as_uint(upper);
    low += as_uint(lower);
    beyond |= as_uint(v[i]) - QUICK_RANGE(field);
    if (i % ELEMENTS_PER_LOAD == ELEMENTS_PER_LOAD - 1) power = as_float(as_uint(power) | (beyond & zero));
  }
  high -= REALS * as_uint(first);
  low -= REALS * as_uint(second);
  uint failed = 0, other = 1;
  if (RARELY((beyond & QUICK_BEYOND) != 0)) {  // zeros, and what is a multiple of the last bit, fit as well
    failed = field == 0;
    other = 0;
#pragma unroll
    for (int i = 0; i < REALS; ++i) {
      const float upper = add_rn_f32(v[i], first), rest = add_rn_f32(v[i], -add_rn_f32(upper, -first));
      failed |= (as_uint(upper) ^ as_uint(first)) >> 21 != 0;
      failed |= add_rn_f32(add_rn_f32(rest, second), -second) != rest;
      other |= as_uint(v[i]) != 0x80000000u;
    }
  }
  const uint any_failed = subgroup_ballot(failed != 0), any_other = subgroup_ballot(other != 0);
  const int all_high = (int)subgroup_add_u32(high), all_low = (int)subgroup_add_u32(low);  // of what fits
  const long here = (long)((ulong)(long)all_high << QUICK_BITS) + all_low;
  words[local_id() / SUBGROUP] = ((ulong)here << QUICK_SHIFT) + (any_failed != 0 ? QUICK_FAILED : 0) + (any_other != 0 ? QUICK_OTHER : 0);
  barrier_local();
  const uint lane = local_id();
  if (lane >= SUBGROUP) return subgroup_ballot(((uint)words[lane % SUBGROUPS] & QUICK_FAILED) != 0) == 0;

  GLOBAL ulong* to = address_known_here(place_of_word(result, record));
  ulong sum = 0;
  uint flags = 0;
#pragma unroll
  for (int i = 0; i < SUBGROUPS; ++i) {
    sum += words[i];
    flags |= (uint)words[i];
  }
  if (RARELY((flags & QUICK_FAILED) != 0)) return 0;
  const long total = (long)sum >> QUICK_SHIFT;
  const uint any = (flags & QUICK_OTHER) != 0, negative_zero = total == 0 && !any && !none;
  const uint last_bit = field - QUICK_LAST_BIT, last_bit64 = last_bit + (1023 - 127);
  const double float64 = mul_rn_f64((double)total, as_double((ulong)(last_bit64 << 20) << 32));
  const float float32 = mul_rn_f32((float)total, as_float(last_bit << 23));
  // A word by each lane, as round_fixed() leaves them (fixed_sum.h).
  ulong word = lane == 0 ? (ulong)total : lane == 2 ? (ulong)any : lane == 3 ? (ulong)(last_bit64 + 52 + LOWER_BITS) : 0;
  if (lane == 4) word = negative_zero ? (ulong)1 << 63 : as_ulong(float64);
  if (lane == 6) word = negative_zero ? 0x80000000u : as_uint(float32);
  if (lane < 7) *to = word;
  return 1;
}
