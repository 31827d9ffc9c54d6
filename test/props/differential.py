#!/usr/bin/python3
"""test/props/differential.py

Random statements on heap tables and their twins of strata, or of strata_dedup; see README.md.
Exits with 1, and a script to repeat it, when the two sides differ.
"""
import argparse
import collections
import os
import random
import sys
import time

import psycopg2

import runner as running
import value_types
from dedup_statements import DedupStatements
from statements import Action, Statement, Statements, gin_index
from tables import Column, Table


def case_actions(rng, tables):
    """The statements that make the tables of a case, as actions."""
    actions = []
    for table in tables:
        actions.append(Action("create", [Statement(sql) for sql in table.create_actions(rng)], [table.name]))
        actions.append(Action("strata", [Statement(table.settings(rng), "strata")], [table.name]))
        keys = gin_index(rng, table)
        if keys and rng.random() < 0.4:
            table.indexes = 1
            actions.append(Action("ddl", [Statement("CREATE INDEX %s_i1 ON %s %s" % (table.name, table.token, keys))], [table.name]))
    if tables[0].method == "strata_dedup":
        # most pages never get full here, and torture needs no full page
        actions.append(Action("settings", [
            Statement("SET strata.torture = %s" % rng.choice(["on", "on", "off"]), "session"),
            Statement("SET strata.dedup_rule = '%s'" % rng.choice(["seed", "exact", "any", "all"]), "session"),
            Statement("SET strata.dedup_min_gain = %d" % rng.choice([1, 1, 800]), "session")]))
    actions.append(Action("settings", [Statement("SET strata.batch_rows = %d" % rng.choice([10, 20, 50, 100, 1000]),
                                                 "session"),
                                       Statement("SET strata.index_pages = %d" % rng.choice([0, 0, 2, 4, 8]),
                                                 "session")]))
    return actions


def make_tables(rng, number, method):
    tables = [Table(rng, i, method) for i in range(number)]
    for i, table in enumerate(tables):
        keyed = [t for t in tables[:i] if t.primary_key]
        if keyed and rng.random() < 0.4:
            table.reference = keyed[0]
            column = Column(rng, "ref", "int4")
            column.nulls = 0.3
            table.columns.append(column)
    return tables


class Tester:
    def __init__(self, options):
        self.options = options
        self.runner = running.Runner(options.dsn, options.am)
        self.runner.must(value_types.SETUP)
        self.runner.must("CREATE EXTENSION IF NOT EXISTS strata")
        # only known once the library is loaded
        self.runner.must("LOAD 'strata'")
        self.switches = [row[0] for row in self.runner.must(
            r"SELECT name FROM pg_settings WHERE name LIKE 'strata.enable\_%' AND vartype = 'bool' ORDER BY name")]
        self.switches.append("strata.torture")
        self.kinds = collections.Counter()
        self.errors = 0

    def case(self, number, steps):
        """Run one case; the actions done are kept for the report."""
        rng = random.Random("%d/%d" % (self.options.seed, number))
        self.done = []
        tables = make_tables(rng, rng.randint(1, self.options.tables), self.options.am)
        self.runner.reset()
        kind = DedupStatements if self.options.am == "strata_dedup" else Statements
        statements = kind(rng, tables, self.switches)
        for action in case_actions(rng, tables) + [statements.fill(table) for table in tables]:
            self.step(action)
        for _ in range(steps):
            action = statements.any()
            if self.step(action) and action.then:
                action.then()
            for table in tables:
                table.rows = self.runner.counts.get(table.name, 0)
        self.runner.compare_audit()

    def step(self, action):
        self.done.append(action)
        self.kinds[action.kind] += 1
        started = time.time()
        well = self.runner.run(action)
        if not well:
            self.errors += 1
        if self.options.verbose:
            print("%6.0f ms %s %s" % (1000 * (time.time() - started), "  " if well else "E ",
                                      "; ".join(s.sql for s in action.statements)[:200]))
        return well

    def report(self, number, difference):
        options = self.options
        print("\nDIFFERENCE in case %d, step %d (repeat: --am %s --seed %d --case %d --tables %d --case-steps %d)" % (
            number, len(self.done), options.am, options.seed, number, options.tables, options.case_steps))
        print("    %s\n    after: %s" % (difference.what, difference.statement[:2000]))
        actions = self.done
        if options.shrink and self.runner_is_back() and self.runner.fails(actions, difference.sort):
            print("shrinking %d actions ..." % len(actions))
            sys.stdout.flush()
            actions = self.runner.shrink(actions, difference.sort, options.shrink)
        path = os.path.join(options.out, "differential-%d-%d.sql" % (options.seed, number))
        with open(path, "w", encoding="utf-8") as script:
            script.write("-- seed %d, case %d\n-- %s\n" % (options.seed, number, difference.what.replace("\n", "\n-- ")))
            script.write(self.runner.script(actions))
        print("%d of %d actions are needed; script: %s" % (len(actions), len(self.done), path))

    def runner_is_back(self):
        try:
            if self.runner.connection.closed:
                self.runner.reconnect()
            return True
        except psycopg2.OperationalError:
            print("the server did not come back")
            return False

    def run(self):
        """Cases until enough steps are done; returns the number of differences."""
        options = self.options
        differences, steps, number, started = 0, 0, options.case or 0, time.time()
        while steps < options.steps:
            length = options.case_steps if options.case is not None else min(options.case_steps, options.steps - steps)
            try:
                self.case(number, length)
            except running.Difference as difference:
                differences += 1
                self.report(number, difference)
                if differences >= options.keep_going:
                    break
            steps += length
            if options.case is not None:
                break
            number += 1
        print("seed %d: %d steps in %d cases, %.0f s, %d ended in an error on both sides, %d differences" % (
            options.seed, sum(self.kinds.values()), number + 1 - (options.case or 0), time.time() - started,
            self.errors, differences))
        print("    " + ", ".join("%s %d" % item for item in self.kinds.most_common()))
        return differences


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dsn", required=True, help="a database that may be filled with schemas hp and st")
    parser.add_argument("--am", default="strata", choices=["strata", "strata_dedup"], help="access method beside heap")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--tables", type=int, default=3, help="at most so many tables in a case")
    parser.add_argument("--case", type=int, help="run this case only")
    parser.add_argument("--case-steps", type=int, default=150)
    parser.add_argument("--shrink", type=int, default=60, metavar="SECONDS", help="time for shrinking; 0: do not")
    parser.add_argument("--keep-going", type=int, default=1, metavar="N", help="stop after N differences")
    parser.add_argument("--out", default=".", help="directory for scripts that repeat a difference")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    print("seed %d" % options.seed)
    sys.stdout.flush()
    sys.exit(1 if Tester(options).run() else 0)


if __name__ == "__main__":
    main()
