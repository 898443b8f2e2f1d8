"""others.py TYPE NAME FILE: times numpy's histogram, and OpenCV's where it is installed, of 256 bins."""
import statistics
import sys
import time

import numpy

try:
    import cv2
except ImportError:
    cv2 = None

kind, name, path = sys.argv[1:4]
data = numpy.fromfile(path, dtype=kind)
high = 256 if kind == "uint8" else 1


def show(what, function):
    times = []
    start = time.perf_counter()
    while len(times) < 3 or (len(times) < 15 and time.perf_counter() - start < 3):
        before = time.perf_counter()
        function()
        times.append(time.perf_counter() - before)
    rates = sorted(data.size / seconds / 1e9 for seconds in times[1:])
    print(f"{what:<24}{name:<10}{statistics.median(rates):8.2f} 10^9/s, 9 of 10 runs under {rates[len(rates) * 9 // 10]:.2f}", flush=True)


if kind == "uint8":
    show("numpy bincount", lambda: numpy.bincount(data, minlength=256))
show("numpy histogram", lambda: numpy.histogram(data, 256, (0, high)))
if cv2 is None:
    print("OpenCV: not installed (python3-opencv, or opencv-python-headless in a virtual environment)")
else:
    image = data.reshape(4096, -1)
    for threads in (1, 2):
        cv2.setNumThreads(threads)
        show(f"OpenCV {cv2.__version__}, {threads} thread" + "s" * (threads - 1), lambda: cv2.calcHist([image], [0], None, [256], [0, high]))
