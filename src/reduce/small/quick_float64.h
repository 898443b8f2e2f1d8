// Tiles of numbers that float64 holds, as integers, for quick_sum.h: as quick_float32.h, in twice as many bits. Elements of float64, or products
// of smaller floats, each exact, by a cluster.
#if PRODUCTS
#define QUICK (ALONE && !STRIDED && CLUSTER > 1 && REALS <= 16)
#define QUICK_TERM(factors) product_of(factors)
#else
#define QUICK (ALONE && !STRIDED && REALS <= 8 && SUBGROUPS <= 8)
#define QUICK_TERM(element) (element)
#endif
#if CLUSTER > 1
#define QUICK_STORAGE (CLUSTER * SUBGROUPS)  // of 16 bytes
#define QUICK_ABOVE 12  // so that even all groups' sums have no more than 52 bits and a sign
#else
#define QUICK_STORAGE SUBGROUPS
#define QUICK_ABOVE 6
#endif
#define QUICK_BITS 50
#define QUICK_FIRST 0x00010000u  // upper half: 1.0625 times the power, 2^48 of its last bits above it or below
#define QUICK_LAST_BIT (QUICK_BITS + 52)
#define QUICK_LEAST (ROW_BASE + 52 > QUICK_LAST_BIT ? ROW_BASE + 52 : QUICK_LAST_BIT + 1)  // and sums begin at the first digit or after it
#define QUICK_MOST 2040
#define FIELD_OF(bits) ((bits) >> 20)
#define UPPER_HALF(value) ((uint)(as_ulong(value) >> 32))
// Below a sub-group's sums of multiples of the first power, and of the second: how many have anything but -0.0; whether any work-item has failed.
#define QUICK_OTHERS_SHIFT 4
#define QUICK_FAILED_SHIFT 1

// Of upper halves of terms: they are 2^32 apart at most.
#define QUICK_RANGE(field) (((field) - (QUICK_ABOVE + 30)) << 20)
#define QUICK_BEYOND 0x7e000000u

// Multiples of the last bits of both powers; whether there was anything but -0.0, and whether any work-item has failed.
typedef struct {
  long upper, lower;
  uint any, failed;
} QUICK_SUM;

#if CLUSTER > 1
// The sum of all sub-groups of the cluster, for the last group; for others nothing.
FN QUICK_SUM meet(ulong high, ulong low, LOCAL ulong* words, LOCAL ulong* mailbox) {
  cluster_wait();
  const uint subgroup = group_id() * SUBGROUPS + local_id() / SUBGROUP, lane = local_id() % SUBGROUP;
  if (lane == 0) mailbox_send(mailbox, words + 2 * subgroup, RECEIVER, high, low);
  QUICK_SUM sum;
  sum.upper = sum.lower = 0;
  sum.any = sum.failed = 0;
  if (group_id() != RECEIVER) return sum;
  mailbox_wait(mailbox);
  uint any = 0, failed = 0;
#pragma unroll
  for (uint at = lane; at < CLUSTER * SUBGROUPS; at += SUBGROUP) {
    const ulong a = words[2 * at], b = words[2 * at + 1];
    sum.upper += (long)a >> QUICK_OTHERS_SHIFT;
    sum.lower += (long)b >> QUICK_FAILED_SHIFT;
    any |= (uint)a & ((1u << QUICK_OTHERS_SHIFT) - 1);
    failed |= (uint)b & 1;
  }
  sum.any = subgroup_ballot(any != 0) != 0;
  sum.failed = subgroup_ballot(failed != 0) != 0;
  sum.upper = add_words((ulong)(sum.upper + (sum.lower >> QUICK_BITS)));
  sum.lower = add_words((ulong)sum.lower & (((ulong)1 << QUICK_BITS) - 1));
  return sum;
}
#endif

