// What one asks of an array, in one pass: extremes with their indices, exact sums of elements and of products, counts.
//
// Extremes are kept in registers, as keys. Exact sums are histograms (bins.h), as the exact sum's are (reduce/sum_exact.cl); where the device
// has doubles, most float32 are added up in registers before (window.h). Each group writes a record; statistics_combine, a single group,
// makes one of all.
//
// Defined by the host, beside what elements.h takes: EXTREMES, SUM, PRODUCTS, NONZEROS (what is wanted), DOT (products are a·b; else
// squares), GROUP_SIZE, RESIDENT, LOADS (of 16 bytes, in flight), COLUMN_BITS, WINDOWS.

// Words of a record.
#define LEAST 0  // key
#define AT_LEAST 1
#define GREATEST 2
#define AT_GREATEST 3
#define FIRST_NAN 4
#define COUNTERS 5
#define NANS 0  // counters
#define POSITIVE_INFINITIES 1
#define NEGATIVE_INFINITIES 2
#define OTHERS 3  // work-items that saw anything but -0.0 and NaN
#define COUNTED_NONZEROS 4
#define COUNTER_WORDS 5
#define ROWS (COUNTERS + COUNTER_WORDS)
#define NOWHERE (~(ulong)0)

#define RECORD (ROWS + ALL_ROWS)

#define TILE (GROUP_SIZE * LOADS)
#define FLUSH_TILES ((1 << HEADROOM) / (LOADS * ELEMENTS_PER_LOAD))  // after which running sums are full

typedef struct {
  KEY least, greatest;
  ulong at_least, at_greatest;  // the extremes are among the ELEMENTS_PER_LOAD elements from here on
  ulong first_nan;
  uint seen;  // elements that are no NaN
  uint nans, positive_infinities, negative_infinities, other, nonzeros;
  long sum0, sum1;                               // of integers: of 32-bit pieces
  long product0, product1, product2, product3;
#if WINDOWS
  WINDOW window;
#endif
} STATE;

#if FLOATS
// Adds the sum and the product of finite elements; of others, which are left to count_special(), nothing.
FN STATE add_exactly(LOCAL uint* column, WORD x, WORD y, STATE state) {
#if SUM
  const WORD m = is_special(x) ? 0 : mantissa_of(x);
#if BITS == 64
  add_number(column, 0, m, 0, position_of(x) & 2047, sign_of(x), 5);
#else
  add_number(column, 0, m, 0, is_special(x) ? 0 : position_of(x), sign_of(x), SUM_PIECES);
#endif
  state.other |= x != SIGN_BIT && !is_nan(x);
#endif
#if PRODUCTS
  const uint special = is_special(x) | is_special(y);
  const ulong a = special ? 0 : mantissa_of(x);
  const ulong b = special ? 0 : mantissa_of(y);
  const uint position = special ? 0 : position_of(x) + position_of(y);
  const uint sign = sign_of(x ^ y);
#if BITS == 64
  add_number(column, FIRST_PRODUCT_ROW, a * b, product_high(a, b), position, sign, 8);
#else
  add_number(column, FIRST_PRODUCT_ROW, a * b, 0, position, sign, PRODUCT_PIECES);
#endif
#if DOT
  state.other |= !special && ((a != 0 && b != 0) || sign == 0);
#endif
#endif
  return state;
}

