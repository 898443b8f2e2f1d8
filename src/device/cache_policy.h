// Which loads of 16 bytes may stay in a cache.
//
// Data that are read again are found there where they fit. Where they do not, each part would push out the next that is asked for, if all
// were loaded alike: so the first 32 MiB may stay, and of the rest nothing need (load_streaming). On an H100 that is 1.4 times as fast for 64
// MiB, and 1.2 times for 128, when these are read again, and no slower when they are not. Of more it would be little.
#define CACHED_LOADS (32u << 16)
FN ulong cached_loads(ulong loads) { return loads <= (128u << 16) ? CACHED_LOADS : 0; }
