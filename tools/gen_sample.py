#!/usr/bin/env python3
"""tools/gen_sample.py DIRECTORY

Writes a small sample with the tables of ../shared/data, for checkouts that
stand without that folder: schema.sql and one NAME.csv.zst per table.  The
values are made up (the same on every run) but shaped like the real ones:
random walks with few decimals, counters, repeated text, gaps and NULLs.
"""
import csv
import datetime
import io
import json
import os
import random
import subprocess
import sys

SCHEMA = {
    "tsbs_cpu40": "time timestamptz, hostname text, usage_user float8, usage_system float8, usage_idle float8, "
                  "usage_nice float8, usage_iowait float8, usage_irq float8, usage_softirq float8, "
                  "usage_steal float8, usage_guest float8, usage_guest_nice float8",
    "beijing_air": "ts timestamp, station text, pm25 float8, pm10 float8, so2 float8, no2 float8, co float8, "
                   "o3 float8, temp float8, pres float8, dewp float8, rain float8, wd text, wspm float8",
    "flights": "sched_dep timestamp, carrier text, flight int4, tailnum text, origin text, dest text, "
               "dep_time int2, sched_dep_time int2, dep_delay int2, arr_time int2, sched_arr_time int2, "
               "arr_delay int2, air_time int2, distance int4",
    "nab_metrics": "ts timestamp, grp text, series text, value float8",
    "covid_it_province": "ts timestamp, region_id int2, region text, province_id int2, province text, "
                         "sigla text, lat float8, lon float8, total_cases int4",
    "wiki_edits": "ts timestamptz, channel text, namespace text, page text, user_name text, comment text, "
                  "is_robot bool, is_anonymous bool, is_new bool, is_minor bool, country text, city text, "
                  "delta int4, added int4, deleted int4, event jsonb",
    "ligo_h1": "ts timestamp, strain float8",
}


def second(n):
    return datetime.timedelta(seconds=n)


def walk(rng, value, step, low, high, digits):
    """An endless random walk between bounds, rounded."""
    while True:
        yield round(value, digits) if digits else int(value)
        value = min(high, max(low, value + rng.gauss(0, step)))


def maybe(rng, share, value):
    """value, or NULL with that probability."""
    return None if rng.random() < share else value


def tsbs_cpu40(rng):
    hosts = [("host_%d" % i, [walk(rng, rng.uniform(0, 100), 1, 0, 100, 0) for _ in range(10)]) for i in range(10)]
    start = datetime.datetime(2016, 1, 1)
    for i in range(4000):
        for name, metrics in hosts:
            yield ["%sZ" % (start + second(10 * i)), name] + [next(m) for m in metrics]


def beijing_air(rng):
    stations = [(name, [walk(rng, rng.uniform(5, 100), 5, 1, 500, 1) for _ in range(9)])
                for name in ("Aotizhongxin", "Changping", "Dingling", "Gucheng", "Tiantan", "Wanliu")]
    start = datetime.datetime(2013, 3, 1)
    for i in range(4000):
        for name, metrics in stations:
            values = [maybe(rng, 0.03, next(m)) for m in metrics]
            yield ([start + second(3600 * i), name] + values
                   + [0.0 if rng.random() < 0.95 else round(rng.expovariate(1), 1),
                      rng.choice(["N", "NNW", "E", "SE", None]), round(rng.expovariate(0.5), 1)])


def flights(rng):
    start = datetime.datetime(2013, 1, 1, 5)
    when = start
    for _ in range(20000):
        when += second(60 * rng.randrange(3))
        planned = when - second(60 * int(rng.expovariate(0.05)))
        delay = maybe(rng, 0.02, int(rng.gauss(5, 30)))
        air = rng.randrange(30, 400)
        yield [planned, rng.choice(["UA", "B6", "EV", "DL", "AA", "MQ", "US", "9E", "WN", "VX"]),
               rng.randrange(1, 6000), "N%dAA" % rng.randrange(100, 999), rng.choice(["EWR", "JFK", "LGA"]),
               rng.choice(["IAH", "MIA", "BOS", "ATL", "ORD", "FLL", "IAD", "MCO"]),
               None if delay is None else planned.hour * 100 + planned.minute, planned.hour * 100 + planned.minute,
               delay, None if delay is None else rng.randrange(2400), rng.randrange(2400), delay,
               None if delay is None else air, air * 7]