// Counts what is no finite number: an element, or a product.
FN STATE count_special(WORD x, WORD y, ulong index, STATE state) {
#if DOT
  const uint nan = is_nan(x) | is_nan(y) | ((is_special(x) | is_special(y)) & (is_zero(x) | is_zero(y)));
  const uint special = is_special(x) | is_special(y);
  const uint negative = sign_of(x ^ y) & 1;
#else
  const uint nan = is_nan(x);
  const uint special = is_special(x);
  const uint negative = sign_of(x) & 1;
#endif
  state.nans += nan;
  state.first_nan = nan && index < state.first_nan ? index : state.first_nan;
  state.positive_infinities += special && !nan && !negative;
  state.negative_infinities += special && !nan && negative;
  state.other |= special && !nan;
  return state;
}
#else
FN STATE add_exactly(LOCAL uint* column, WORD x, WORD y, STATE state) {
#if SUM
#if BITS == 64
  state.sum0 += (long)(x & 0xffffffffu);
  state.sum1 += SIGNED ? (long)x >> 32 : (long)(x >> 32);
#elif SIGNED
  state.sum0 += integer_of(x);
#else
  state.sum0 += (long)x;
#endif
#endif
#if PRODUCTS
  const ulong a = absolute_of(x);
  const ulong b = absolute_of(y);
  const long sign = (long)(int)(sign_of(x) ^ sign_of(y));
  const ulong low = a * b;
  state.product0 += ((long)(low & 0xffffffffu) ^ sign) - sign;
  state.product1 += ((long)(low >> 32) ^ sign) - sign;
#if BITS == 64
  const ulong high = product_high(a, b);
  state.product2 += ((long)(high & 0xffffffffu) ^ sign) - sign;
  state.product3 += ((long)(high >> 32) ^ sign) - sign;
#endif
#endif
  return state;
}
#endif

FN STATE empty_state(void) {
  STATE state;
  state.least = KEY_GREATEST;
  state.greatest = KEY_LEAST;
  state.at_least = state.at_greatest = state.first_nan = NOWHERE;
  state.seen = state.nans = state.positive_infinities = state.negative_infinities = state.other = state.nonzeros = 0;
  state.sum0 = state.sum1 = state.product0 = state.product1 = state.product2 = state.product3 = 0;
#if WINDOWS
  state.window = open_window(127, 127);
#endif
  return state;
}

// Takes the extremes of elements from `index` on into the state. Later ones have to be better, not as good.
FN STATE take_extremes(KEY least, KEY greatest, ulong index, STATE state) {
  const uint below = least < state.least || state.at_least == NOWHERE;
  const uint above = greatest > state.greatest || state.at_greatest == NOWHERE;
  state.least = below ? least : state.least;
  state.at_least = below ? index : state.at_least;
  state.greatest = above ? greatest : state.greatest;
  state.at_greatest = above ? index : state.at_greatest;
  return state;
}

FN STATE add_single(LOCAL uint* column, WORD x, WORD y, ulong index, STATE state) {
  state = add_exactly(column, x, y, state);
#if FLOATS
  state = count_special(x, y, index, state);
#endif
#if EXTREMES
  if (!is_nan(x)) state = take_extremes(key_of(x), key_of(x), index, state);
#endif
#if NONZEROS
  state.nonzeros += !is_zero(x);
#endif
  return state;
}

#if WINDOWS
// Adds a load to the running sums, or to the bins. One less than a magnitude makes a zero the greatest unsigned and the least signed number.
FN STATE add_all_exactly(LOCAL uint* column, uint4 v, uint4 w, STATE state) {
  uint a_least = ~0u;
  uint b_least = ~0u;
  int a_greatest = -1;
  int b_greatest = -1;
#pragma unroll
  for (int i = 0; i < ELEMENTS_PER_LOAD; ++i) {
    const uint a = magnitude_of(word_of(v, i)) - 1;
    const uint b = magnitude_of(word_of(w, i)) - 1;
    a_least = min_u32(a_least, a);
    a_greatest = (int)a > a_greatest ? (int)a : a_greatest;
    if (DOT) b_least = min_u32(b_least, b);
    if (DOT) b_greatest = (int)b > b_greatest ? (int)b : b_greatest;
  }
  if (!DOT) b_greatest = a_greatest;
  const uint within = lie_within(a_least, a_greatest, state.window.a_top) && (!DOT || lie_within(b_least, b_greatest, state.window.b_top));
  if (within) {
#pragma unroll
    for (int i = 0; i < ELEMENTS_PER_LOAD; ++i) {
      const uint x = word_of(v, i);
      const uint y = word_of(w, i);
      state.window = add_to_window(state.window, x, y);
#if DOT
      state.other |= (magnitude_of(x) != 0 && magnitude_of(y) != 0) || sign_of(x ^ y) == 0;
#else
      state.other |= x ^ SIGN_BIT;
#endif
    }
    state.window.hit = 1;
  } else {
#pragma unroll 1
    for (int i = 0; i < ELEMENTS_PER_LOAD; ++i) state = add_exactly(column, word_of(v, i), word_of(w, i), state);
    state.window = move_window(column, state.window, a_greatest, b_greatest);
  }
  return state;
}
#endif

