# SPDX-License-Identifier: MIT
"""A picture of bars, as SVG: groups of them, by name, on a logarithmic scale."""
import math
from xml.sax.saxutils import escape

COLOURS = ["#c0392b", "#e67e22", "#2c3e50", "#34495e", "#7f8c8d", "#2980b9", "#8e44ad", "#27ae60",
           "#bdc3c7"]
BAR, GAP, LEFT, TOP, WIDTH, RIGHT = 11, 10, 170, 50, 560, 60
LEAST, MOST = 0.25, 64  # of the scale


def place(number):
    """Where on the scale it is."""
    share = math.log(min(max(number, LEAST), MOST) / LEAST) / math.log(MOST / LEAST)
    return LEFT + WIDTH * share


def text(x, y, words, size=9, anchor="start"):
    return (f'<text x="{x:.0f}" y="{y:.0f}" font-size="{size}" text-anchor="{anchor}">'
            f"{escape(words)}</text>")


def scale(bottom):
    number = LEAST
    while number <= MOST:
        x, width = place(number), 1.5 if number == 1 else 0.5
        yield (f'<line x1="{x:.0f}" y1="{TOP - 8}" x2="{x:.0f}" y2="{bottom}" stroke="#888" '
               f'stroke-width="{width}"/>')
        yield text(x, TOP - 12, f"{number:g}", anchor="middle")
        number *= 2


def bar(y, name, number, colour):
    end = place(number)
    yield text(LEFT - 6, y + BAR - 2, name, anchor="end")
    yield (f'<rect x="{LEFT}" y="{y}" width="{end - LEFT:.1f}" height="{BAR - 1}" '
           f'fill="{colour}"/>')
    yield text(end + 3, y + BAR - 2, f"{number:.2f}" if number < 10 else f"{number:.0f}")


def groups(bars, y):
    names = list(dict.fromkeys(name for group in bars.values() for name in group))
    colours = {name: COLOURS[i % len(COLOURS)] for i, name in enumerate(names)}
    for title, group in bars.items():
        yield text(8, y + BAR - 2, title, size=12)
        for name, number in group.items():
            yield from bar(y, name, number, colours[name])
            y += BAR
        y += GAP


def write(path, title, bars):
    """`bars` are numbers, by name, by group."""
    bottom = TOP + sum(BAR * len(group) + GAP for group in bars.values())
    width = LEFT + WIDTH + RIGHT
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {bottom}" '
             f'width="{width}" height="{bottom}" font-family="sans-serif">',
             f'<rect width="{width}" height="{bottom}" fill="white"/>',
             text(8, 20, title, size=14), *scale(bottom - GAP), *groups(bars, TOP), "</svg>"]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
