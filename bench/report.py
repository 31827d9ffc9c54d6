#!/usr/bin/env python3
"""bench/report.py [RESULTS.csv] [--pictures DIRECTORY]

Draws what the benchmarks measured: one HTML page on standard output that needs no other file, with the sizes of
docs/codecs.md's table and the times of a run's CSV (the newest of bench/results that has both sets of queries, if none
is named).  With --pictures the two pictures of README.md are written to DIRECTORY as SVG, and no page.

Charts are matplotlib's.  Text and axes take the page's colour, so they are readable on light and on dark.
"""
import csv
import glob
import html
import io
import os
import re
import sys

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
INK = "#123457"             # becomes the colour of the text around
COLOURS = {"strata": "#0d9488", "DuckDB": "#d97706", "Parquet+zstd": "#8b5cf6", "ClickHouse ZSTD": "#dc2626", "heap": "#64748b"}
plt.rcParams.update({"svg.fonttype": "none", "font.family": "sans-serif", "font.size": 10, "axes.spines.top": False,
                     "axes.spines.right": False, "svg.hashsalt": "strata",
                     **{name: INK for name in ("text.color", "axes.labelcolor", "xtick.color", "ytick.color", "axes.edgecolor")}})


def newest():
    """The latest run of both sets of queries."""
    for path in sorted(glob.glob(os.path.join(HERE, "results", "*.csv")), reverse=True):
        with open(path, encoding="utf-8") as source:
            names = {row["what"] for row in csv.DictReader(source)}
        if {"double-groupby-1", "heat-map"} <= names:
            return path
    sys.exit("bench/results has no run of both sets of queries")


def times(path):
    """{query: {engine: milliseconds}} in the order of the run, and the run's commit and rows."""
    found, last = {}, None
    with open(path, encoding="utf-8") as source:
        for row in csv.DictReader(source):
            last = row
            if row["unit"] == "ms" and row["engine"] in ("heap", "strata", "DuckDB"):
                found.setdefault(row["what"], {})[row["engine"]] = float(row["median"])
    return {name: of for name, of in found.items() if len(of) == 3}, last["commit"], int(last["rows"])


def sizes():
    """[(dataset, {engine: part of heap and index})] of docs/codecs.md."""
    with open(os.path.join(HERE, "..", "docs", "codecs.md"), encoding="utf-8") as source:
        lines = source.read().split("\n")
    start = next(n for n, line in enumerate(lines) if line.startswith("| dataset | heap + index |"))
    names = [cell.strip() for cell in lines[start].strip("|").split("|")]
    rows = []
    for line in lines[start + 2:]:
        if not line.startswith("|"):
            break
        cells = dict(zip(names, (cell.strip() for cell in line.strip("|").split("|"))))
        heap = float(cells["heap + index"])
        rows.append((cells["dataset"], {engine: float(cells[column]) / heap for engine, column in
                                        (("strata", "balanced"), ("ClickHouse ZSTD", "ClickHouse ZSTD"),
                                         ("Parquet+zstd", "Parquet+zstd"), ("DuckDB", "DuckDB"))}))
    return rows


def size_chart():
    rows = sizes()[::-1]
    figure, axes = plt.subplots(figsize=(8, 4.6))
    engines = list(rows[0][1])[::-1]
    height = 0.8 / len(engines)
    for n, engine in enumerate(engines):
        axes.barh([y - 0.4 + (n + 0.5) * height for y in range(len(rows))], [100 * of[engine] for _, of in rows],
                  height, color=COLOURS[engine], label=engine)
    axes.set_yticks(range(len(rows)), [name for name, _ in rows])
    axes.set_xlabel("bytes on disk, % of a heap table with one index")
    handles, labels = axes.get_legend_handles_labels()
    axes.legend(handles[::-1], labels[::-1], frameon=False, loc="upper right")
    figure.tight_layout()
    return figure


def ratio_axis(axes):
    axes.set_xscale("log")
    axes.set_xticks([0.2, 0.5, 1, 2, 5, 10, 20, 50, 100], ["0.2", "0.5", "1", "2", "5", "10", "20", "50", "100"])
    axes.minorticks_off()
    axes.axvline(1, color=INK, linewidth=0.8)


