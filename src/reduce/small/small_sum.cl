// The exact sum of a small array in one short launch. Work-items add their terms up in registers, by floating-point additions that prove
// themselves exact (sums_float32.cl, terms_float64.cl). Sums that are not much larger or finer than that of the previous launch, of which it has stored
// how large it was, are combined as fixed-point numbers (fixed_sum.h); a first launch looks at a sample. Groups whose terms do not fit add them up
// as statistics.cl does (bins.h, words.h; of more than one tile also exponent_window.h), which is slower.
//
// Groups add their sums to counted words (meet.h). The last group gathers them: the device must hold two groups.
//
// Needs sub-groups, and additions that keep denormal numbers and obey rounding modes. Defined by the host, beside what elements.h takes: LOADS, GROUP_SIZE
// (at least two sub-groups), RESIDENT, STRIDED, COLUMN_BITS as in statistics.cl; SUM, or PRODUCTS, and DOT, whether these are of two arrays; STREAM,
// whether a group has more than one tile. There are at most MAX_SUM_GROUPS groups.
#define MAX_SUM_GROUPS 1024
#define SUBGROUPS (GROUP_SIZE / SUBGROUP)

// The words of a group in local memory.
#define STORAGE_GROUP 0                             // the group's sum as a fixed-point number
#define STORAGE_FAILED (STORAGE_GROUP + FIXED_ROOM) // 1 and the number of other groups that failed; 0 if the sum as a fixed-point number is right
#define STORAGE_ZERO (STORAGE_FAILED + 4)           // four zeros
#define STORAGE_SAMPLE (STORAGE_ZERO + 4)           // a word for each sub-group
#define STORAGE (STORAGE_SAMPLE + (SUBGROUPS + 3) / 4 * 4)

// Memory for bins, and to round, in units of 16 bytes.
#define BIN_LOADS ((ALL_BINS * COLUMNS + 3) / 4)
#define SCRATCH_LOADS ((SCRATCH_DIGITS + 3) / 2)

FN void make_reals(REAL* v, const uint4* x, const uint4* y) {
#pragma unroll
  for (int i = 0; i < REALS; ++i) {
    v[i] = real_of(element_of(x[i / ELEMENTS_PER_LOAD], i % ELEMENTS_PER_LOAD), element_of(y[i / ELEMENTS_PER_LOAD], i % ELEMENTS_PER_LOAD));
  }
}
FN void add_loads(SHARE* share, const uint4* x, const uint4* y, double upper) {
  REAL v[REALS];
  make_reals(v, x, y);
  add_terms(share, v, upper);
}

// The exponent field of a power for the first launch: from a sample of terms, the same in all groups.
FN uint sampled_field(LOCAL uint* storage, ARRAY a, ARRAY b, ulong count) {
  if (count == 0) return power_field(0, 0);
  const ulong at = count < GROUP_SIZE ? local_id() % (uint)count : local_id() * (count / GROUP_SIZE);
  const WORD x = element_of_array(a, at), y = DOT ? element_of_array(b, at) : x;
  const uint most = subgroup_max_u32(is_special(x) || is_special(y) ? 0 : field_of_term(x, y, count)), lane = local_id() & (SUBGROUP - 1);
  if (lane == 0) storage[STORAGE_SAMPLE + local_id() / SUBGROUP] = most;
  barrier_local();
  uint greatest = 0;
  for (uint i = lane; i < SUBGROUPS; i += SUBGROUP) greatest = max_u32(greatest, storage[STORAGE_SAMPLE + i]);
  return power_field(subgroup_max_u32(greatest), 0);
}

// Adds up the work-item's terms by float64 additions that prove themselves exact. `x` and `y` have its first tile.
FN FIXED add_fixed(SHARE* share, uint4* x, uint4* y, ARRAY a, ARRAY b, ulong count, double upper) {
#if STREAM
  const ulong step = (ulong)group_count() * TILE;
  ulong first = (ulong)group_id() * TILE + step;
#if !STRIDED  // loads the next tile while one is added up
  uint4 next_x[LOADS], next_y[LOADS];
  while (first + TILE <= count) {
    load_whole(next_x, next_y, a, b, first);
    add_loads(share, x, y, upper);
    first += step;
    if (first + TILE > count) {
#pragma unroll
      for (int i = 0; i < LOADS; ++i) {
        x[i] = next_x[i];
        y[i] = next_y[i];
      }
      break;
    }
    load_whole(x, y, a, b, first);
    add_loads(share, next_x, next_y, upper);
    first += step;
  }
#endif
  add_loads(share, x, y, upper);
  for (; first < count; first += step) {
    load_tile(x, y, a, b, first, count);
    add_loads(share, x, y, upper);
  }
#else
  add_loads(share, x, y, upper);
#endif
  return fixed_of_share(share, upper);
}

