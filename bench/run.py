#!/usr/bin/env python3
"""bench/run.py

TSBS's CPU data in a heap, a strata table, DuckDB and ClickHouse; the query
shapes of TSBS on all of them in turns, answers compared; rates of loading; see
README.md.  A benchmark of wrong answers is worth nothing.
"""
import argparse
import csv
import datetime
import itertools
import math
import os
import platform
import random
import re
import statistics
import subprocess
import sys
import time

import engines
from queries import SCALING, Shapes

STRATA = "USING strata WITH (strata.segmentby = 'hostname', strata.orderby = 'time DESC'%s)"
HOURS = 72
NUMBER = re.compile(r"-?\d+(\.\d+)?(e[-+]?\d+)?")


def say(text):
    print(text, flush=True)


# --- answers ----------------------------------------------------------------

def plain(value):
    """Times as text in UTC, numbers as floats, whatever the library made of them."""
    if isinstance(value, datetime.datetime):
        return value.strftime("%Y-%m-%d %H:%M:%S")
    if isinstance(value, str):
        return float(value) if NUMBER.fullmatch(value) else value
    return float(value) if isinstance(value, (int, float)) else value


def difference(left, right):
    """What differs between two answers, as sets of rows; None: nothing."""
    def key(row):
        return [v if isinstance(v, str) else "" if v is None else "%.6g" % v for v in row]
    left, right = (sorted(([plain(v) for v in row] for row in rows), key=key) for rows in (left, right))
    if len(left) != len(right):
        return "%d and %d rows" % (len(left), len(right))
    for a, b in zip(left, right):
        if len(a) != len(b) or not all(x == y or isinstance(x, float) and isinstance(y, float) and
                                       math.isclose(x, y, rel_tol=1e-9) for x, y in zip(a, b)):
            return "%s and %s" % (a, b)
    return None


# --- one size -----------------------------------------------------------------