def nab_metrics(rng):
    series = [("realAWSCloudwatch" if i % 2 else "realTraffic", "series_%02d" % i,
               walk(rng, rng.uniform(0, 90), 2, 0, 100, rng.choice([0, 1, 3, 12]))) for i in range(12)]
    start = datetime.datetime(2014, 2, 14, 14, 30)
    for i in range(2000):
        for grp, name, values in series:
            if rng.random() > 0.02:
                yield [start + second(300 * i + (rng.randrange(-3, 3) if rng.random() < 0.05 else 0)),
                       grp, name, next(values)]


def covid_it_province(rng):
    provinces = [(1 + i // 6, "Region %d" % (1 + i // 6), i + 1, "Province %d" % (i + 1), "P%c" % (65 + i % 26),
                  round(rng.uniform(37, 46), 8), round(rng.uniform(7, 18), 9)) for i in range(60)]
    cases = [0] * len(provinces)
    for day in range(400):
        for i, province in enumerate(provinces):
            cases[i] += int(rng.expovariate(0.02))
            yield [datetime.datetime(2020, 2, 24, 18) + datetime.timedelta(days=day)] + list(province) + [cases[i]]


def wiki_edits(rng):
    words = "clean up using revert added link category infobox robot moved page typo fixed reference".split()
    when = datetime.datetime(2015, 9, 12)
    for i in range(6000):
        when += datetime.timedelta(milliseconds=rng.randrange(5000))
        robot, place = rng.random() < 0.4, rng.random() < 0.1
        added, deleted = int(rng.expovariate(0.01)), int(rng.expovariate(0.05))
        row = ["%sZ" % when.isoformat(timespec="milliseconds"),
               "#%s.wikipedia" % rng.choice(["en", "vi", "de", "fr", "it", "ru", "es", "ja"]),
               rng.choice(["Main", "Main", "Main", "User", "Talk"]), "Page %d" % rng.randrange(3000),
               "Bot%d" % rng.randrange(5) if robot else "user %d" % rng.randrange(900),
               " ".join(rng.choices(words, k=rng.randrange(8))), robot, place, rng.random() < 0.05,
               rng.random() < 0.3, "Italy" if place else None, "Rome" if place else None,
               added - deleted, added, deleted]
        names = [column.split()[0] for column in SCHEMA["wiki_edits"].split(", ")]
        yield row + [json.dumps(dict(zip(names, row)))]


def ligo_h1(rng):
    start = datetime.datetime(2015, 9, 14, 9, 50, 29)
    value = 0.0
    for i in range(16384):
        value = 0.9 * value + rng.gauss(0, 1e-19)
        yield [start + datetime.timedelta(microseconds=round(i * 1e6 / 4096)), repr(value)]


def text(value):
    if value is None:
        return None
    if isinstance(value, bool):
        return "t" if value else "f"
    return str(value)


def write(path, columns, rows):
    buffer = io.StringIO()
    buffer.write(",".join(columns) + "\n")
    writer = csv.writer(buffer, lineterminator="\n")
    for row in rows:
        # csv.writer writes None and "" alike; COPY reads "" as the empty string
        cells = [text(value) for value in row]
        if "" in cells:
            buffer.write(",".join("" if c is None else '""' if c == "" else _quote(c) for c in cells) + "\n")
        else:
            writer.writerow(cells)
    subprocess.run(["zstd", "-q", "-f", "-o", path], input=buffer.getvalue().encode(), check=True)


def _quote(cell):
    return '"%s"' % cell.replace('"', '""') if any(c in cell for c in ',"\n') else cell


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: gen_sample.py DIRECTORY")
    target = sys.argv[1]
    os.makedirs(target, exist_ok=True)
    for name, columns in SCHEMA.items():
        write(os.path.join(target, name + ".csv.zst"), [c.split()[0] for c in columns.split(", ")],
              globals()[name](random.Random(name)))
    # last: its presence says that the sample is whole
    with open(os.path.join(target, "schema.sql"), "w", encoding="utf-8") as schema:
        for name, columns in SCHEMA.items():
            schema.write("CREATE TABLE %s (%s);\n" % (name, columns))


if __name__ == "__main__":
    main()