FN STATE add_load(LOCAL uint* column, uint4 v, uint4 w, ulong index, STATE state) {
  KEY least = KEY_GREATEST;
  KEY greatest = KEY_LEAST;
  uint special = 0;
#if WINDOWS
  state = add_all_exactly(column, v, w, state);
#endif
#pragma unroll
  for (int i = 0; i < ELEMENTS_PER_LOAD; ++i) {
    const WORD x = element_of(v, i);
    const WORD y = element_of(w, i);
#if !WINDOWS
    state = add_exactly(column, x, y, state);
#endif
#if FLOATS
    special |= DOT ? is_special(x) | is_special(y) : SUM || PRODUCTS ? is_special(x) : is_nan(x);
#endif
#if EXTREMES
    const KEY key = key_of(x);
    least = key < least ? key : least;
    greatest = key > greatest ? key : greatest;
#endif
#if NONZEROS
    state.nonzeros += !is_zero(x);
#endif
  }
#if FLOATS
  if (special) {
    least = KEY_GREATEST;
    greatest = KEY_LEAST;
    for (int i = 0; i < ELEMENTS_PER_LOAD; ++i) {
      const WORD x = element_of(v, i);
      state = count_special(x, element_of(w, i), index + i, state);
      const KEY key = key_of(x);
      least = !is_nan(x) && key < least ? key : least;
      greatest = !is_nan(x) && key > greatest ? key : greatest;
    }
    if (least > greatest) return state;  // all are NaN
  }
#endif
#if EXTREMES
  state = take_extremes(least, greatest, index, state);
#endif
  return state;
}

// Adds the registers' sums of integers to the bins.
FN void flush_integers(LOCAL uint* column, STATE state) {
  const long words[6] = {state.sum0, state.sum1, state.product0, state.product1, state.product2, state.product3};
#pragma unroll
  for (uint i = 0; i < 6; ++i) {
    const uint sign = words[i] < 0 ? ~0u : 0;
    const ulong magnitude = words[i] < 0 ? 0 - (ulong)words[i] : (ulong)words[i];
    if (i < 2 ? SUM : PRODUCTS) add_number(column, i < 2 ? 2 * i : FIRST_PRODUCT_ROW + 2 * (i - 2), magnitude, 0, 0, sign, 4);
  }
}

// The better of the group's candidates, of which the lowest index counts among equals: in keys[0] and places[0]. Signs: 1 for the greatest
// key, -1 for the least.
FN uint is_better(long key, ulong place, long other, ulong other_place, int greatest) {
  if (place == NOWHERE || other_place == NOWHERE) return other_place == NOWHERE && place != NOWHERE;
  return key == other ? place < other_place : (key > other) == (greatest != 0);
}
FN void choose(LOCAL long* keys, LOCAL ulong* places, int greatest) {
  for (uint stride = GROUP_ROUNDED / 2; stride > 0; stride /= 2) {
    barrier_local();
    const uint i = local_id();
    if (i < stride && i + stride < GROUP_SIZE && is_better(keys[i + stride], places[i + stride], keys[i], places[i], greatest)) {
      keys[i] = keys[i + stride];
      places[i] = places[i + stride];
    }
  }
  barrier_local();
}