class Bench:
    def __init__(self, options, rows):
        self.options = options
        self.hosts = options.hosts or max(1, round(rows / (HOURS * 360)))
        self.hours = options.hours or HOURS
        self.rows = self.hosts * self.hours * 360
        self.path = os.path.join(options.work, "rows.csv")
        self.lines = []             # (what, unit, {engine: [measurements]})
        self.engines = []

    def restart(self):
        subprocess.run([self.options.server, "restart"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def postgres(self, name, table, clause):
        return engines.Postgres(name, self.options.dsn, table, clause, self.restart)

    def open_engines(self):
        self.engines = [self.postgres("heap", "cpu_heap", "USING heap"),
                        self.postgres("strata", "cpu", STRATA % ", strata.direct_load")]
        for make in () if self.options.no_peers else (engines.Duck, engines.Click):
            try:
                self.engines.append(make(self.options.work))
            except Exception as error:  # a peer that does not come up is no reason to stop, whatever it raises
                say("NOT COMPARED with %s: %s" % (make.name, error))

    def generate(self):
        say("%d rows: %d hosts, %d hours" % (self.rows, self.hosts, self.hours))
        with open(self.path, "wb") as out:
            subprocess.run([self.options.generate, str(self.hosts), str(self.hours)], stdout=out, check=True)

    # --- loading ---

    def sample(self, rows):
        """The first rows of the file, for measuring rates."""
        if rows >= self.rows:
            return self.path, self.rows
        path = os.path.join(self.options.work, "sample.csv")
        with open(self.path, "rb") as whole, open(path, "wb") as part:
            part.writelines(itertools.islice(whole, rows + 1))
        return path, rows

    def load_rates(self):
        path, rows = self.sample(self.options.load_rows)
        rates = {}
        for _ in range(self.options.load_turns):
            for name, clause, indexes in (("COPY heap", "USING heap", []),
                                          ("COPY strata, direct load", STRATA % ", strata.direct_load", []),
                                          ("COPY heap, index (hostname, time)", "USING heap", ["hostname, time DESC"]),
                                          ("COPY strata, row store", STRATA % "", [])):
                engine = self.postgres(name, "loaded", clause)
                engine.create(indexes)
                rates.setdefault(name, []).append(rows / engine.copy(path))
                if "direct" in name:
                    say("peak memory of the direct load: %s kB resident, shared buffers in use included" % engine.peak_memory())
                if "row store" in name:
                    elapsed, _ = engine.run("", "SELECT compress_chunk('loaded')")
                    rates.setdefault("compress_chunk", []).append(rows / elapsed * 1000)
                engine.sql("DROP TABLE loaded")
                engine.connection.close()
        say("\nrows/s, %d rows, medians of %d\n\n| | rows/s | of heap |\n|---|---:|---:|" % (rows, self.options.load_turns))
        base = statistics.median(rates["COPY heap"])
        for name, values in rates.items():
            say("| %s | %.0f | %.2f |" % (name, statistics.median(values), statistics.median(values) / base))
            self.lines.append((name, "rows/s", {"": values}))
        say("")

    def load(self):
        for engine in self.engines:
            seconds = engine.load(self.path)
            say("%s: loaded in %.1f s, indexes or sorting included" % (engine.name, seconds))
            self.lines.append(("load", "s", {engine.name: [seconds]}))
        heap = self.engines[0]
        heap.sql("DROP TABLE IF EXISTS hosts")
        heap.sql("CREATE TABLE hosts AS SELECT DISTINCT hostname FROM cpu_heap")
        every = "SELECT count(*), sum(hashtextextended(t::text, 0)::numeric) FROM %s AS t"
        if self.rows <= self.options.check_rows and heap.sql(every % "cpu_heap") != heap.sql(every % "cpu"):
            sys.exit("NOT EQUAL: heap and strata do not hold the same rows")
        self.lines.append(("size", "MB", {engine.name: [engine.size() / 1e6] for engine in self.engines}))

    # --- queries ---

    def compare(self, name, query, answers):
        expected = answers["heap"]()
        for engine in self.engines[1:]:
            differs = difference(expected, answers[engine.name]())
            if differs:
                sys.exit("NOT EQUAL: heap and %s answer %s differently: %s\n%s" % (engine.name, name, differs, query))

    def run_queries(self):
        heap = self.engines[0]
        first, last = heap.sql("SELECT min(time), max(time) FROM cpu_heap")[0]
        hosts = sorted(row[0] for row in heap.sql("SELECT hostname FROM hosts"))
        for name, make in Shapes(random.Random(self.options.seed), hosts, first, last).all():
            if self.options.only and name not in self.options.only.split(","):
                continue
            times = {engine.name: [] for engine in self.engines}
            for turn in range(self.options.rounds + (not self.options.cold)):
                query = make()
                answers = {}
                # in turns, so that a busy machine is busy for all
                for engine in self.engines if turn % 2 else self.engines[::-1]:
                    if self.options.cold:
                        engine.forget()
                    elapsed, answers[engine.name] = engine.run(name, query)
                    # the first warms the caches
                    if turn or self.options.cold:
                        times[engine.name].append(elapsed)
                if turn <= 1:
                    self.compare(name, query, answers)
            self.lines.append((name, "ms", times))
            # who waits sees where it is, and has something when it is stopped
            say("%s: %s" % (name, ", ".join("%s %s" % (engine, number(statistics.median(values))) for engine, values in times.items())))

    # --- report ---

    def report(self):
        names = [engine.name for engine in self.engines]
        peers = [name for name in names if name != "strata"]
        say("\n%d rows; %s; %s; medians of %d, %s\n" % (
            self.rows, ", ".join(["PostgreSQL " + self.engines[0].value("SHOW server_version")] +
                                 ["%s %s" % (e.name, e.version) for e in self.engines[2:]]),
            cpu_name(), self.options.rounds, "caches cold" if self.options.cold else "caches warm"))
        say("| | %s |" % " | ".join(names + [name + "/strata" for name in peers]))
        say("|---" + "|---:" * (len(names) + len(peers)) + "|")
        ratios = {name: [] for name in peers}
        least = {name: [] for name in peers}
        for what, unit, values in self.lines:
            if set(values) != set(names):
                continue
            medians = {name: statistics.median(values[name]) for name in names}
            ours = [medians[name] / medians["strata"] for name in peers]
            if unit == "ms":
                for name, ratio in zip(peers, ours):
                    ratios[name].append(ratio)
                    least[name].append(min(values[name]) / min(values["strata"]))
            say("| %s, %s | %s |" % (what, unit, " | ".join([number(medians[name]) for name in names] + ["%.2f" % r for r in ours])))
        say("")
        for name in peers:
            if ratios[name]:
                say("geometric mean of %s/strata over %d queries: %.2f of medians, %.2f of the least times" % (
                    name, len(ratios[name]), geometric_mean(ratios[name]), geometric_mean(least[name])))
        self.keep()

    def keep(self):
        options = self.options
        os.makedirs(options.results, exist_ok=True)
        path = os.path.join(options.results, "%s-%s-%d.csv" % (
            datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%d-%H%M%S"), options.label, self.rows))
        with open(path, "w", encoding="utf-8", newline="") as out:
            writer = csv.writer(out)
            writer.writerow(["commit", "cpu", "rows", "cold", "what", "unit", "engine", "median", "min", "max"])
            for what, unit, values in self.lines:
                for name, measured in values.items():
                    writer.writerow([options.label, cpu_name(), self.rows, options.cold, what, unit, name] +
                                    [round(f(measured), 3) for f in (statistics.median, min, max)])
        say("\nkept as %s" % os.path.relpath(path))

    # --- estimates ---

    def own_nodes(self, plan, ends_early=False):
        """(kind, estimated rows, actual rows) of StrataScan and StrataAgg nodes that were read to their end."""
        ends_early = ends_early or plan["Node Type"] == "Limit"
        if plan.get("Custom Plan Provider", "").startswith("Strata") and plan["Actual Loops"] and not ends_early:
            yield plan["Custom Plan Provider"][6:], plan["Plan Rows"], plan["Actual Rows"]
        ends_early = ends_early or "Early Stop" in plan
        for child in plan.get("Plans", []):
            yield from self.own_nodes(child, ends_early)

    def explained(self, engine, statement):
        plan = engine.value("EXPLAIN (ANALYZE, TIMING off, FORMAT json) " + statement)[0]["Plan"]
        return ["%s %.0f/%.0f%s" % (kind, guess, rows, "" if max(guess, 1) <= 2 * max(rows, 1) and max(rows, 1) <= 2 * max(guess, 1) else " !")
                for kind, guess, rows in self.own_nodes(plan)]

    def estimates(self, title):
        """Estimated and actual rows of each query's own nodes; ! where one is more than twice the other."""
        engine = self.engines[-1]
        first, last = engine.sql("SELECT min(time), max(time) FROM cpu")[0]
        engine.sql("DROP TABLE IF EXISTS hosts; CREATE TABLE hosts AS SELECT DISTINCT hostname FROM cpu; ANALYZE hosts")
        hosts = sorted(row[0] for row in engine.sql("SELECT hostname FROM hosts"))
        say("\n%s: rows as estimated / as they were\n\n| | plain | prepared | generic plan |\n|---|---|---|---|" % title)
        for name, make in Shapes(random.Random(self.options.seed), hosts, first, last).all():
            query = engine.named(make())
            head, where, conditions = query.partition(" WHERE ")
            values = []

            def parameter(match):
                values.append(match.group())
                return "$%d" % len(values)
            conditions, group, tail = conditions.partition(" GROUP BY ")
            engine.sql("PREPARE q AS " + head + where + re.sub(r"'[^']*'|(?<=[<>] )[\d.]+", parameter, conditions) + group + tail)
            call = "EXECUTE q" + ("(%s)" % ", ".join(values) if values else "")
            cells = [self.explained(engine, query)]
            for mode in ("custom", "generic"):
                engine.sql("SET plan_cache_mode = force_%s_plan" % mode)
                cells.append(self.explained(engine, call))
            engine.sql("RESET plan_cache_mode; DEALLOCATE q")
            say("| %s | %s |" % (name, " | ".join(", ".join(cell) for cell in cells)))

    def compare_estimates(self):
        self.generate()
        engine = self.postgres("strata", "cpu", STRATA % ", strata.direct_load")
        self.engines = [engine]
        engine.load(self.path)
        engine.sql("ANALYZE cpu")
        self.estimates("analysed")
        engine = self.postgres("strata", "cpu", STRATA % "")
        self.engines = [engine]
        engine.create([])
        engine.copy(self.path)
        engine.sql("SELECT compress_chunk('cpu')")
        # by the worker that vacuums
        for _ in range(100):
            if engine.value("SELECT count(*) FROM pg_stats WHERE tablename = 'cpu'"):
                break
            time.sleep(0.1)
        self.estimates("compressed, analysed by nobody")

    def run(self):
        self.generate()
        self.open_engines()
        if self.options.load_turns:
            self.load_rates()
        self.load()
        self.run_queries()
        self.report()
        medians = {what: statistics.median(values["strata"]) for what, unit, values in self.lines if unit == "ms"}
        for engine in self.engines:
            (engine.session if isinstance(engine, engines.Click) else engine.connection).close()
        return medians


def geometric_mean(values):
    return math.exp(statistics.mean(math.log(value) for value in values))


def number(value):
    return "%.0f" % value if value >= 100 else "%.2f" % value


def cpu_name():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as info:
            for line in info:
                if line.startswith("model name"):
                    return "%s x %d" % (line.split(":", 1)[1].strip(), os.cpu_count())
    except OSError:
        pass
    return platform.processor() or platform.machine()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dsn", required=True)
    parser.add_argument("--server", required=True, help="tools/server, to restart it for --cold")
    parser.add_argument("--generate", required=True, help="the compiled generate.c")
    parser.add_argument("--work", required=True, help="folder for data")
    parser.add_argument("--rows", default="1000000", help="about how many; a list measures how times grow")
    parser.add_argument("--hosts", type=int, default=0)
    parser.add_argument("--hours", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--load-turns", type=int, default=2)
    parser.add_argument("--load-rows", type=int, default=2000000)
    parser.add_argument("--check-rows", type=int, default=2000000, help="up to here every bit of heap and strata is compared")
    parser.add_argument("--only", default="", help="names of queries")
    parser.add_argument("--cold", action="store_true")
    parser.add_argument("--estimates", action="store_true", help="estimates of rows, in place of times")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--seed", type=int, default=123)
    parser.add_argument("--results", default="results")
    parser.add_argument("--label", default="unknown")
    options = parser.parse_args()
    sizes = [int(text) for text in options.rows.split(",")]
    if options.estimates:
        for rows in sizes:
            Bench(options, rows).compare_estimates()
        return
    if len(sizes) > 1:
        options.only = options.only or ",".join(SCALING)
        options.load_turns = 0
    grown = [Bench(options, rows).run() for rows in sizes]
    if len(sizes) > 1:
        say("\nstrata, ms\n\n| | %s |\n|---%s|" % (" | ".join("%d" % rows for rows in sizes), "|---:" * len(sizes)))
        for what in grown[0]:
            say("| %s | %s |" % (what, " | ".join(number(medians[what]) for medians in grown)))


if __name__ == "__main__":
    main()
