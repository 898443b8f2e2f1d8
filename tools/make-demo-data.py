#!/usr/bin/env python3
"""make-demo-data.py EGM96_15.GTX: writes data/egm96_geoid.npy, every second row and column of the grid.

The grid is /usr/share/proj/egm96_15.gtx of the Debian package proj-data. GTX: a big-endian header of four float64 (southern and western
edge, the two steps, in degrees) and two int32 (rows, columns), then rows of big-endian float32 from south to north."""
import pathlib
import struct
import sys

import numpy

content = pathlib.Path(sys.argv[1]).read_bytes()
rows, columns = struct.unpack(">2i", content[32:40])
heights = numpy.frombuffer(content, ">f4", rows * columns, offset=40).reshape(rows, columns)
target = pathlib.Path(__file__).resolve().parent.parent / "data" / "egm96_geoid.npy"
numpy.save(target, numpy.ascontiguousarray(heights[::2, ::2], dtype="<f4"))
print(f"{target}: {(rows + 1) // 2} x {(columns + 1) // 2} float32")
