/* The grid barrier and the discovery of resident groups, as samesum/device/grid_barrier.h has them, for the model checker spin. Every
 * interleaving is tried of groups that run on a device with SLOTS places: a group that has none starts when another has ended, and one that
 * runs keeps its place to its end, as on GPUs (the occupancy-bound execution model). Checked: no group passes a barrier before all have come
 * to it, and nobody waits for ever.
 *
 * A poll is a guard: true at one moment it may be false again when the group gets its turn, so that lost wake-ups are found.
 */
#ifndef LAUNCHED
#define LAUNCHED 3
#endif
#ifndef SLOTS
#define SLOTS LAUNCHED
#endif
#ifndef SHARDS
#define SHARDS 1
#endif
#ifndef ROUNDS
#define ROUNDS 5
#endif
#ifndef PHASES
#define PHASES 4 /* two bits */
#endif
#define ROOM 16 /* of a counter, below its phase */
#define MODULUS (PHASES * ROOM)

byte slots = SLOTS;
byte counter[SHARDS];
bool failed = false;

/* discovery */
byte come = 0;
bool closed = false;
byte found = 0;

/* for the checks */
byte begun[LAUNCHED];
byte parties = 0;

#define MEMBERS(shard) ((found + SHARDS - 1 - (shard)) / SHARDS)
#define SHARE (group < SHARDS -> ROOM + 1 - MEMBERS(shard) : 1)
#define PHASE(round) (((round) + PHASES - 1) % PHASES)
#if PHASES > 2
#define REACHED(value) ((((value) / ROOM + PHASES - PHASE(round)) % PHASES) < 2)
#else
#define REACHED(value) ((value) / ROOM == PHASE(round))
#endif
#define WAIT(condition)              \
  if                                 \
  :: condition                       \
  :: failed -> lost = true           \
  :: timeout -> failed = true; lost = true \
  fi

proctype launched_group(byte number) {
  byte group = 0;
  byte shard, i;
  byte round = 1;
  bool lost = false;

  d_step { slots > 0; slots--; }

  /* grid_barrier_begin */
#ifdef DISCOVER
  bool late;
  d_step { group = come; come++; late = closed; }
  if
  :: late -> goto leave
  :: !late && group > 0 -> found > 0
  :: !late && group == 0 ->
     /* The door is closed after a while: at any moment, in the model. */
     d_step { closed = true; i = come; }
     found = i
  fi;
#else
  group = number;
  found = LAUNCHED;
#endif
  parties++;
  assert(group < found);
  shard = group % SHARDS;

  do
  :: round > ROUNDS -> break
  :: round <= ROUNDS ->
#ifdef LEAVER
     if
     :: group == 1 && round == LEAVER -> break
     :: else
     fi;
#endif
     begun[group] = round;
#ifdef TEXTBOOK
     /* The textbook's second method: whoever comes counts up, and waits for all; the first group's leader sets the counter back. */
     counter[0]++;
     WAIT(counter[0] == found);
     if
     :: group == 0 -> counter[0] = 0
     :: else
     fi;
#else
     counter[shard] = (counter[shard] + SHARE) % MODULUS;
     i = 0;
     do
     :: i < SHARDS && i < found -> WAIT(REACHED(counter[i])); i++
     :: else -> break
     od;
#endif
     if
     :: lost -> break
     :: else
     fi;
     i = 0;
     do
     :: i < found -> assert(begun[i] >= round); i++
     :: else -> break
     od;
     round++
  od;
leave:
  slots++
}

init {
  byte i = 0;
  d_step {
    do
    :: i < SHARDS -> counter[i] = (PHASES - 1) * ROOM; i++ /* the next barrier wraps */
    :: else -> break
    od;
    i = 0;
  }
  do
  :: i < LAUNCHED -> run launched_group(i); i++
  :: else -> break
  od;
  slots == SLOTS && _nr_pr == 1;
#ifdef LEAVER
  assert(failed);
#else
  assert(!failed); /* with every group at its work, nobody has waited in vain */
#endif
  assert(parties == found);
}
