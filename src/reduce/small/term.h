// What the values of a formula need to know of the array that they stand for (term.hpp), in place of walk.h: it begins with a load, and has one
// row. Precedes the formula's code, tiles.h follows it.
#define CACHED 1
typedef struct {
  uint head;
  ulong cached;  // loads that may stay in the cache (cache_policy.h)
} WALK;
FN WALK whole_array() {
  WALK walk;
  walk.head = 0;
  walk.cached = STREAM ? CACHED_LOADS : ~(ulong)0;
  return walk;
}
