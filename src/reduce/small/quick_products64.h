// Tiles of products of float64 as integers, by a cluster, for quick_sum.h: as products_float64.cl cuts them, a product and its rest, each exact,
// in two, by powers that lie 51 bits apart.
#define QUICK (ALONE && !STRIDED && CLUSTER > 1 && REALS <= 8)
#define QUICK_STORAGE (2 * CLUSTER * SUBGROUPS)  // of 16 bytes
#define QUICK_TERM(factors) term_of(factors)
#define QUICK_ABOVE 12           // exponents from the greatest product's to the first power's
#define QUICK_FIRST 0x00010000u  // upper half: 1.0625 times the power; sums stay in its binade
#define QUICK_MASK (((ulong)1 << LOWER_BITS) - 1)
#define QUICK_LEAST (FIXED_WORDS * LOWER_BITS + 10)  // exponent fields of the first power, with which the last one is normal, and in round_fixed()
#define QUICK_MOST 1979
#define FIELD_OF(bits) ((bits) >> 20)
#define UPPER_HALF(value) ((uint)(as_ulong(value) >> 32))

// Of upper halves of products: they are 2^32 apart at most.
#define QUICK_RANGE(field) (((field) - (QUICK_ABOVE + 30)) << 20)
#define QUICK_BEYOND 0x7e000000u

// Moves to the next word what one has beyond LOWER_BITS.
FN void carry_words(ulong* words) {
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    words[i + 1] += (ulong)((long)words[i] >> LOWER_BITS);
    words[i] &= QUICK_MASK;
  }
}

FN uint sum_quickly(const REAL* v, uint field, uint none, uint zero, LOCAL uint4* storage, LOCAL ulong* mailbox, GLOBAL ulong* result,
                    GLOBAL ulong* record) {
  LOCAL ulong* mail = (LOCAL ulong*)storage;
  const double first = as_double((ulong)(field << 20 | QUICK_FIRST) << 32), second = power_of(field - LOWER_BITS);
  const double third = power_below(second, 1), to_second = add_rn_f64(first, second), to_third = add_rn_f64(second, third);
  ulong words[3] = {0, 0, 0};
  uint beyond = field == 0 ? ~0u : 0;
#pragma unroll
  for (int i = 0; i < REALS; ++i) {
    const double product = mul_rn_f64(v[i].a, SECOND(v[i])), rest = fma_rn_f64(v[i].a, SECOND(v[i]), -product);
    const double upper = add_rn_f64(product, first), lower = add_rn_f64(product, add_rn_f64(to_second, -upper));
    const double middle = add_rn_f64(rest, second), last = add_rn_f64(rest, add_rn_f64(to_third, -middle));
    words[2] += as_ulong(upper);
    words[1] += as_ulong(lower) + as_ulong(middle);
    words[0] += as_ulong(last);
    beyond |= UPPER_HALF(product) - QUICK_RANGE(field);
  }
  words[2] -= REALS * as_ulong(first);
  words[1] -= 2 * REALS * as_ulong(second);
  words[0] -= REALS * as_ulong(third);
  uint failed = 0, other = 1;
  if (RARELY((beyond & QUICK_BEYOND) != 0)) {  // zeros, and what is a multiple of the last bit, fit as well
    failed = field == 0;
    other = 0;
#pragma unroll
    for (int i = 0; i < REALS; ++i) {
      const double product = term_of(v[i]), upper = add_rn_f64(add_rn_f64(product, first), -first), lower = add_rn_f64(product, -upper);
      const double rest = rest_of(v[i]), middle = add_rn_f64(add_rn_f64(rest, second), -second), last = add_rn_f64(rest, -middle);
      failed |= (UPPER_HALF(upper) & 0x7fffffffu) >= (field - (QUICK_ABOVE - 2)) << 20;
      failed |= add_rn_f64(add_rn_f64(lower, second), -second) != lower;
      failed |= add_rn_f64(add_rn_f64(last, third), -third) != last;
      other |= as_ulong(product) != 0x8000000000000000UL;
    }
  }
  const uint any_failed = subgroup_ballot(failed != 0), any_other = subgroup_ballot(other != 0);
  carry_words(words);
#pragma unroll
  for (int i = 0; i < 3; ++i) words[i] = (ulong)add_words(words[i]);
  const uint subgroup = group_id() * SUBGROUPS + local_id() / SUBGROUP, lane = local_id() % SUBGROUP;
  cluster_wait();
  if (lane == 0) {
    mailbox_send(mailbox, mail + 4 * subgroup, RECEIVER, words[0], words[1]);
    mailbox_send(mailbox, mail + 4 * subgroup + 2, RECEIVER, words[2], (ulong)(any_other != 0) << 1 | (any_failed != 0));
  }
  if (group_id() != RECEIVER) return 1;
  mailbox_wait(mailbox);
  words[0] = words[1] = words[2] = 0;
  uint flags = 0;
#pragma unroll
  for (uint at = lane; at < CLUSTER * SUBGROUPS; at += SUBGROUP) {
#pragma unroll
    for (int i = 0; i < 3; ++i) words[i] += mail[4 * at + i];
    flags |= (uint)mail[4 * at + 3];
  }
  failed = subgroup_ballot((flags & 1) != 0);
  if (local_id() >= SUBGROUP) return failed == 0;
  GLOBAL ulong* to = address_known_here(place_of_word(result, record));
  other = subgroup_ballot((flags & 2) != 0);
  if (RARELY(failed)) return 0;
  carry_words(words);
  FIXED sum = no_sum();
#pragma unroll
  for (int i = 0; i < 3; ++i) sum.words[i] = add_words(words[i]);
  sum.words[1] += sum.words[0] >> LOWER_BITS;
  sum.words[0] = (sum.words[0] & (long)QUICK_MASK) << (FIRST_BITS - LOWER_BITS);
  sum.other = other;
  round_fixed(carried(sum), field + LOWER_BITS, none, to);
  return 1;
}