// Among the elements from `place` on, the first with this key.
FN ulong resolve(GLOBAL const ELEMENT* elements, ulong count, KEY key, ulong place) {
  ulong found = place;
  if (place == NOWHERE) return place;
  for (int i = ELEMENTS_PER_LOAD - 1; i >= 0; --i) {
    const ulong at = place + i < count ? place + i : place;
    if (key_of(elements[at]) == key) found = at;
  }
  return found;
}

// Leaves the group's extreme in a record.
FN void write_extreme(LOCAL long* keys, LOCAL ulong* places, long key, ulong place, int greatest, GLOBAL ulong* record) {
  keys[local_id()] = key;
  places[local_id()] = place;
  choose(keys, places, greatest);
  if (local_id() == 0) {
    record[0] = (ulong)keys[0];
    record[1] = places[0];
  }
  barrier_local();
}

// Groups draw their tiles one by one, in the order of memory: reading stays in step all over the device, and no group waits for a slower one.
// `schedule` counts those drawn beyond the one that each group starts with; it is 0 before, and again after statistics_combine.
KERNEL FIXED_GROUP(GROUP_SIZE, RESIDENT)
void statistics(GLOBAL const uchar* a, GLOBAL const uchar* b, ulong count, GLOBAL ulong* records, GLOBAL uint* schedule) {
  LOCAL_VAR uint bins[ROOMY_ROWS * COLUMNS];
  LOCAL_VAR long rows[ROOMY_ROWS];
  LOCAL_VAR long keys[GROUP_SIZE];
  LOCAL_VAR ulong places[GROUP_SIZE];
  LOCAL_VAR uint counters[COUNTER_WORDS];
  LOCAL_VAR uint drawn[2];
  LOCAL uint* column = bins + (local_id() & (COLUMNS - 1));
  GLOBAL const ELEMENT* elements = (GLOBAL const ELEMENT*)a;
  GLOBAL const uint4* loads = (GLOBAL const uint4*)a;
  GLOBAL const uint4* others = (GLOBAL const uint4*)b;
  const uint tiles = (uint)(count / ELEMENTS_PER_LOAD / TILE);
  const uint more = tiles > group_count();

  for (uint i = local_id(); i < ROOMY_ROWS * COLUMNS; i += GROUP_SIZE) bins[i] = 0;
  for (uint i = local_id(); i < ROOMY_ROWS; i += GROUP_SIZE) rows[i] = 0;
  if (local_id() < COUNTER_WORDS) counters[local_id()] = 0;
  for (uint i = GROUP_SIZE; i < COUNTER_WORDS; ++i) counters[i] = 0;
  barrier_local();

  STATE state = empty_state();
  uint tile = group_id();
  uint turn = 0;
#if WINDOWS
  uint filled = 0;  // tiles in the running sums
#endif
  do {
    for (uint room = ROOM / (LOADS * ELEMENTS_PER_LOAD) - 1; room > 0 && tile < tiles; --room) {
      if (more && local_id() == 0) drawn[turn] = atomic_add_global32(schedule, 1) + group_count();
      const ulong first = (ulong)tile * TILE + local_id();
      uint4 v[LOADS];
      uint4 w[LOADS];
#pragma unroll
      for (int k = 0; k < LOADS; ++k) {
        v[k] = load_once(&loads[first + k * GROUP_SIZE]);
        w[k] = DOT ? load_once(&others[first + k * GROUP_SIZE]) : v[k];
      }
#pragma unroll
      for (int k = 0; k < LOADS; ++k) state = add_load(column, v[k], w[k], (first + k * GROUP_SIZE) * ELEMENTS_PER_LOAD, state);
#if WINDOWS
      if (++filled == FLUSH_TILES) {
        state.window = empty_window(column, state.window);
        filled = 0;
      }
#endif
      barrier_local();
      tile = more ? drawn[turn] : tiles;
      turn ^= 1;
    }
    collect_bins(bins, rows);
  } while (tile < tiles);
  for (ulong i = (ulong)tiles * TILE * ELEMENTS_PER_LOAD + global_id(); i < count; i += global_size()) {
    state = add_single(column, elements[i], DOT ? ((GLOBAL const ELEMENT*)b)[i] : elements[i], i, state);
  }
#if !FLOATS
  flush_integers(column, state);
#elif WINDOWS
  flush_window(column, state.window);
#endif
  collect_bins(bins, rows);

  GLOBAL ulong* record = records + (ulong)group_id() * RECORD;
#if EXTREMES
  write_extreme(keys, places, state.least, resolve(elements, count, state.least, state.at_least), 0, record + LEAST);
  write_extreme(keys, places, state.greatest, resolve(elements, count, state.greatest, state.at_greatest), 1, record + GREATEST);
  keys[local_id()] = 0;
  places[local_id()] = state.first_nan;
  choose(keys, places, 0);
  if (local_id() == 0) record[FIRST_NAN] = places[0];
#endif
  if (state.nans != 0) atomic_add_local32(&counters[NANS], state.nans);
  if (state.positive_infinities != 0) atomic_add_local32(&counters[POSITIVE_INFINITIES], state.positive_infinities);
  if (state.negative_infinities != 0) atomic_add_local32(&counters[NEGATIVE_INFINITIES], state.negative_infinities);
  if (state.other != 0) atomic_add_local32(&counters[OTHERS], 1);
  if (NONZEROS) atomic_add_local32(&counters[COUNTED_NONZEROS], state.nonzeros);
  barrier_local();
  if (local_id() == 0) {
    for (uint i = 0; i < COUNTER_WORDS; ++i) record[COUNTERS + i] = counters[i];
  }
#if ALL_ROWS > 0
  for (uint i = local_id(); i < ALL_ROWS; i += GROUP_SIZE) record[ROWS + i] = (ulong)rows[i];
#endif
}

