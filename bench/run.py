#!/usr/bin/env python3
"""bench/run.py

TSBS's CPU data and requests of a web site in heap, strata, DuckDB and
ClickHouse, and in another build of strata; the query shapes of TSBS, and those
of analysts, on all of them in turns, answers compared; rates of loading; see
README.md.  A benchmark of wrong answers is worth nothing.
"""
import argparse
import csv
import datetime
import decimal
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
from analyst import Analyst
from dashboard import Dashboard
from queries import SCALING, Shapes

HOURS = 72
LATE = 0.05                 # of the rows come when their chunk is compressed
BINARY = ", binary"
SHORT = 20                  # milliseconds
NUMBER = re.compile(r"-?\d+(\.\d+)?(e[-+]?\d+)?")


def say(text):
    print(text, flush=True)


# --- answers ----------------------------------------------------------------

def plain(value):
    """Times as text in UTC, numbers as floats, whatever the library made of them."""
    if isinstance(value, datetime.datetime):
        return value.strftime("%Y-%m-%d %H:%M:%S" + (".%f" if value.microsecond else ""))
    if isinstance(value, str):
        return float(value) if NUMBER.fullmatch(value) else value
    if isinstance(value, (int, float, decimal.Decimal)):
        return float(value)
    return value if value is None else str(value)


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
        self.files = {}             # {table: (file of the rows that come in time, of the late ones or None)}
        self.lines = []             # (what, unit, {engine: [measurements]})
        self.cpu = {}               # {query: {engine: [milliseconds of CPU]}}
        self.engines = []
        self.wrong = []

    def postgres(self, name, method, shape=None, base=False):
        options = self.options
        server = options.base_server if base else options.server

        def restart():
            subprocess.run([server, "restart"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return engines.Postgres(name, options.base_dsn if base else options.dsn, method, shape or options.shape, self.hours, restart)

    def open_engines(self):
        self.engines = [self.postgres("heap", "heap")] + ([self.postgres("base", "strata", base=True)] if self.options.base_dsn else [])
        self.engines.append(self.postgres("strata", "strata"))
        for make in (engines.Duck, engines.Click):
            if make.name.lower() in self.options.peers.split():
                try:
                    self.engines.append(make(self.options.work))
                except Exception as error:  # a peer that does not come up is no reason to stop, whatever it raises
                    say("NOT COMPARED with %s: %s" % (make.name, error))

    def generate(self, tables=("cpu", "requests")):
        """The rows as CSV; of the field shape, one in twenty in a file of its own."""
        say("%d rows: %d hosts, %d hours; %d requests" % (self.rows, self.hosts, self.hours, self.rows // 2))
        for table in tables:
            whole, late = (os.path.join(self.options.work, name + table + ".csv") for name in ("", "late_"))
            self.files[table] = (whole, late if self.options.shape == "field" else None)
            made = subprocess.Popen([self.options.generate] + ([str(self.hosts)] if table == "cpu" else [table, str(self.rows // 2)]) + [str(self.hours)],
                                    stdout=subprocess.PIPE)
            chance = random.Random(self.options.seed).random
            with open(whole, "wb") as out, open(late, "wb") as out_late, made:
                for number, line in enumerate(made.stdout):
                    if number == 0:
                        out_late.write(line)
                    (out_late if number and self.files[table][1] and chance() < LATE else out).write(line)
            if made.returncode:
                sys.exit("generate failed")

    # --- loading ---

    def load_rates(self):
        """Of plain tables."""
        rows = min(self.rows, self.options.load_rows)
        path = os.path.join(self.options.work, "sample.csv")
        with open(self.files["cpu"][0], "rb") as whole, open(path, "wb") as part:
            part.writelines(itertools.islice(whole, rows + 1))
        rates = {}
        for _ in range(self.options.load_turns):
            for name, method, direct, index in (("COPY heap", "heap", False, False),
                                                ("COPY strata, direct load", "strata", True, False),
                                                ("COPY heap, index (hostname, time)", "heap", False, True),
                                                ("COPY strata, row store", "strata", False, False)):
                engine = self.postgres(name, method, "plain")
                engine.create("cpu", direct, "loaded")
                if index:
                    engine.sql("CREATE INDEX ON loaded (hostname, time DESC)")
                rates.setdefault(name, []).append(rows / engine.copy("loaded", path))
                if direct:
                    say("peak memory of the direct load: %s kB resident, shared buffers in use included" % engine.peak_memory())
                if name.endswith("row store"):
                    elapsed = engine.run("", "SELECT compress_chunk('loaded')")[0]
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
            seconds = engine.load(self.files)
            engine.make_hosts(self.hosts)
            if "dashboard" in self.options.sets.split() and isinstance(engine, engines.Postgres):
                engine.make_events()
            say("%s: loaded in %.1f s, indexes or sorting included" % (engine.name, seconds))
            self.lines.append(("load", "s", {engine.name: [seconds]}))
            if isinstance(engine, engines.Postgres) and engine.method == "strata":
                for table in self.files:
                    say("  %s: from %.3f to %.3f of a chunk's rows are in the row store" % (table, *engine.late_share(table)))
        for table in self.files if self.rows <= self.options.check_rows else ():
            every = "SELECT count(*), sum(hashtextextended(t::text, 0)::numeric) FROM %s AS t" % table
            if len({str(engine.sql(every)) for engine in self.engines if isinstance(engine, engines.Postgres)}) > 1:
                sys.exit("NOT EQUAL: heap and strata do not hold the same rows in " + table)
        self.lines.append(("size", "MB", {engine.name: [engine.size() / 1e6] for engine in self.engines}))

    # --- queries ---

    def complain(self, name, what, query):
        self.wrong.append(name)
        say("WRONG: %s: %s\n    %s" % (name, what, query))

    def one_turn(self, name, query, times, compare):
        """The query by all engines, in an order drawn anew, so that a busy machine and caches left behind are everybody's."""
        answers = {}
        able = [engine for engine in self.engines if isinstance(engine, engines.Postgres) or name not in Dashboard.POSTGRES_ONLY]
        for engine in self.rng.sample(able, len(able)):
            for form in ("", BINARY) if isinstance(engine, engines.Postgres) else ("",):
                if self.options.cold:
                    engine.forget()
                try:
                    elapsed, cpu, answer = engine.run(name, query, form == BINARY, compare)
                except Exception as error:  # whatever a client library raises
                    if not isinstance(engine, engines.Click):
                        self.complain(name, error, query)
                    continue
                times.setdefault(engine.name + form, []).append((elapsed, cpu))
                if compare:
                    answers[engine.name + form] = answer()
        if not compare:
            return
        expected = answers.get("heap", [])
        for engine, answer in answers.items():
            differs = difference(expected, answer)
            if differs:
                self.complain(name, "heap and %s answer differently: %s" % (engine, differs), query)

    def run_queries(self):
        for name, make in self.drawn():
            if not self.options.cold:
                self.one_turn(name, make(), {}, True)   # warms the caches
            times = {}
            turn, turns = 0, self.options.rounds
            while turn < turns:
                self.one_turn(name, make(), times, turn == 0)
                turn += 1
                # what is short varies most
                if turn == 1 and not self.options.cold and all(elapsed[0][0] < SHORT for elapsed in times.values()):
                    turns *= 5
            self.lines.append((name, "ms", {engine: [elapsed for elapsed, _ in values] for engine, values in times.items()}))
            self.cpu[name] = {engine: [cpu for _, cpu in values] for engine, values in times.items() if values[0][1] is not None}
            # who waits sees where it is, and has something when it is stopped
            say("%s: %s" % (name, ", ".join("%s %s" % (engine, number(statistics.median(values))) for engine, values in self.lines[-1][2].items())))

    # --- instructions ---

    def drawn(self):
        """[(name, function making SQL)] of the sets asked for."""
        first, last = self.engines[0].sql("SELECT min(time), max(time) FROM cpu")[0]
        hosts = sorted(row[0] for row in self.engines[0].sql("SELECT hostname FROM hosts"))
        self.rng = random.Random(self.options.seed)
        sets = {"tsbs": Shapes, "analyst": Analyst, "dashboard": Dashboard}
        return [(name, make) for which in self.options.sets.split() for name, make in sets[which](self.rng, hosts, first, last).all()
                if not self.options.only or name in self.options.only.split(",")]

    def write_script(self):
        """Load, and write what run.sh has a server of one session count the instructions of: a line a statement, and
        beside it lines with the name of what is counted, or nothing.  Each query comes twice; the first warms."""
        self.generate()
        self.open_engines()
        self.load()
        lines = [("", sql) for sql in ("SET SESSION AUTHORIZATION bench", "SET search_path = on_strata, public", "SET timezone = 'UTC'")]
        for name, make in self.drawn():
            query = make()
            for label in ("", name):
                lines += [("", "BEGIN"), (label, query), ("", "ROLLBACK")] if engines.changes(query) else [(label, query)]
        for path, part in (("script.sql", 1), ("script.names", 0)):
            with open(os.path.join(self.options.work, path), "w", encoding="utf-8") as out:
                out.writelines(line[part] + "\n" for line in lines)

    # --- report ---

    def report(self):
        names = [engine.name for engine in self.engines]
        peers = [name for name in names if name != "strata"]
        pairs = [(name, "strata") for name in peers] + [("heap" + BINARY, "strata" + BINARY)]
        say("\n%d rows, shape %s; PostgreSQL %s; %s; medians of %d and more, caches %s\n" % (
            self.rows, self.options.shape, ", ".join([self.engines[0].version] + ["%s %s" % (e.name, e.version) for e in self.engines
                                                                                   if not isinstance(e, engines.Postgres)]),
            cpu_name(), self.options.rounds, "cold" if self.options.cold else "warm"))
        for title, wanted in (("TSBS's queries", Shapes), ("analysts' queries", Analyst), ("dashboards' queries", Dashboard), ("", None)):
            chosen = {name for name, _ in wanted(random, ["h"] * 8, *[datetime.datetime(2016, 1, 1)] * 2).all()} if wanted else {"size"}
            lines = [line for line in self.lines if line[0] in chosen and "strata" in line[2]]
            if not lines:
                continue
            say("| %s | %s | %s |" % (title, " | ".join(names + ["strata" + BINARY]), " | ".join("%s/%s" % pair for pair in pairs)))
            say("|---" + "|---:" * (len(names) + 1 + len(pairs)) + "|")
            ratios = {pair: [] for pair in pairs}
            for what, unit, values in lines:
                medians = {name: statistics.median(measured) for name, measured in values.items()}
                cells = [number(medians[name]) if name in medians else "-" for name in names + ["strata" + BINARY]]
                for pair in pairs:
                    ratio = medians[pair[0]] / medians[pair[1]] if set(pair) <= set(medians) else None
                    cells.append("%.2f" % ratio if ratio else "-")
                    if ratio:
                        ratios[pair].append(ratio)
                say("| %s, %s | %s |" % (what, unit, " | ".join(cells)))
            say("")
            for pair in pairs if wanted else ():
                if ratios[pair]:
                    say("geometric mean of %s/%s over %d queries: %.2f" % (*pair, len(ratios[pair]), geometric_mean(ratios[pair])))
            say("")
        if "base" in names:
            self.report_builds()
        self.keep()

    def report_builds(self):
        """strata beside the base: medians of the turns' ratios, so that what other work takes from one turn it takes from both."""
        say("strata/base: medians of the ratios of %d turns and more; CPU: of the server's process\n" % self.options.rounds)
        say("| | base, ms | strata, ms | strata/base | CPU | binary | CPU, binary | |\n|---|---:|---:|---:|---:|---:|---:|---|")
        all_ratios = []
        for what, unit, values in self.lines:
            if unit != "ms" or "base" not in values or "strata" not in values:
                continue
            cells = []
            for form in ("", BINARY):
                for measured in (values, self.cpu[what]):
                    cells.append(statistics.median(b / a for a, b in zip(measured["base" + form], measured["strata" + form])))
            all_ratios.append(cells)
            say("| %s | %s | %s | %s | %s |" % (what, number(statistics.median(values["base"])), number(statistics.median(values["strata"])),
                                               " | ".join("%.2f" % cell for cell in cells), "slower" if min(cells[:2]) > 1.05 else ""))
        if all_ratios:
            say("| geometric mean | | | %s | |\n" % " | ".join("%.3f" % geometric_mean(column) for column in zip(*all_ratios)))

    def keep(self):
        options = self.options
        os.makedirs(options.results, exist_ok=True)
        path = os.path.join(options.results, "%s-%s-%d-%s.csv" % (
            datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%d-%H%M%S"), options.label, self.rows, options.shape))
        with open(path, "w", encoding="utf-8", newline="") as out:
            writer = csv.writer(out)
            writer.writerow(["commit", "base", "cpu", "rows", "shape", "cold", "what", "unit", "engine", "median", "min", "max"])
            lines = self.lines + [(what, "ms of CPU", values) for what, values in self.cpu.items()]
            for what, unit, values in lines:
                for name, measured in values.items():
                    writer.writerow([options.label, options.base_label, cpu_name(), self.rows, options.shape, options.cold, what, unit, name] +
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
        engine.make_hosts(self.hosts)
        hosts = sorted(row[0] for row in engine.sql("SELECT hostname FROM hosts"))
        say("\n%s: rows as estimated / as they were\n\n| | plain | prepared | generic plan |\n|---|---|---|---|" % title)
        for name, make in Shapes(random.Random(self.options.seed), hosts, first, last).all():
            query = make()
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
        self.generate(["cpu"])
        engine = self.postgres("strata", "strata")
        self.engines = [engine]
        engine.load(self.files)
        self.estimates("analysed")
        engine.create("cpu", False)
        for path in filter(None, self.files["cpu"]):
            engine.copy("cpu", path)
        engine.sql("SELECT compress_chunk('cpu')" if self.options.shape == "plain" else "SELECT compress_chunk(c) FROM show_chunks('cpu') AS c")
        # by the worker that vacuums
        for _ in range(100):
            if engine.value("SELECT count(*) FROM pg_stats WHERE tablename ~ '^cpu'"):
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
        medians = {what: statistics.median(values["strata"]) for what, unit, values in self.lines if unit == "ms" and "strata" in values}
        for engine in self.engines:
            (engine.session if isinstance(engine, engines.Click) else engine.connection).close()
        return medians, self.wrong


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
    parser.add_argument("--base-dsn", default="", help="a server with another build of strata")
    parser.add_argument("--base-server", default="")
    parser.add_argument("--base-label", default="")
    parser.add_argument("--shape", choices=("field", "plain"), default="field")
    parser.add_argument("--sets", default="tsbs analyst dashboard")
    parser.add_argument("--peers", default="duckdb")
    parser.add_argument("--generate", required=True, help="the compiled generate.c")
    parser.add_argument("--work", required=True, help="folder for data")
    parser.add_argument("--rows", default="1000000", help="about how many; a list measures how times grow")
    parser.add_argument("--hosts", type=int, default=0)
    parser.add_argument("--hours", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--load-turns", type=int, default=0)
    parser.add_argument("--load-rows", type=int, default=2000000)
    parser.add_argument("--check-rows", type=int, default=2000000, help="up to here every bit of heap and strata is compared")
    parser.add_argument("--only", default="", help="names of queries")
    parser.add_argument("--cold", action="store_true")
    parser.add_argument("--script", action="store_true", help="load, and write the queries into --work, in place of running them")
    parser.add_argument("--estimates", action="store_true", help="estimates of rows, in place of times")
    parser.add_argument("--seed", type=int, default=123)
    parser.add_argument("--results", default="results")
    parser.add_argument("--label", default="unknown")
    options = parser.parse_args()
    sizes = [int(text) for text in options.rows.split(",")]
    if options.script:
        Bench(options, sizes[0]).write_script()
        return
    if options.estimates:
        for rows in sizes:
            Bench(options, rows).compare_estimates()
        return
    if len(sizes) > 1:
        options.only = options.only or ",".join(SCALING)
        options.load_turns = 0
    grown, wrong = zip(*[Bench(options, rows).run() for rows in sizes])
    if len(sizes) > 1:
        say("\nstrata, ms\n\n| | %s |\n|---%s|" % (" | ".join("%d" % rows for rows in sizes), "|---:" * len(sizes)))
        for what in grown[0]:
            say("| %s | %s |" % (what, " | ".join(number(medians[what]) for medians in grown)))
    if any(wrong):
        sys.exit("wrong answers or errors: " + ", ".join(sorted(set(sum(wrong, [])))))


if __name__ == "__main__":
    main()
