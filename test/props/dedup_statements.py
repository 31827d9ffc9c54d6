"""test/props/dedup_statements.py

Random statements where the tables beside heap's are of strata_dedup: in place
of compression, what makes pages with symbols, and without.
"""
from statements import Action, Statement, Statements


class DedupStatements(Statements):

    def strata(self, table):
        rng = self.rng
        kind = rng.random()
        leaves = table.leaves()
        if kind < 0.25:
            return Action("settings", [Statement(rng.choice([
                "SET strata.dedup_rule = '%s'" % rng.choice(["seed", "exact", "any", "all", "all"]),
                "SET strata.dedup_min_gain = %d" % rng.choice([1, 1, 100, 800]),
                "SET strata.enable_deduplication = %s" % rng.choice(["on", "on", "on", "off"]),
                "SET strata.torture = %s" % rng.choice(["on", "on", "off"])]), "session")])
        if kind < 0.5:
            return Action("vacuum", [Statement("%s %s" % (rng.choice(
                ["VACUUM", "VACUUM", "VACUUM (FREEZE)", "VACUUM (ANALYZE)", "VACUUM (TRUNCATE off)", "ANALYZE"]),
                table.token))], [table.name])
        if kind < 0.7:
            rewrite = rng.choice(["VACUUM FULL %s", "VACUUM FULL %s", "REINDEX TABLE %s", "REINDEX TABLE CONCURRENTLY %s",
                                  "CLUSTER %s USING %s_i1"])
            return Action("rewrite", [Statement(rewrite.replace("%s", table.token, 1).replace("%s", table.name))],
                          [table.name])
        if kind < 0.78:
            return Action("access method", [
                *[Statement("ALTER TABLE %s SET ACCESS METHOD heap" % leaf, "strata") for leaf in leaves],
                Statement("SELECT a.* FROM %s AS a" % table.token),
                *[Statement("ALTER TABLE %s SET ACCESS METHOD strata_dedup" % leaf, "strata") for leaf in leaves]],
                [table.name])
        if kind < 0.86:
            identity = rng.choice(["FULL", "DEFAULT", "DEFAULT", "NOTHING"])
            return Action("identity", [Statement("ALTER TABLE %s REPLICA IDENTITY %s" % (leaf, identity), "strata")
                                       for leaf in leaves], [table.name])
        return self.look(table)

    def look(self, table):
        """Every symbol of every page can be read, is used, and nothing is larger than without."""
        return Action("look", [Statement(
            "/* must be empty */ SELECT p, s.* FROM generate_series(0, pg_relation_size('%s') / 8192 - 1) p,"
            " strata.page_symbols('%s', p) s WHERE s.bytes <= 0 OR s.uses < 0 OR (s.uses > 0 AND s.value IS NULL AND s.columns::text !~ 'pg.dropped')"
            % (leaf, leaf), "strata") for leaf in table.leaves()])

    def keys(self, table):
        statements = [Statement("VACUUM %s" % leaf, "strata") for leaf in table.leaves() if self.rng.random() < 0.5]
        for _ in range(self.rng.randint(1, 5)):
            statements += self.statements_of(self.queries.key(table))[1]
        return Action("keys", statements, [table.name])

    def compress(self, table):
        """In a transaction too."""
        return Statement("SET strata.torture = %s" % self.rng.choice(["on", "off"]), "strata")

    def restore(self, table):
        return super().restore(table)[len(table.leaves()):]

    def snapshot(self, table):
        """Pages are written anew while another session's snapshot is to see the old rows."""
        return Action("old snapshot", [
            Statement("UPDATE %s AS a SET %s" % (table.token, self.assignments(table, "a"))), self.delete(table), self.insert(table),
            Statement("VACUUM (TRUNCATE false) %s" % table.token)], [t.name for t in self.tables])