// Adds up the sums of the group's work-items.
FN FIXED add_group(LOCAL uint* storage, LOCAL uint4* memory, FIXED sum) {
  if (sum.failed) storage[STORAGE_GROUP + GROUP_FAILED] = 1;
  if (sum.other) storage[STORAGE_GROUP + GROUP_OTHER] = 1;
  share_pieces(storage + STORAGE_GROUP, sum);
  barrier_local();
  return sum_of_pieces(memory + STORAGE_GROUP / 4);
}

// Adds up the group's terms, any numbers, in bins. `greatest` is where to note the exponent field of the greatest.
FN void add_in_bins(LOCAL uint4* memory, LOCAL long* sums, LOCAL uint* counters, ARRAY a, ARRAY b, ulong count, GLOBAL uint* greatest) {
  LOCAL uint* bins = (LOCAL uint*)memory;
  LOCAL uint* column = bins + (local_id() & (COLUMNS - 1));
  ulong first = (ulong)group_id() * TILE;
  uint4 x[LOADS], y[LOADS];
  load_tile(x, y, a, b, first, count);  // in flight while local memory is cleared
  FOR_EACH(i, BIN_LOADS) memory[i] = make_uint4(0, 0, 0, 0);
  FOR_EACH(i, ALL_BINS + RECORD_COUNTERS) sums[i] = 0;
  FOR_EACH(i, COUNTERS) counters[i] = 0;
  barrier_local();
  SUMS_STATE state = empty_sums();
#if GREATEST_NOTED
  uint most = 0;
#endif
#if STREAM
  state.window = guess_window(x, y);
  uint filled = 0;  // tiles in the running sums
  uint added = 0;   // terms of a work-item in the bins
#endif
  for (;;) {
#pragma unroll
    for (int i = 0; i < LOADS; ++i) state = add_load(column, counters, x[i], y[i], state);
#if GREATEST_NOTED
    most = max_u32(most, greatest_field(x, y));
#endif
#if STREAM
    ++filled;
    added += REALS;
    state.window = move_window(column, state.window, filled * LOADS);
    if (filled == ELEMENTS_A_WINDOW / REALS) {
      state.window = empty_window(column, state.window);
      filled = 0;
    }
    first += TILE * (ulong)group_count();
    if (first >= count) break;
    if (added + REALS > ROOM) {
      collect_bins(bins, counters, sums);
      added = 0;
    }
    load_tile(x, y, a, b, first, count);
#else
    break;
#endif
  }
#if STREAM
  flush_together(column, state.window);
#endif
  // No square is -0.0; one of NaN is counted apart.
  if (state.other != 0 || (PRODUCTS && !DOT)) atomic_add_local32(&counters[COUNTER_OTHERS], 1);
#if GREATEST_NOTED
  most = subgroup_max_u32(most);
  if ((local_id() & (SUBGROUP - 1)) == 0) atomic_max_global32(greatest, most);
#endif
  collect_bins(bins, counters, sums);
}

// The sum of the rows that begin in digit i. None of them reaches 2^36, because a group has few terms (small_sum_device.cpp).
FN long sum_in_digit(LOCAL const long* sums, uint i) {
  const uint row_bits = SUM ? SUM_ROW_BITS : PRODUCT_ROW_BITS, rows = 32 / row_bits;
  ulong sum = 0;
#pragma unroll
  for (uint k = 0; k < rows; ++k) {
    if (i * rows + k < ALL_ROWS) sum += (ulong)sums[i * rows + k] << k * row_bits;
  }
  return (long)sum;
}
// Word i of the group (words.h): a digit takes the carry of the one below it, as words of many groups are added up.
FN long word_of_sums(LOCAL const long* sums, uint i) {
  if (i >= FIRST_COUNTER) return sums[ALL_BINS + i - FIRST_COUNTER];
  return (sum_in_digit(sums, i) & 0xffffffffL) + (i != 0 ? sum_in_digit(sums, i - 1) >> 32 : 0);
}

