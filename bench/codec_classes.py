#!/usr/bin/env python3
"""Sums up the table of codec_bench by class of column, and draws it.

    codec_bench DIRECTORY | codec_classes.py

Passes its input on, then prints a table (mean bytes a value, median speeds) and a
plot: a bar for the bytes, one for the speed of decoding. Columns of no class are
left out; the classes are those of docs/codecs.md.
"""
import statistics
import sys

CLASSES = [
    ("regular timestamps", ["tsbs_cpu40.time", "beijing_air.ts", "covid_it_province.ts", "ligo_h1.ts"]),
    ("timestamps with gaps", ["flights.sched_dep", "nab_metrics.ts"]),
    ("irregular milliseconds", ["wiki_by_time.ts"]),
    ("counters", ["covid_it_province.total_cases", "covid_it_region.deceduti", "covid_it_region.casi_testati"]),
    ("gauges", ["covid_it_region.nuovi_positivi", "flights.dep_delay", "flights.air_time"]),
    ("integers, few distinct", ["flights.flight", "flights.distance"]),
    ("integers, skewed sizes", ["wiki_by_time.delta", "wiki_by_time.added"]),
    ("floats, 0-2 decimals", ["tsbs_cpu40.usage_user"] + ["beijing_air." + c for c in
                              ("pm25", "pm10", "so2", "no2", "co", "o3", "temp", "pres", "wspm")]),
    ("floats, mostly the same", ["beijing_air.rain"]),
    ("floats, mixed precision", ["nab_metrics.value"]),
    ("floats, full precision", ["ligo_h1.strain"]),
    ("wind direction, 16 values", ["beijing_air.wd"]),
    ("airport, 105 values", ["flights.dest"]),
    ("tail numbers, 4043 values", ["flights.tailnum"]),
    ("wiki channel, 51 values", ["wiki_by_time.channel"]),
    ("page titles", ["wiki_by_time.page"]),
    ("comments", ["wiki_by_time.comment"]),
    ("JSON events", ["wiki_by_time.event"]),
]
WIDTH = 30


def bar(share):
    return "#" * max(1, round(WIDTH * min(1.0, share))) if share > 0 else ""


def main():
    columns = {}
    for line in sys.stdin:
        sys.stdout.write(line)
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) == 11 and "." in cells[1] and not cells[1].startswith("*"):
            raw, size, encode, decode = (float(cells[i]) for i in (3, 6, 7, 8))
            columns[cells[1]] = raw, size, encode, decode
    rows = []
    for name, members in CLASSES:
        found = [columns[m] for m in members if m in columns]
        if found:
            rows.append(("%s (%d)" % (name, len(found)), statistics.mean(f[0] for f in found), statistics.mean(f[1] for f in found),
                         statistics.median(f[2] for f in found), statistics.median(f[3] for f in found)))
    if not rows:
        return
    print("\n| class (columns) | raw B | B/value | encode M/s | decode M/s |\n|---|---|---|---|---|")
    for name, raw, size, encode, decode in rows:
        print("| %s | %.1f | %.3f | %.*f | %.0f |" % (name, raw, size, 1 if encode < 10 else 0, encode, decode))
    fastest = max(row[4] for row in rows)
    print("\n%-32s %-*s %s" % ("", WIDTH + 8, "size, of raw", "decoding, M values/s"))
    for name, raw, size, _, decode in rows:
        print("%-32s %-*s %s" % (name, WIDTH + 8, "%s %.1f%%" % (bar(size / raw), 100 * size / raw),
                                 "%s %.0f" % (bar(decode / fastest), decode)))


if __name__ == "__main__":
    main()
