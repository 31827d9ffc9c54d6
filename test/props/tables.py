"""test/props/tables.py

A random table: its columns, constraints and settings, as the generators know
it.  The model follows what the statements do; where a statement failed on
both sides it may be wrong for a while, which only makes later ones fail alike.
"""
import value_types
from value_types import quote

MAX_POOL = 40
SETTINGS = "strata.segmentby, strata.orderby, strata.direct_load"


class Column:
    def __init__(self, rng, name, type_name=None, condition=None):
        if type_name:
            self.type = value_types.TYPES[type_name]
        else:
            _, self.type = value_types.pick(rng, condition or (lambda t: True))
        self.name = name
        self.nulls = rng.choice([0, 0, 0.1, 0.5, 0.95])
        self.mode = rng.choice(["any", "any", "few", "rising", "constant"])
        self.pool = []              # values that were written, for predicates
        self.generated = None       # expression of a generated column

    def value(self, rng):
        if rng.random() < self.nulls:
            return None
        if self.pool and (self.mode == "constant" or (self.mode == "few" and len(self.pool) > 5)
                          or rng.random() < 0.2):
            return rng.choice(self.pool)
        value = self.type.value(rng)
        if len(self.pool) < MAX_POOL:
            self.pool.append(value)
        return value

    def known(self, rng):
        """A value to compare with: mostly one that is there."""
        if self.pool and rng.random() < 0.75:
            return rng.choice(self.pool)
        return self.type.value(rng)

    @property
    def definition(self):
        text = "%s %s" % (self.name, self.type.name)
        if self.generated:
            text += " GENERATED ALWAYS AS (%s) STORED" % self.generated
        return text


