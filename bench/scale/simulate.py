#!/usr/bin/env python3
"""All-reduces over many ranks, simulated by SimGrid (Debian's libsimgrid-dev): docs/scale.md.

    bench/scale/simulate.py [RANKS...] > simulated.csv     # default 2 to 512
    bench/scale/simulate.py --plot simulated.csv > docs/pictures/scale.svg

Each rank has a host and a link of its own to one switch: 1 µs from host to host, 100 Gbit/s. MPI's algorithms are those that Open MPI chooses.
What ranks compute takes no simulated time: only messages do.
"""
import csv
import math
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def platform(ranks):
    return f"""<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="all" routing="Full">
    <cluster id="c" prefix="h" suffix="" radical="0-{ranks - 1}" speed="1Gf" bw="12.5GBps" lat="500ns"/>
  </zone>
</platform>
"""


STEP = 2.03  # microseconds of a step between two ranks: half of the time for 4


def plot(path):
    """Times of a call over ranks, up to 2^20: simulated ones as dots, and the model's two lines."""
    left, top, width, height, most = 60, 30, 620, 300, 90
    x = lambda ranks: left + width * math.log2(ranks) / 20
    y = lambda micros: top + height * (1 - micros / most)
    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 400" font-family="sans-serif" font-size="12">',
           '<rect width="720" height="400" fill="white"/>']
    for power in range(0, 21, 4):
        out.append(f'<path d="M{x(2 ** power):.0f} {top}V{top + height}" stroke="#ddd"/><text x="{x(2 ** power):.0f}" y="{top + height + 18}" '
                   f'text-anchor="middle">{2 ** power:,}</text>')
    for micros in range(0, most + 1, 10):
        out.append(f'<path d="M{left} {y(micros):.0f}H{left + width}" stroke="#ddd"/><text x="{left - 8}" y="{y(micros) + 4:.0f}" text-anchor="end">{micros}</text>')
    for factor in (1, 2):
        out.append(f'<path d="M{x(1):.0f} {y(0):.0f}L{x(2 ** 20):.0f} {y(20 * factor * STEP):.0f}" stroke="#4b5563" stroke-dasharray="5 4"/>'
                   f'<text x="{x(2 ** 20):.0f}" y="{y(20 * factor * STEP) - 6:.0f}" text-anchor="end">{factor if factor > 1 else ""} log2(ranks) · {STEP} µs</text>')
    for name, color, radius in (("1 double", "#d97706", 5), ("15 integers", "#1b6ca8", 3)):
        for row in csv.reader(open(path, encoding="utf-8")):
            out.append(f'<circle cx="{x(int(row[0])):.1f}" cy="{y(float(row[row.index(name) + 1])):.1f}" r="{radius}" fill="{color}"/>')
        at = 16 if name == "1 double" else 32
        out.append(f'<circle cx="{left + 12}" cy="{top + at - 4}" r="{radius}" fill="{color}"/><text x="{left + 24}" y="{top + at}">{name}, simulated</text>')
    out.append(f'<text x="{left + width / 2}" y="390" text-anchor="middle">ranks</text><text x="8" y="18">microseconds of an all-reduce</text></svg>')
    print("\n".join(out))


def main():
    if sys.argv[1:2] == ["--plot"]:
        return plot(sys.argv[2])
    counts = [int(one) for one in sys.argv[1:]] or [2 ** k for k in range(1, 10)]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run(["smpicxx", "-O1", "-std=c++17", str(HERE / "all_reduce.cpp"), "-o", str(folder / "program")], check=True, capture_output=True)
        for ranks in counts:
            (folder / "platform.xml").write_text(platform(ranks), encoding="utf-8")
            (folder / "hosts").write_text("".join(f"h{i}\n" for i in range(ranks)), encoding="utf-8")
            command = ["smpirun", "-np", str(ranks), "-platform", str(folder / "platform.xml"), "-hostfile", str(folder / "hosts"),
                       "--cfg=smpi/simulate-computation:no", "--cfg=smpi/coll-selector:ompi", "--cfg=smpi/display-timing:no", "--log=root.thres:error",
                       str(folder / "program"), "3"]
            found = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
            if found.returncode != 0:
                sys.exit(found.stderr)
            print(found.stdout.strip(), flush=True)


if __name__ == "__main__":
    main()