FN uint sum_quickly(const REAL* v, uint field, uint none, uint zero, LOCAL uint4* storage, LOCAL ulong* mailbox, GLOBAL ulong* result,
                    GLOBAL ulong* record) {
  LOCAL ulong* words = (LOCAL ulong*)storage;
  const double first = as_double((ulong)(field << 20 | QUICK_FIRST) << 32), second = power_of(field - QUICK_BITS);
  const double both = add_rn_f64(first, second);
  double power = first;
  ulong high = 0, low = 0;
  uint beyond = field == 0 ? ~0u : 0;
#pragma unroll
  for (int i = 0; i < REALS; ++i) {
    const double term = QUICK_TERM(v[i]), upper = add_rn_f64(term, power), lower = add_rn_f64(term, add_rn_f64(both, -upper));
    high += as_ulong(upper);
    low += as_ulong(lower);
    beyond |= UPPER_HALF(term) - QUICK_RANGE(field);
    if (CLUSTER == 1 && i % ELEMENTS_PER_LOAD == ELEMENTS_PER_LOAD - 1) power = as_double(as_ulong(power) | (ulong)(beyond & zero) << 32);
  }
  high -= REALS * as_ulong(first);
  low -= REALS * as_ulong(second);
  if (REALS > 8) {
    high += (ulong)((long)low >> QUICK_BITS);
    low &= ((ulong)1 << QUICK_BITS) - 1;
  }
  uint failed = 0, other = 1;
  if (RARELY((beyond & QUICK_BEYOND) != 0)) {
    failed = field == 0;
    other = 0;
#pragma unroll
    for (int i = 0; i < REALS; ++i) {
      const double term = QUICK_TERM(v[i]), upper = add_rn_f64(add_rn_f64(term, first), -first), rest = add_rn_f64(term, -upper);
      failed |= (UPPER_HALF(upper) & 0x7fffffffu) >= (field - (QUICK_ABOVE - 2)) << 20;
      failed |= add_rn_f64(add_rn_f64(rest, second), -second) != rest;
      other |= as_ulong(term) != 0x8000000000000000UL;
    }
  }
  const uint any_failed = subgroup_ballot(failed != 0), any_other = subgroup_ballot(other != 0);
  const uint lane = local_id();
  const ulong highs = ((ulong)add_words(high) << QUICK_OTHERS_SHIFT) + (any_other != 0);
  const ulong lows = ((ulong)add_words(low) << QUICK_FAILED_SHIFT) + (any_failed != 0);
#if CLUSTER > 1
  const QUICK_SUM sum = meet(highs, lows, words, mailbox);
  if (group_id() != RECEIVER) return 1;
  if (lane >= SUBGROUP) return !sum.failed;
  GLOBAL ulong* to = address_known_here(place_of_word(result, record));
#else
  words[2 * (lane / SUBGROUP)] = highs;
  words[2 * (lane / SUBGROUP) + 1] = lows;
  barrier_local();
  if (lane >= SUBGROUP) return subgroup_ballot((words[2 * (lane % SUBGROUPS) + 1] & 1) != 0) == 0;

  GLOBAL ulong* to = address_known_here(place_of_word(result, record));
  ulong all_highs = 0, all_lows = 0;
  QUICK_SUM sum;
  sum.failed = 0;
#pragma unroll
  for (int i = 0; i < SUBGROUPS; ++i) {
    all_highs += words[2 * i];
    all_lows += words[2 * i + 1];
    sum.failed |= (uint)words[2 * i + 1] & 1;
  }
  sum.upper = (long)all_highs >> QUICK_OTHERS_SHIFT;
  sum.lower = (long)all_lows >> QUICK_FAILED_SHIFT;
  sum.any = ((uint)all_highs & ((1u << QUICK_OTHERS_SHIFT) - 1)) != 0;
#endif
  if (RARELY(sum.failed)) return 0;
  const long upper = sum.upper, lower = sum.lower;
  // Two numbers, each exact as a float64, the second of 52 bits. Its last bit may stand for all below, where 56 bits remain: what is rounded to
  // fewer is rounded alike.
  const long carried = upper + (lower >> QUICK_BITS), rest = lower & (((long)1 << QUICK_BITS) - 1);
  const uint few = carried >> 29 == 0 || carried >> 29 == -1;
  const long middle = (carried & 0x3ffffff) << 26 | rest >> 24, last = rest & 0xffffff;
  const long a_bits = few ? carried >> 2 : carried >> 26;
  const long b_bits = few ? (carried & 3) << 50 | rest : middle | (last != 0);
  const double a = mul_rn_f64((double)a_bits, 0x1p52), b = (double)b_bits;
  const uint unit = field - (few ? QUICK_LAST_BIT : QUICK_LAST_BIT - 24);
  const double scale = as_double((ulong)unit << 52), down = add_down_f64(a, b), up = add_up_f64(a, b), odd = as_ulong(down) & 1 ? down : up;
  const uint negative_zero = a_bits == 0 && b_bits == 0 && !sum.any && !none;
  const ulong bits64 = as_ulong(mul_rn_f64(add_rn_f64(a, b), scale));
  const uint bits32 = as_uint((float)mul_rn_f64(odd, scale));
  // A word by each lane, as round_fixed() leaves them (fixed_sum.h).
  ulong word = lane == 0 ? (ulong)lower : lane == 1 ? (ulong)upper << (QUICK_BITS - LOWER_BITS) : lane == 2 ? (ulong)sum.any : 0;
  if (lane == 3) word = field - QUICK_LAST_BIT + 52 + LOWER_BITS;
  if (lane == 4) word = negative_zero ? (ulong)1 << 63 : bits64;
  if (lane == 6) word = negative_zero ? 0x80000000u : bits32;
  if (lane < 7) *to = word;
  return 1;
}