def speed_chart(queries):
    """All queries as two rows of points: how the README shows them."""
    figure, axes = plt.subplots(figsize=(8, 2.4))
    for y, engine in enumerate(("DuckDB", "heap")):
        ratios = sorted(of[engine] / of["strata"] for of in queries.values())
        spread = [y + 0.25 * ((n * 7 % 11) / 10 - 0.5) for n in range(len(ratios))]
        axes.scatter(ratios, spread, s=18, alpha=0.75, color=COLOURS[engine], linewidths=0)
        axes.plot([ratios[len(ratios) // 2]] * 2, [y - 0.3, y + 0.3], color=COLOURS[engine], linewidth=2)
    axes.set_yticks([0, 1], ["DuckDB", "heap"])
    axes.set_ylim(-0.6, 1.6)
    ratio_axis(axes)
    axes.set_xlabel("time of the other divided by strata's, %d queries (right of 1: strata is faster; bar: median)" % len(queries))
    figure.tight_layout()
    return figure


def each_chart(queries):
    """Every query by name."""
    names = list(queries)[::-1]
    figure, axes = plt.subplots(figsize=(8, 0.2 * len(names) + 1))
    for engine in ("heap", "DuckDB"):
        axes.scatter([queries[name][engine] / queries[name]["strata"] for name in names], range(len(names)), s=22,
                     color=COLOURS[engine], label=engine, linewidths=0)
    axes.set_yticks(range(len(names)), names, fontsize=8)
    axes.set_ylim(-1, len(names))
    axes.grid(axis="x", alpha=0.25)
    ratio_axis(axes)
    axes.legend(frameon=False, loc="lower right")
    axes.set_xlabel("time of the other divided by strata's")
    figure.tight_layout()
    return figure


def svg(figure, alone):
    """The figure as SVG; alone, it says itself what colour text has."""
    out = io.StringIO()
    figure.savefig(out, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    plt.close(figure)
    text = out.getvalue()
    text = text[text.index("<svg"):].replace(INK, "currentColor")
    # what matplotlib gives no colour is black
    text = re.sub(r'<text style="(?![^"]*fill:)', '<text style="fill: currentColor; ', text)
    if alone:
        style = "<style>svg { color: #24292f } @media (prefers-color-scheme: dark) { svg { color: #c9d1d9 } }</style>"
        text = re.sub(r"(<svg[^>]*>)", r"\1" + style, text, count=1)
    return text


PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>pg_strata: sizes and times</title>
<meta name="viewport" content="width=device-width">
<style>
  :root { color-scheme: light dark; }
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 52rem; margin: 2rem auto; padding: 0 1rem; color: #24292f; background: #fff; }
  svg { max-width: 100%%; height: auto; }
  @media (prefers-color-scheme: dark) { body { color: #c9d1d9; background: #0d1117; } }
</style></head><body>
<h1>pg_strata: sizes and times</h1>
<h2>Size</h2>
<p>Real datasets, each beside the same rows elsewhere; level <code>balanced</code> (docs/codecs.md).</p>
%s
<h2>Speed</h2>
<p>%s: %s rows in a live hypertable, one in twenty of each chunk not compressed yet; medians, results fetched by a client.</p>
%s
<h2>Query by query</h2>
%s
</body></html>
"""


def main():
    arguments = sys.argv[1:]
    pictures = arguments[arguments.index("--pictures") + 1] if "--pictures" in arguments else None
    named = [argument for argument in arguments if argument.endswith(".csv")]
    path = named[0] if named else newest()
    queries, commit, rows = times(path)
    if pictures:
        os.makedirs(pictures, exist_ok=True)
        for name, figure in (("size", size_chart()), ("speed", speed_chart(queries))):
            with open(os.path.join(pictures, name + ".svg"), "w", encoding="utf-8") as target:
                target.write(svg(figure, True))
        return
    print(PAGE % (svg(size_chart(), False), "Commit " + html.escape(commit), format(rows, ","),
                  svg(speed_chart(queries), False), svg(each_chart(queries), False)))


if __name__ == "__main__":
    main()
