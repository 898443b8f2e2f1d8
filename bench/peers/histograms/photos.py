"""photos.py DECODE SAMESUM PHOTO ...: `samesum hist PHOTO --by-channel` in turns with a program that only decodes it."""
import statistics
import subprocess
import sys
import time

decode, samesum, *photos = sys.argv[1:]


def seconds(*command):
    start = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


for photo in photos:
    pairs = [(seconds(decode, photo), seconds(samesum, "hist", photo, "--by-channel")) for _ in range(31)]
    ratios = sorted(hist / alone for alone, hist in pairs)
    print(f"{photo}: decoding {1e3 * statistics.median(alone for alone, _ in pairs):.1f} ms, "
          f"samesum hist {1e3 * statistics.median(hist for _, hist in pairs):.1f} ms, "
          f"ratio {statistics.median(ratios):.3f} ({ratios[3]:.3f} to {ratios[27]:.3f})", flush=True)
