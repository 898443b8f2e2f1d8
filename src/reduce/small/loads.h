// Loads of 16 bytes. Follows the element type's file.

// Element i of a load of 16 bytes.
FN ELEMENT element_of(uint4 load, int i) {
#if ELEMENTS_PER_LOAD == 2
  return i == 0 ? (ulong)load.y << 32 | load.x : (ulong)load.w << 32 | load.z;
#else
  const int word = i * 4 / ELEMENTS_PER_LOAD;
  const uint bits = word == 0 ? load.x : word == 1 ? load.y : word == 2 ? load.z : load.w;
  return (ELEMENT)(bits >> (i * 128 / ELEMENTS_PER_LOAD % 32));
#endif
}
