#!/usr/bin/env python3
"""plot-figures.py [FOLDER]: draws the plots of docs/performance.md, from docs/lab/figures.json, as SVG into docs/pictures or FOLDER.

Both axes are logarithmic. A line is given by its rates, by microseconds (then the rate follows from the bytes of an element), or by
microseconds_over: [line, ratios], the times of another line times ratios. A plot of a table takes its rates from a file beside the JSON.
"""
import html
import json
import math
import pathlib
import sys

SOURCE = pathlib.Path(__file__).resolve().parent.parent
WIDTH, HEIGHT = 720, 400
LEFT, RIGHT, TOP, BOTTOM = 64, 16, 96, 52  # of the plot's area
COLORS = ["#1b6ca8", "#d97706", "#a21caf", "#4b5563", "#b91c1c"]


def read_table(name):
    """{(work, data, line): {size: rate}} of what bench/peers/sizes.cu printed."""
    table = {}
    for row in (SOURCE / "docs/lab" / name).read_text(encoding="utf-8").splitlines():
        if not row.startswith("#"):
            work, data, line, size, *_, rate = row.split()
            table.setdefault((work, data, line), {})[int(size)] = float(rate)
    return table


def take_rates(plot):
    """Gives a plot of a table its sizes, and its lines their rates."""
    table = read_table(plot["table"])
    found = [table[line.get("work", plot["work"]), line["data"], line["line"]] for line in plot["lines"]]
    plot["x"]["values"] = sorted(found[0])
    for line, by_size in zip(plot["lines"], found, strict=True):
        line["rates"] = [by_size.get(size) for size in plot["x"]["values"]]


def rates(plot):
    """[(line, rates)], None where there is none."""
    found, times = [], []
    sizes, width = plot["x"]["values"], plot.get("element_bytes")
    for line in plot["lines"]:
        if "rates" in line:
            values, micros = line["rates"], None
        else:
            if "microseconds_over" in line:
                of, ratios = line["microseconds_over"]
                micros = [time * ratio for time, ratio in zip(times[of], ratios, strict=True)]
            else:
                micros = line["microseconds"]
            values = [size * width / (1e3 * time) for size, time in zip(sizes, micros, strict=True)]
        assert len(values) == len(sizes), line["name"]
        found.append((line, values))
        times.append(micros)
    return found


def draw(plot):
    sizes = plot["x"]["values"]
    low, high = plot["y"]["from"], plot["y"]["to"]

    def x(value):
        return LEFT + (WIDTH - LEFT - RIGHT) * math.log(value / sizes[0]) / math.log(sizes[-1] / sizes[0])

    def y(value):
        assert low <= value <= high, value
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * math.log(value / low) / math.log(high / low)

    def text(at_x, at_y, words, more=""):
        return f'<text x="{at_x:.1f}" y="{at_y:.1f}"{more}>{html.escape(words)}</text>'

    drawn = rates(plot)
    summary = "; ".join(f"{line['name']}: from {values[0]:.3g} to {values[-1]:.3g}" for line, values in drawn if values[0] and values[-1])
    svg = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img" font-family="sans-serif" '
           'font-size="12" fill="#222">', f"<title>{html.escape(plot['title'])}</title>", f"<desc>{html.escape(summary)}</desc>",
           f'<rect width="{WIDTH}" height="{HEIGHT}" rx="6" fill="#fff"/>', text(12, 22, plot["title"], ' font-size="14" font-weight="bold"')]
    at, row = 12, 44
    for line, _ in drawn:
        color, width = COLORS[line["color"]], 48 + 6.6 * len(line["name"])
        if at + width > WIDTH:
            at, row = 12, row + 20
        svg.append(f'<line x1="{at:.1f}" y1="{row}" x2="{at + 26:.1f}" y2="{row}" stroke="{color}" stroke-width="2.5"{dashes(line)}/>')
        svg.append(text(at + 32, row + 4, line["name"]))
        at += width
    for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1):
        for digit in (1, 2, 5):
            value = digit * 10**power
            if low <= value <= high:
                svg.append(f'<line x1="{LEFT}" y1="{y(value):.1f}" x2="{WIDTH - RIGHT}" y2="{y(value):.1f}" stroke="{"#ccc" if digit == 1 else "#eee"}"/>')
                svg.append(text(LEFT - 6, y(value) + 4, f"{value:,g}", ' text-anchor="end"' + ("" if digit == 1 else ' fill="#777" font-size="10"')))
    for size in sizes:
        svg.append(f'<line x1="{x(size):.1f}" y1="{TOP}" x2="{x(size):.1f}" y2="{HEIGHT - BOTTOM}" stroke="#eee"/>')
        power = f"{math.log2(size):.0f}"
        svg.append(f'<text x="{x(size):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">2<tspan dy="-5" font-size="9">{power}</tspan></text>')
    svg.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, plot["x"]["label"], ' text-anchor="middle"'))
    svg.append(text(LEFT, TOP - 8, plot["y"]["label"]))
    level = plot.get("level")
    if level:
        svg.append(f'<line x1="{LEFT}" y1="{y(level["value"]):.1f}" x2="{WIDTH - RIGHT}" y2="{y(level["value"]):.1f}" stroke="#b91c1c" stroke-dasharray="2 4"/>')
        svg.append(text(WIDTH - RIGHT - 4, y(level["value"]) - 5, level["name"], ' text-anchor="end" fill="#b91c1c"'))
    for line, values in drawn:
        color = COLORS[line["color"]]
        points = [(x(size), y(value)) for size, value in zip(sizes, values, strict=True) if value is not None]
        path = " ".join(f"{px:.1f},{py:.1f}" for px, py in points)
        svg.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2.5"{dashes(line)}/>')
        svg += [f'<circle cx="{px:.1f}" cy="{py:.1f}" r="3" fill="{color}"/>' for px, py in points]
    return "\n".join([*svg, "</svg>"]) + "\n"


def dashes(line):
    return ' stroke-dasharray="7 4"' if line.get("dashed") else ""


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else SOURCE / "docs/pictures"
    figures = json.loads((SOURCE / "docs/lab/figures.json").read_text(encoding="utf-8"))
    for plot in figures["plots"]:
        if "table" in plot:
            take_rates(plot)
        (folder / plot["picture"]).write_text(draw(plot), encoding="utf-8")


if __name__ == "__main__":
    main()
