"""numpy_sums.py TYPE RUNS SECONDS DATA PERMUTED: times numpy's pairwise sum and Python's math.fsum; prints one JSON object a line."""
import json
import math
import statistics
import sys
import time

import numpy

kind, runs, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
data, permuted = (numpy.fromfile(path, dtype=kind) for path in sys.argv[4:6])


def measure(name, function, in_element_type):
    value = function(data)
    times = []
    repeats = True
    start = time.perf_counter()
    while len(times) < 3 or (len(times) < runs and time.perf_counter() - start < seconds):
        calls = 1 if not times else max(1, int(1e-3 / max(times[-1], 1e-9)))
        before = time.perf_counter()
        for _ in range(calls):
            again = function(data)
        times.append((time.perf_counter() - before) / calls)
        repeats = repeats and (again == value or again != again)
    times = sorted(times[1:])
    tenth = len(times) // 10
    other = function(permuted)
    print(json.dumps({"name": name, "in_element_type": in_element_type, "median": statistics.median(times), "low": times[tenth],
                      "high": times[-1 - tenth], "runs": len(times), "value": float(value).hex(), "repeats": bool(repeats),
                      "order_free": bool(other == value)}))


measure("numpy sum", numpy.sum, True)
try:
    measure("math.fsum", math.fsum, False)
except (OverflowError, ValueError) as error:  # it gives up on intermediate overflow
    print(json.dumps({"name": "math.fsum", "not_measured": str(error)}))
