#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""figures.py FILE.svg...: is each figure, as gnuplot wrote it, fit to be read?
One line a fault: an entry of the legend without a mark, empty axes, axes whose
marks all lie on one edge, a mark without size, text cut off at the border, or
text too small on a telephone. Status 1 where there is any."""
import re
import sys
import xml.etree.ElementTree as tree

SVG = "{http://www.w3.org/2000/svg}"
LINK = "{http://www.w3.org/1999/xlink}href"
EDGE = 0.02          # of an axis: as near as this lies on the edge
SLACK = 1.5          # pixels, for marks on the frame itself
PHONE_WIDTH = 320    # of a page of 360 px, without its margins
TEXT_MIN = 8.5       # pixels there
# Of a sans-serif face: the mean advance, in parts of the font's size.
ADVANCE, BOLD_ADVANCE = 0.53, 0.60


def numbers(text):
    return [float(n) for n in re.findall(r"-?\d+\.?\d*", text)]


def place_of(element):
    """Where a mark or a line of a series has its points."""
    if element.tag == SVG + "use":
        return [tuple(numbers(element.get("transform", "0,0"))[:2])]
    if element.tag == SVG + "circle":
        return [(float(element.get("cx")), float(element.get("cy")))]
    if element.tag in (SVG + "path", SVG + "polygon"):
        flat = numbers(element.get("d") or element.get("points", ""))
        return list(zip(flat[::2], flat[1::2]))
    return []


def frames_of(root):
    """The axes: gnuplot's border of the left and the lower side."""
    frames = set()
    for path in root.iter(SVG + "path"):
        lines = (path.get("d") or "").split("M")
        points = place_of(path)
        # Down, to the right, and there the unseen sides: moves alone.
        if len(lines) == 4 and len(points) == 5 and points[0] == points[4]:
            (left, top), _, (right, bottom) = points[:3]
            if left < right and top < bottom:
                frames.add((left, top, right, bottom))
    return sorted(frames)


def inside(frame, point):
    left, top, right, bottom = frame
    return (left - SLACK <= point[0] <= right + SLACK and
            top - SLACK <= point[1] <= bottom + SLACK)


def on_edge(values, low, high):
    near = EDGE * (high - low)
    return max(values) <= low + near or min(values) >= high - near


def texts(element, size=0.0, at=None, anchor="start"):
    """Each text with its place, size and anchor."""
    size = float(element.get("font-size", size))
    anchor = element.get("text-anchor", anchor)
    move = element.get("transform", "")
    if "rotate" in move:
        at = None
    elif move.startswith("translate"):
        at = tuple(numbers(move)[:2])
    if element.tag == SVG + "text":
        words = "".join(element.itertext())
        spans = [float(s.get("font-size", size)) for s in element]
        yield words, at, max(spans or [size]), anchor, \
            any(s.get("font-weight") == "bold" for s in element.iter())
    for child in element:
        yield from texts(child, size, at, anchor)


def text_faults(root):
    width = numbers(root.get("viewBox"))[2]
    for words, at, size, anchor, bold in texts(root):
        if not words.strip():
            continue
        if size * PHONE_WIDTH / width < TEXT_MIN:
            yield f"'{words}' is too small at {PHONE_WIDTH} px"
        if at is None:
            continue
        length = len(words.strip()) * size * (BOLD_ADVANCE if bold
                                              else ADVANCE)
        begin = at[0] - {"start": 0, "middle": .5, "end": 1}[anchor] * length
        if begin < -2 or begin + length > width + 2:
            yield f"'{words}' is cut off"


def faults(root):
    frames = frames_of(root)
    marks = {frame: [] for frame in frames}
    if not frames:
        yield "no axes"
    for series in root.iter(SVG + "g"):
        if not series.get("id", "").startswith("gnuplot_plot_"):
            continue
        title = series.find(SVG + "title").text or ""
        drawn = []
        for element in series.iter():
            if element.tag == SVG + "use" and \
                    "scale(0.00)" in element.get("transform", ""):
                yield f"'{title}': a mark without size"
            for point in place_of(element):
                for frame in frames:
                    if inside(frame, point):
                        drawn.append(point)
                        marks[frame].append(point)
        in_legend = title in ["".join(t.itertext()).strip()
                              for t in series.iter(SVG + "text")]
        if in_legend and not drawn:
            yield f"'{title}' is in the legend, not in the picture"
    for frame, points in marks.items():
        left, top, right, bottom = frame
        if not points:
            yield "empty axes"
        elif on_edge([x for x, _ in points], left, right):
            yield "all marks lie on one edge of the x axis"
        elif on_edge([y for _, y in points], top, bottom):
            yield "all marks lie on one edge of the y axis"
    yield from text_faults(root)


bad = 0
for name in sys.argv[1:]:
    for fault in faults(tree.parse(name).getroot()):
        print(f"{name}: {fault}")
        bad = 1
sys.exit(bad)