class Table:
    """Columns id (int4) and ts (timestamptz) are always there, others are random."""

    def __init__(self, rng, number, method="strata"):
        self.method = method        # the one beside heap
        self.name = "t%d" % number
        self.token = "{%s}" % self.name
        self.serial = 0             # for new column names
        self.next_id = 1
        self.rows = 0               # about
        ident, stamp = Column(rng, "id", "int4"), Column(rng, "ts", "timestamptz")
        ident.nulls, stamp.nulls = 0, rng.choice([0, 0, 0.1])
        self.columns = [ident, stamp]
        for _ in range(rng.randrange(1, 9)):
            self.columns.append(self.new_column(rng))
        if rng.random() < 0.25:
            # what has keys, which a GIN index finds batches by
            self.columns.append(Column(rng, self.new_name(), rng.choice(["int4[]", "text[]", "jsonb", "tsvector"])))
        if rng.random() < 0.2:
            column = Column(rng, self.new_name(), "int8")
            column.generated = "id * 2 + 1"
            self.columns.append(column)
        self.primary_key = rng.random() < 0.4
        self.partitioned = rng.random() < 0.15
        self.second_key = None      # SQL of another unique constraint, on u
        if self.primary_key and not self.partitioned and rng.random() < 0.3:
            self.columns.append(Column(rng, "u", "int4"))
            self.second_key = "UNIQUE (u)%s" % rng.choice(["", "", " DEFERRABLE", " DEFERRABLE INITIALLY DEFERRED"])
        rng.shuffle(self.columns)
        self.reference = None       # a table whose primary key column ref points to
        self.triggers = rng.random() < 0.15
        self.statement_triggers = rng.random() < 0.15
        self.indexes = 0
        self.indexed = []           # columns that some index begins with, or began
        self.segmentby, self.orderby = [], []
        self.direct_load = False

    def new_name(self):
        self.serial += 1
        return "c%d" % self.serial

    def new_column(self, rng, condition=None):
        return Column(rng, self.new_name(), condition=condition)

    def writable(self):
        return [c for c in self.columns if not c.generated]

    def column(self, rng, condition=lambda c: True):
        """A random column that meets the condition; None when none does."""
        candidates = [c for c in self.columns if condition(c)]
        return rng.choice(candidates) if candidates else None

    def some(self, rng, low, high, condition=lambda c: True):
        """Up to `high` different columns that meet the condition."""
        candidates = [c for c in self.columns if condition(c)]
        return rng.sample(candidates, min(len(candidates), rng.randint(low, high)))

    def create_actions(self, rng):
        """Statements that make the table, for both sides."""
        lines = [c.definition for c in self.columns]
        if self.primary_key:
            lines.append("PRIMARY KEY (id)")
        if self.reference:
            lines.append("FOREIGN KEY (ref) REFERENCES {%s} (id) %s" % (
                self.reference.name, rng.choice(["", "ON DELETE CASCADE", "ON DELETE SET NULL", "ON UPDATE CASCADE"])))
        if self.second_key:
            lines.append(self.second_key)
        if self.partitioned:
            statements = ["CREATE TABLE %s (%s) PARTITION BY RANGE (id)" % (self.token, ", ".join(lines))]
            bounds = ["FOR VALUES FROM (MINVALUE) TO (150)", "FOR VALUES FROM (150) TO (600)", "DEFAULT"]
            statements += ["CREATE TABLE %s PARTITION OF %s %s USING {am}" % (leaf, self.token, bound)
                           for leaf, bound in zip(self.leaves(), bounds)]
        else:
            statements = ["CREATE TABLE %s (%s) USING {am}" % (self.token, ", ".join(lines))]
        if self.triggers:
            statements.append("CREATE TRIGGER audit AFTER INSERT OR UPDATE OR DELETE ON %s FOR EACH ROW "
                              "EXECUTE FUNCTION public.props_audit()" % self.token)
            if rng.random() < 0.5:
                statements.append("CREATE TRIGGER stamp BEFORE INSERT OR UPDATE ON %s FOR EACH ROW "
                                  "EXECUTE FUNCTION public.props_stamp()" % self.token)
        if self.statement_triggers:
            for event, rows in (("INSERT", "NEW TABLE AS new_rows"), ("DELETE", "OLD TABLE AS old_rows"),
                                ("UPDATE", "OLD TABLE AS old_rows NEW TABLE AS new_rows")):
                statements.append("CREATE TRIGGER sums_%s AFTER %s ON %s REFERENCING %s FOR EACH STATEMENT "
                                  "EXECUTE FUNCTION public.props_sums()" % (event, event, self.token, rows))
        return statements

    def leaves(self):
        """The tables that hold the rows."""
        return ["%s_%s" % (self.token, part) for part in "abd"] if self.partitioned else [self.token]

    def reset_settings(self):
        if self.method != "strata":
            return "SELECT 1"
        return "; ".join("ALTER TABLE %s RESET (%s)" % (leaf, SETTINGS) for leaf in self.leaves())

    def settings(self, rng):
        """New random settings in place of the old ones (strata only)."""
        self.segmentby = self.some(rng, 0, 2, lambda c: c.type.key and not c.name == "id")
        taken = self.segmentby
        self.orderby = self.some(rng, 0, 2, lambda c: c.type.key and c not in taken)
        if rng.random() < 0.5:
            ts = next((c for c in self.columns if c.name == "ts"), None)
            if ts and ts not in taken:
                self.orderby = [ts]
        order = ", ".join("%s%s%s" % (c.name, rng.choice(["", " ASC", " DESC"]),
                                      rng.choice(["", "", " NULLS FIRST", " NULLS LAST"])) for c in self.orderby)
        self.direct_load = rng.random() < 0.3
        parts = ["strata.direct_load"] if self.direct_load else []
        if self.segmentby:
            parts.append("strata.segmentby = %s" % quote(", ".join(c.name for c in self.segmentby)))
        if order:
            parts.append("strata.orderby = %s" % quote(order))
        if not parts or self.method != "strata":
            return self.reset_settings()
        return "; ".join("ALTER TABLE %s RESET (%s), SET (%s)" % (leaf, SETTINGS, ", ".join(parts))
                         for leaf in self.leaves())

    def row(self, rng, ident=None, bulk=False):
        """Text values for the writable columns; in bulk, few references, as
        one that does not exist fails them all."""
        values = []
        for column in self.writable():
            if column.name == "id":
                values.append(str(self.new_id() if ident is None else ident))
            elif column.name == "ref":
                values.append(None if rng.random() < (0.999 if bulk else 0.5) else str(rng.randrange(1, max(2, self.reference.next_id))))
            elif column.name == "u":
                # in bulk new ones, else mostly such as may be there
                values.append(str(self.next_id) if bulk else rng.choice([None, str(rng.randrange(1, self.next_id + 20))]))
            else:
                values.append(column.value(rng))
        return values

    def new_id(self):
        self.next_id += 1
        return self.next_id - 1

    def old_id(self, rng):
        return rng.randrange(1, self.next_id + 1)