// One group makes a record of `groups` records, at `result`.
#define WIDTH (GROUP_SIZE < 32 ? GROUP_SIZE : 32)
#define SLICES (GROUP_SIZE / WIDTH)
KERNEL FIXED_GROUP(GROUP_SIZE, 1)
void statistics_combine(GLOBAL const ulong* records, uint groups, GLOBAL ulong* result, GLOBAL uint* schedule) {
  LOCAL_VAR long keys[GROUP_SIZE];
  LOCAL_VAR ulong places[GROUP_SIZE];
#if EXTREMES
  for (uint which = LEAST; which <= GREATEST; which += GREATEST - LEAST) {
    long key = 0;
    ulong place = NOWHERE;
    for (uint i = local_id(); i < groups; i += GROUP_SIZE) {
      const long other = (long)records[(ulong)i * RECORD + which];
      const ulong other_place = records[(ulong)i * RECORD + which + 1];
      const uint better = is_better(other, other_place, key, place, which == GREATEST);
      key = better ? other : key;
      place = better ? other_place : place;
    }
    write_extreme(keys, places, key, place, which == GREATEST, result + which);
  }
  ulong first = NOWHERE;
  for (uint i = local_id(); i < groups; i += GROUP_SIZE) {
    const ulong other = records[(ulong)i * RECORD + FIRST_NAN];
    first = other < first ? other : first;
  }
  keys[local_id()] = 0;
  places[local_id()] = first;
  choose(keys, places, 0);
  if (local_id() == 0) result[FIRST_NAN] = places[0];
#endif
  if (local_id() == 0) schedule[0] = 0;
  // The other words are added up, WIDTH of them at a time, by SLICES of the group.
  const uint lane = local_id() % WIDTH;
  const uint slice = local_id() / WIDTH;
  for (uint block = COUNTERS; block < RECORD; block += WIDTH) {
    const uint word = block + lane;
    ulong sum = 0;
    if (slice < SLICES && word < RECORD) {
      for (uint i = slice; i < groups; i += SLICES) sum += records[(ulong)i * RECORD + word];
    }
    places[local_id()] = sum;
    barrier_local();
    if (slice == 0 && word < RECORD) {
      for (uint i = 1; i < SLICES; ++i) sum += places[i * WIDTH + lane];
      result[word] = sum;
    }
    barrier_local();
  }
}
