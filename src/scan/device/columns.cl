// Scans along an axis that is not the last: neighbouring lines lie side by side, and each work-item takes a piece of one. In three launches as
// scan.cl, after that file's prefix.h; where a line is one piece, the last one alone.
//
// Line number `line` begins at line / inner * extent * inner + line % inner, and its elements are `inner` apart.

// totals[piece * lines + line] becomes the aggregate of the piece: `rows` elements, the last fewer.
KERNEL void column_totals(GLOBAL const ELEMENT* x, ulong offset, ulong lines, ulong extent, ulong inner, ulong rows, ulong pieces,
                          GLOBAL ulong* totals) {
  const ulong item = global_id();
  if (item >= lines * pieces) return;
  const ulong line = item % lines, first = item / lines * rows, end = first + rows < extent ? first + rows : extent;
  x += offset + line / inner * extent * inner + line % inner;
  PREFIX p = prefix_zero();
  for (ulong i = first; i < end; ++i) p = prefix_add(p, NUMBER_OF(x[i * inner]));
  store_prefix(totals + item, lines * pieces, p);
}

// totals[…] becomes what lies before the piece.
KERNEL void columns_before(ulong lines, ulong pieces, GLOBAL ulong* totals) {
  const ulong line = global_id();
  if (line >= lines) return;
  PREFIX before = prefix_zero();
  for (ulong piece = 0; piece < pieces; ++piece) {
    GLOBAL ulong* const at = totals + piece * lines + line;
    const PREFIX p = stored_prefix(at, lines * pieces);
    store_prefix(at, lines * pieces, before);
    before = prefix_merge(before, p);
  }
}

KERNEL void column_prefixes(GLOBAL const ELEMENT* x, ulong offset, ulong lines, ulong extent, ulong inner, ulong rows, ulong pieces,
                            GLOBAL const ulong* totals, GLOBAL RESULT* to, ulong to_offset, uint exclusive, GLOBAL uint* words) {
  const ulong item = global_id();
  if (item >= lines * pieces) return;
  const ulong line = item % lines, first = item / lines * rows, end = first + rows < extent ? first + rows : extent;
  const ulong start = line / inner * extent * inner + line % inner;
  x += offset + start;
  to += to_offset + start;
  PREFIX p = pieces > 1 ? stored_prefix(totals + item, lines * pieces) : prefix_zero();
  uint unknown = 0;
  for (ulong i = first; i < end; ++i) {
    RESULT result = 0;
    if (exclusive != 0) {
      if (i != 0) unknown |= prefix_finish(p, &result);
      p = prefix_add(p, NUMBER_OF(x[i * inner]));
    } else {
      p = prefix_add(p, NUMBER_OF(x[i * inner]));
      unknown |= prefix_finish(p, &result);
    }
    to[i * inner] = result;
  }
  if (unknown != 0) atomic_max_global32(words, 1);
}
