// The states of an operator in a kernel, and their reduction within a sub-group.
//
// Before it stands what is written for a formula (operator_device.cpp): STATE, what the operator combines; LEAVES, the arrays and parameters,
// TREE_PARAMETERS and LEAVES_VALUE, the kernel's first parameters and a LEAVES of these; load_leaves(), which reads EACH leaves that follow
// one another; combine_states(); and write_root(). Defined by the host: GROUP_SIZE and EACH, powers of two.

#if SAMESUM_SUBGROUPS && GROUP_SIZE % 32 == 0
#define LANES SUBGROUP
#else
#define LANES 1
#endif

#if LANES > 1
#define STATE_SIZE ((sizeof(STATE) + 3) / 4)
typedef union {
  STATE state;
  uint words[STATE_SIZE];
} STATE_WORDS;

// The root of `count` lanes' nodes, a power of two up to LANES, to the first of them. All lanes of the sub-group call it; an operation is
// applied to the tree's nodes alone, as others might fail.
FN STATE root_of_lanes(LEAVES leaves, STATE node, uint count, uint* error) {
  const uint lane = local_id() & (LANES - 1);
  for (uint apart = 1; apart < count; apart *= 2) {
    STATE_WORDS own, other;
    own.state = node;
#pragma unroll
    for (uint i = 0; i < STATE_SIZE; ++i) other.words[i] = subgroup_shuffle(own.words[i], (lane + apart) & (LANES - 1));
    if ((lane & (2 * apart - 1)) == 0 && lane < count) node = combine_states(leaves, node, other.state, error);
  }
  return node;
}
#endif