// `slots` are zero before and after each launch, except the state. The first element of `a` lies at byte `a_offset`, the others `a_stride` bytes
// apart; the same of `b`, which is read for products only.
// If STREAM, group i has tiles i, i + group_count(), …; else there is a group for each tile.
// If TERM, its parameters stand in place of those of arrays (term.hpp).
#if !TERM
#define TERM_PARAMETERS GLOBAL const uchar *a, ulong a_offset, long a_stride, GLOBAL const uchar *b, ulong b_offset, long b_stride
#endif
KERNEL FIXED_GROUP(GROUP_SIZE, RESIDENT)
void small_sum(TERM_PARAMETERS, ulong count, GLOBAL ulong* slots, GLOBAL long* result, GLOBAL uchar* record, ulong record_offset, int skip_nans) {
  LOCAL_VAR uint4 memory[STORAGE / 4];
  LOCAL_VAR uint4 bins[BIN_LOADS > SCRATCH_LOADS ? BIN_LOADS : SCRATCH_LOADS];
  LOCAL_VAR long sums[ALL_BINS + RECORD_COUNTERS];
  LOCAL_VAR long words[WORDS];
  LOCAL_VAR uint counters[COUNTERS];

  grid_dependency_wait();

#if TERM
  const ARRAY left = TERM_VALUE, right = left;
#else
  const ARRAY left = {a + a_offset, a_stride}, right = {b + b_offset, b_stride};
#endif
  GLOBAL ulong* const state_place = slots;
  GLOBAL ulong* const meeting = state_place + STATE_WORDS;
  GLOBAL ulong* const merged = meeting + SUBGROUP;
  const ulong state = atomic_load_global64(state_place);  // requested before the elements, so that it arrives first
  uint4 x[LOADS], y[LOADS];
  load_tile(x, y, left, right, (ulong)group_id() * TILE, count);  // in flight while local memory is cleared
  if (local_id() < STORAGE / 4) memory[local_id()] = make_uint4(0, 0, 0, 0);
  barrier_local();
  // Compilers move code up across a barrier if they can, and here would wait for the loads there. They cannot move code that depends on a word
  // that was cleared before the barrier: so `storage` does. They also keep such an address in a register; and as it might differ between
  // work-items, they do not combine a sub-group's additions to one word.
  const uint zero = ((LOCAL const uint*)memory)[STORAGE_ZERO + (local_id() & 3)];
  LOCAL uint* storage = (LOCAL uint*)memory + zero;

  const uint others = group_count() - 1, is_last = group_id() == others;
  const uint is_first = field_of(state) == 0, tried = pause_of(state) == 0;
  const uint field = RARELY(is_first) ? sampled_field(storage, left, right, count) : field_of(state);
  FIXED sum = sum_identity();  // of all groups, if that is a fixed-point number
  uint own = 1;                // whether this group's terms are to be added in bins
  uint in_words = others;      // the number of other groups that do so
  if (!RARELY(!tried)) {
    const double upper = power_of(field);
    SHARE share = empty_share(zero, upper);
    FIXED part = add_fixed(&share, x, y, left, right, count, upper);
    part.other = has_other(&share);
    sum = add_group(storage, memory, part);
    own = sum.failed;
    if (!is_last) {
      if (!RARELY(own)) {
        publish_fixed(meeting, sum);
        return;
      }
      publish_failure(meeting);
    } else {
      if (own) sum = sum_identity();
      sum.failed = own;
      if (local_id() < SUBGROUP) {
        // Computed while other groups still work.
        GLOBAL ulong* to = materialize_address(place_of_word((GLOBAL ulong*)result, (GLOBAL ulong*)(record + record_offset)));
        if (others != 0) {
          launch_dependents();
          sum = gather_fixed(meeting, others, sum);
        }
        if (!RARELY(sum.failed)) {
          round_fixed(sum, field, count == 0, to);
          if (local_id() == 0 && (is_first || failures_of(state) != 0)) {
            store_settled_global64(state_place, state_of(field, 0, failures_of(state) - !is_first));
          }
        } else {
          storage[STORAGE_FAILED] = 1 + sum.failed_groups;
        }
      }
      barrier_local();  // other sub-groups wait here to learn whether the sum has failed, which is rare
      in_words = storage[STORAGE_FAILED] - 1;
      if (!RARELY(in_words + 1)) return;
    }
  }

  if (own) add_in_bins(bins, sums, counters, left, right, count, (GLOBAL uint*)(state_place + 1));
  FOR_EACH_WORD(i) words[i] = own ? word_of_sums(sums, i) : 0;
  if (!is_last) {
    publish_words(merged, words);
    return;
  }
  if (in_words != 0) {
    launch_dependents();
    gather_words(merged, in_words, words);
  }
  barrier_local();
  if (tried && local_id() == 0) {
    const int position = (int)field + TERM_SCALE - UPPER * LOWER_BITS - 1 - ROUND_BASE;
#pragma unroll
    for (int i = 0; i < FIXED_WORDS; ++i) {
      if (sum.words[i] != 0) exact_add_scaled(words, sum.words[i], position + (i == 0 ? -FINER_BITS : i * LOWER_BITS));
    }
    words[FIRST_COUNTER + COUNTER_OTHERS] += sum.other;
  }
  barrier_local();
  FOR_EACH(i, WORDS) result[i] = words[i];
  if (local_id() >= SUBGROUP) return;
  const ulong rounded = round_words(record, record_offset, count, skip_nans, words, bins);
  if (local_id() != 0) return;
#if GREATEST_NOTED  // only a hint for the next launch: it need not be complete
  const uint expected = (uint)atomic_load_global64(state_place + 1);
  store_settled_global64(state_place + 1, 0);
#else
  const uint expected = (uint)(rounded >> 52) & 0x7ffu;
#endif
  store_settled_global64(state_place, state_after(state, tried && !is_first, expected));
}
