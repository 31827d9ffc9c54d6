"""test/props/queries.py

Random predicates and queries.  Each query has one right answer: its rows are
compared as a multiset, or in order when ORDER BY makes the order of what is
selected certain.
"""
import value_types
from value_types import quote

COMPARISONS = ["=", "=", "<>", "<", "<=", ">", ">="]
# Operators of GIN's classes by type.
KEY_OPERATORS = {"int4[]": ["@>", "<@", "&&", "="], "text[]": ["@>", "<@", "&&", "="], "jsonb": ["@>"], "tsvector": ["@@"]}

# Types whose distances btree_gist knows.
DISTANCES = ("int4", "int8", "date", "timestamp", "timestamptz", "time")


class Query:
    """SQL with {tN} for tables; `ordered` when the order of rows is certain."""

    def __init__(self, sql, ordered=False, parameters=()):
        self.sql = sql
        self.ordered = ordered
        self.parameters = list(parameters)      # (type, literal), for PREPARE


def constant(rng, column, cross=True):
    """A literal to compare the column with, perhaps of another type."""
    kind = column.type
    if cross and kind.cross and rng.random() < 0.25:
        other = value_types.TYPES[rng.choice(kind.cross)]
        return "%s::%s" % (quote(other.value(rng)), other.cast)
    return "%s::%s" % (quote(column.known(rng)), kind.cast)


def like_pattern(rng, column):
    word = (column.known(rng) or "").replace("\\", "").replace("%", "")
    start = rng.choice([0, 0, rng.randrange(5)])
    word = word[start:start + rng.randrange(0, 6)]
    return quote(rng.choice(["%s%%", "%%%s", "%%%s%%", "%s", "_%s%%"]) % word)


class Predicates:
    """Builds predicates on one table under an alias."""

    def __init__(self, rng, table, alias, others=()):
        self.rng = rng
        self.table = table
        self.alias = alias
        self.others = others        # tables for subqueries
        self.parameters = []
        self.parameterise = False

    def name(self, column):
        return "%s.%s" % (self.alias, column.name)

    def operand(self, column, cross=True):
        """A constant, or a parameter of a prepared statement."""
        literal = constant(self.rng, column, cross)
        if self.parameterise and self.rng.random() < 0.7:
            body, _, type_name = literal.rpartition("::")
            self.parameters.append((type_name, body))
            return "$%d" % len(self.parameters)
        return literal

    def any(self, depth=2):
        rng = self.rng
        kind = rng.random()
        if depth > 0 and kind < 0.35:
            return "(%s %s %s)" % (self.any(depth - 1), rng.choice(["AND", "AND", "OR"]), self.any(depth - 1))
        if depth > 0 and kind < 0.40:
            return "NOT (%s)" % self.any(depth - 1)
        return self.simple()

    def simple(self):
        rng = self.rng
        if rng.random() < 0.1:
            return Expressions(rng, self.table, self.alias).condition()
        if rng.random() < 0.12:
            return self.indexed_expression()
        column = rng.choice(self.table.columns)
        keyed = [c for c in self.table.columns if c.type.name in KEY_OPERATORS]
        if keyed and rng.random() < 0.15:
            return self.keys(rng.choice(keyed))
        if rng.random() < 0.35:
            # what pruning lives on
            column = rng.choice(self.table.segmentby + self.table.orderby + [column])
            if column not in self.table.columns:
                column = rng.choice(self.table.columns)
        name, kind = self.name(column), column.type
        if not kind.ordered:
            return rng.choice(["%s IS NULL" % name, "%s IS NOT NULL" % name,
                               "%s::text = %s" % (name, quote(column.known(rng)))])
        choices = [self.compare] * 6 + [self.null_test, self.in_list, self.between, self.distinct_from, self.any_array,
                                        self.reversed, self.columns, self.not_in, self.row_compare, self.subquery, self.optional]
        if kind.text:
            choices += [self.like, self.text_function]
        if kind.number:
            choices += [self.arithmetic]
        if kind.name in ("timestamptz", "timestamp", "date"):
            choices += [self.local] * 3
        if column.type is value_types.TYPES["bool"]:
            choices += [self.boolean] * 3
        if kind.name in ("int4range", "tstzrange", "inet"):
            choices += [self.overlap] * 6
        if kind.name in KEY_OPERATORS:
            choices += [self.keys] * 6
        return rng.choice(choices)(column)

    def local(self, column):
        """The date of a time, and the like: these say where the time is."""
        form = self.rng.choice(["%s::date %s (%s)::date", "date_trunc('day', %s) %s %s", "extract(year FROM %s) %s extract(year FROM %s)"])
        return form % (self.name(column), self.rng.choice(["<", "<=", "=", ">=", ">"]), self.operand(column, cross=False))

    def indexed_expression(self):
        """What indexes on expressions, and of some rows, are asked for."""
        rng = self.rng
        ident, number, other = "%s.id" % self.alias, rng.randrange(-20, 700), rng.randrange(200)
        choices = ["@ % 2 = 0", "@ > 300", "@ % 10 = 3", "@ % 10 = #", "@ % 10 IN (3, #, NULL)", "@ / 7 = #", "@ / 7 = #::bigint", "@ / 7 = ANY ('{1,#,%d}')" % other,
                   "@ / 7 < #", "ARRAY[@, @ % 7] @> '{#}'", "ARRAY[@, @ %% 7] && '{#,%d,-3}'" % other, "ARRAY[@, @ %% 7] @> '{%d,3}'" % other,
                   "point(@, @ % 7) <@ box(point(#, 1), point(# + 20, 4))", "point(@, @ % 7) << point(#, 3)",
                   "box(point(@, @ % 7), point(@ + 3, 7)) && box(point(#, 0), point(# + 2, 2))"]
        column = self.table.column(rng, lambda c: c.type.text)
        if column:
            name = "%s::text" % self.name(column)
            choices += ["upper(%s) = upper(%s)" % (name, quote(column.known(rng))), "upper(%s) IN ('AB', 'W1', upper(%s))" % (name, quote(column.known(rng))),
                        "to_tsvector('simple', %s) @@ '%s'::tsquery" % (name, rng.choice(["w1", "w2 | ab", "zeta & !w1", "long:*"]))] * 3
        return rng.choice(choices).replace("@ ", ident + " ").replace("(@,", "(%s," % ident).replace("[@,", "[%s," % ident).replace("#", str(number % 10 if rng.random() < 0.4 else number))

    def optional(self, column):
        """What applications ask with a parameter that may be empty: the cast of an empty one is an error, to which nobody
        may come.  A guard reads no column: below NOT it is a condition of its own, and PostgreSQL tries it once, first."""
        rng = self.rng
        value = quote(rng.choice(["", "", column.known(rng) or ""]))
        if self.parameterise:
            self.parameters.append(("text", value))
            given = "$%d" % len(self.parameters)
        else:
            given = "(SELECT %s::text)" % value
        cast, operator = "%s::%s" % (given, column.type.cast), rng.choice(COMPARISONS)
        name = self.name(column)
        forms = ["(%s = '' OR %s %s %s)" % (given, name, operator, cast), "(%s = '' OR %s %s %s)" % (given, cast, operator, name),
                 "NOT (%s <> '' AND %s %s %s)" % (given, name, operator, cast),
                 "(%s IS NULL OR %s = '' OR (%s IS NOT NULL AND %s %s %s))" % (given, given, name, name, operator, cast),
                 "(%s = '' OR (%s.id, %s) %s (%d, %s))" % (given, self.alias, name, rng.choice(["<", "<=", ">", ">="]), rng.randrange(300), cast)]
        if "[]" not in column.type.name:
            forms.append("(%s = '' OR %s = ANY (ARRAY[%s]))" % (given, name, cast))
        return rng.choice(forms)

    def compare(self, column):
        return "%s %s %s" % (self.name(column), self.rng.choice(COMPARISONS), self.operand(column))

    def reversed(self, column):
        return "%s %s %s" % (self.operand(column), self.rng.choice(COMPARISONS), self.name(column))

    def null_test(self, column):
        return "%s IS %sNULL" % (self.name(column), self.rng.choice(["", "NOT "]))

    def items(self, column):
        items = [constant(self.rng, column, cross=False) for _ in range(self.rng.randint(1, 6))]
        if self.rng.random() < 0.1:
            items.append("NULL")
        return ", ".join(items)

    def in_list(self, column):
        return "%s IN (%s)" % (self.name(column), self.items(column))

    def not_in(self, column):
        return "%s NOT IN (%s)" % (self.name(column), self.items(column))

    def any_array(self, column):
        if "[]" in column.type.name:
            return self.compare(column)
        return "%s %s (ARRAY[%s])" % (self.name(column), self.rng.choice(["= ANY", "<> ALL", "< ANY", ">= ALL"]),
                                      self.items(column))

    def overlap(self, column):
        operators = ["&&", "<<=", ">>=", "<<", ">>"] if column.type.name == "inet" else ["&&", "@>", "<@", "<<", ">>", "-|-", "&<"]
        return "%s %s %s" % (self.name(column), self.rng.choice(operators), self.operand(column, cross=False))

    def keys(self, column):
        """What a GIN index finds by the keys of a value."""
        rng = self.rng
        name, kind = self.name(column), column.type.name
        if kind == "tsvector":
            words = ["%sred%s" % (rng.choice(["", "!"]), rng.choice(["", ":A"])), "word%d" % rng.randrange(30),
                     rng.choice(["word1:*", "none", "(green | blue)", "green <-> blue"])]
            rng.shuffle(words)
            return "%s @@ '%s'::tsquery" % (name, rng.choice([" & ", " | ", " & !"]).join(words[:rng.randint(1, 3)]))
        if kind == "jsonb" and rng.random() < 0.6:
            key, other, number = rng.choice("abcd"), rng.choice("abcd"), rng.randrange(10)
            return name + rng.choice([
                " ? '%s'" % key, " ?| '{%s,%s}'" % (key, other), " ?& '{%s,%s}'" % (key, other), " ?| '{}'", " ?& '{}'",
                " @> '{\"%s\": %d}'" % (key, number), " @> '[%d]'" % number, " @> '{\"%s\": {\"%s\": %d}}'" % (key, other, number),
                " @> '{}'", " @> '[]'", " @? '$.%s ? (@ == %d)'" % (key, number), " @@ '$.%s == %d || $.%s == %d'" % (key, number, other, number),
                " @@ '!($.%s == %d)'" % (key, number), " @? '$.**.%s'" % key])
        return "%s %s %s" % (name, rng.choice(KEY_OPERATORS[kind]), self.operand(column, cross=False))

    def between(self, column):
        return "%s %sBETWEEN %s%s AND %s" % (self.name(column), self.rng.choice(["", "", "NOT "]),
                                            self.rng.choice(["", "SYMMETRIC "]), self.operand(column, cross=False),
                                            self.operand(column, cross=False))

    def distinct_from(self, column):
        return "%s IS %sDISTINCT FROM %s" % (self.name(column), self.rng.choice(["", "NOT "]), self.operand(column))

    def columns(self, column):
        other = self.table.column(self.rng, lambda c: c.type is column.type)
        return "%s %s %s" % (self.name(column), self.rng.choice(COMPARISONS), self.name(other))

    def row_compare(self, column):
        other = self.table.column(self.rng, lambda c: c.type.ordered)
        return "(%s, %s) %s (%s, %s)" % (self.name(column), self.name(other), self.rng.choice(COMPARISONS),
                                         self.operand(column, cross=False), self.operand(other, cross=False))

    def subquery(self, column):
        rng = self.rng
        table = rng.choice(list(self.others) or [self.table])
        kind = rng.randrange(4)
        if kind == 0:
            return "EXISTS (SELECT 1 FROM %s AS x WHERE x.id = %s.id + %d)" % (
                table.token, self.alias, rng.randrange(-2, 3))
        if kind == 1:
            return "%s.id %sIN (SELECT x.id FROM %s AS x WHERE %s)" % (
                self.alias, rng.choice(["", "NOT "]), table.token, Predicates(rng, table, "x").any(0))
        if column.type.minmax and column.type.groupable and column.type.name != "bool":
            return "%s %s (SELECT %s(y.%s) FROM %s AS y)" % (
                self.name(column), rng.choice(["=", "<", ">="]), rng.choice(["min", "max"]), column.name,
                self.table.token)
        return "%s.id = ANY (ARRAY(SELECT x.id FROM %s AS x WHERE %s))" % (
            self.alias, table.token, Predicates(rng, table, "x").any(0))

    def like(self, column):
        if self.rng.random() < 0.2:
            return "%s %s '%s'" % (self.name(column), self.rng.choice(["~", "~*", "!~"]), self.rng.choice(
                ["w1[0-9]", "zet(a|b)", "ong lo", "^w2", "a.c|x_y", "abc$", "w[0-9]+"]))
        return "%s %s %s" % (self.name(column), self.rng.choice(["LIKE", "NOT LIKE", "LIKE", "ILIKE"]),
                             like_pattern(self.rng, column))

    def text_function(self, column):
        name = self.name(column)
        return self.rng.choice(["length(%s::text) > %d" % (name, self.rng.randrange(5)),
                                "upper(%s::text) = 'AB'" % name, "%s ^@ 'a'" % name if column.type.name == "text"
                                else "left(%s::text, 1) = 'a'" % name,
                                "%s || 'x' > 'b'" % name, '%s::text COLLATE "C" < %s' % (name, quote("a")),
                                "coalesce(%s, 'zz') = 'zz'" % name])

    def arithmetic(self, column):
        name = self.name(column)
        return self.rng.choice(["%s::numeric %% 3 = 1" % name if "float" not in column.type.name else "%s = %s" % (name, name),
                                "%s::float8 - 2 > 3" % name, "abs(%s::float8) < 10" % name,
                                "coalesce(%s, 0) = 0" % name, "%s + 1.5 > 3" % name,
                                "round(%s::numeric, 1) > 2.5" % name, "%s::numeric IN (1, 2.5, -7)" % name,
                                "floor(%s::numeric / 3) = 1" % name if "float" not in column.type.name else "trunc(%s::numeric, 1) < 2" % name,
                                "%s::numeric * 1.5 <= 3" % name if "float" not in column.type.name else "%s * 2 > 1" % name])

    def boolean(self, column):
        return self.rng.choice(["%s", "NOT %s", "%s IS TRUE", "%s IS NOT TRUE", "%s IS FALSE", "%s IS UNKNOWN"]) \
            % self.name(column)


class Expressions:
    """Builds expressions of several columns and operators, which raise no error and are the same in any order of rows."""

    def __init__(self, rng, table, alias="a"):
        self.rng = rng
        self.alias = alias
        self.columns = {name: [c for c in table.columns if c.type.name == name]
                        for name in ("int2", "int4", "int8", "float4", "float8", "text", "bool", "timestamptz")}

    def column(self, *types):
        columns = [c for name in types for c in self.columns[name]]
        return "%s.%s" % (self.alias, self.rng.choice(columns).name) if columns else None

    def leaf(self):
        rng = self.rng
        choices = [str(rng.randrange(-9, 10))]
        number, text, time = self.column("int2", "int4", "int8"), self.column("text"), self.column("timestamptz")
        if number:
            choices += ["(%s::int8 %% 100)" % number] * 5
        if text:
            choices += ["length(%s) %% 50" % text, "length(split_part(lower(%s), 'a', 1)) %% 50" % text]
        if time:
            choices += ["extract(%s FROM %s)::float8::int8 %% 100" % (rng.choice(["hour", "dow", "doy", "month", "minute"]),
                                                                   "CASE WHEN isfinite(%s) THEN %s END" % (time, time)),
                        "date_part('hour', nullif(nullif(%s, 'infinity'), '-infinity'))::int" % time]
        return rng.choice(choices)

    def number(self, depth=2):
        rng = self.rng
        if depth == 0:
            return self.leaf()
        x, y = self.number(depth - 1), self.number(depth - 1)
        form = rng.choice(["(%s + %s)", "(%s - %s)", "(%s * %s)", "coalesce(%s, %s)", "nullif(%s, %s)", "greatest(%s, 3, %s)", "least(%s, %s)", "%s / nullif(%s, 0)", "%s %% nullif(%s, 0)",
                           "CASE WHEN " + self.condition(depth - 1).replace("%", "%%") + " THEN %s ELSE %s END",
                           "CASE %s WHEN 1 THEN 7 WHEN %s THEN 8 END", "-(%s + abs(%s))"])
        return "(%s)" % (form % ("(%s)" % x, "(%s)" % y))

    def condition(self, depth=1):
        rng = self.rng
        if depth > 0 and rng.random() < 0.4:
            return "(%s %s %s)" % (self.condition(depth - 1), rng.choice(["AND", "OR"]), self.condition(depth - 1))
        a, b, flag, text = self.column("float4", "float8"), self.column("float4", "float8"), self.column("bool"), self.column("text")
        operator = rng.choice(["<", "<=", "=", "<>", ">=", ">"])
        choices = ["%s %s %s" % (self.number(depth), operator, self.number(depth)), "%s IS NULL" % self.number(depth),
                   "%s %sIN (0, 1, 2, -7, 50)" % (self.number(depth), rng.choice(["", "NOT "])),
                   "%s IS %sDISTINCT FROM %s" % (self.number(depth), rng.choice(["", "NOT "]), self.number(0))]
        time, other = self.column("timestamptz"), self.column("timestamptz")
        if a:
            choices += ["%s %s %s" % (a, operator, b), "-%s %s abs(coalesce(%s, 3))" % (a, operator, b),
                        "%s IS DISTINCT FROM %s" % (a, b), "greatest(%s, %s) > least(%s, 2)" % (a, b, a), "nullif(%s, %s) > 1" % (a, b)]
        if time:
            tame = "CASE WHEN %s BETWEEN '1990-01-01' AND '2100-01-01' THEN %s END" % (time, time)
            step = rng.choice(["90 minutes", "1 day", "-3 days 2 hours", "1 month", "0.5 seconds"])
            choices += ["%s + interval '%s' %s %s" % (tame, step, operator, other), "%s - interval '%s' IS DISTINCT FROM %s" % (tame, step, other)]
        if flag:
            choices += ["(%s %s (%s > 3))" % (flag, operator, self.number(depth)), "NOT %s" % flag]
        if text:
            choices += ["lower(%s) LIKE '%%a%%'" % text]
        return rng.choice(choices)

    def computed(self):
        """A text or a float made of a column; of zeros one, and of equal texts."""
        text, number = self.column("text"), self.column("float4", "float8")
        choices = [self.number()]
        if text:
            choices += ["(%s) COLLATE \"C\"" % (form % text) for form in (
                "split_part(%s, 'a', 1)", "upper(left(%s, 2))", "coalesce(lower(substr(%s, 2, 3)), 'none')", "nullif(left(%s, 1), 'a')", "%s || 'x'")]
        if number:
            choices += ["floor(%s) + 0" % number, "CASE WHEN abs(%s) BETWEEN 1e-9 AND 1e9 THEN ceil(%s / 3) * 2 + 0 END" % (number, number),
                        "%s / nullif(%s, 0) + 0" % (number, number)]
        return self.rng.choice(choices)

    def key(self):
        if self.rng.random() < 0.3:
            return self.computed()
        if self.rng.random() < 0.3:
            return "CASE WHEN %s THEN 'one' WHEN %s THEN 'two' ELSE 'other' END" % (self.condition(), self.condition())
        return self.number()


class Queries:
    """Makes queries over the tables of a case."""

    def __init__(self, rng, tables):
        self.rng = rng
        self.tables = tables

    def any(self):
        rng = self.rng
        makers = [self.rows] * 4 + [self.top] * 5 + [self.aggregate] * 4 + [self.grouped] * 4 + [self.rollup] * 4 + [
            self.correlated,
            self.top_by_expressions, self.top_by_expressions, self.distinct, self.distinct_on, self.join, self.join, self.joined_groups, self.joined_groups, self.joined_groups,
            self.joined_rows, self.joined_rows, self.joined_rows,
            self.outer_join, self.lateral, self.window,
            self.set_operation, self.whole_row, self.ctid, self.sample, self.prepared, self.prepared, self.prepared, self.count, self.end_of_time,
            self.grouping_sets, self.last_point, self.nearest, self.nearest]
        return rng.choice(makers)()

    def where(self, table, alias="a", depth=2):
        if self.rng.random() < 0.15:
            return ""
        return " WHERE " + Predicates(self.rng, table, alias, self.tables).any(depth)

    def table(self):
        return self.rng.choice(self.tables)

    def rows(self):
        table = self.table()
        names = ["a.%s" % c.name for c in table.some(self.rng, 1, 5)]
        return Query("SELECT %s FROM %s AS a%s" % (", ".join(names), table.token, self.where(table)))

    def whole_row(self):
        table = self.table()
        return Query("SELECT %s FROM %s AS a%s" % (self.rng.choice(["a", "a.*", "a::text", "to_jsonb(a)"]) if not any(
            c.type.name == "json" for c in table.columns) else "a.*", table.token, self.where(table)))

    def sort_keys(self, table, alias="a", high=3):
        """Columns, and ORDER BY items for them."""
        keys = table.some(self.rng, 1, high, lambda c: c.type.groupable)
        if table.orderby and self.rng.random() < 0.6:
            wanted = [c for c in table.segmentby + table.orderby if c in table.columns and c.type.groupable]
            keys = wanted[self.rng.randrange(len(wanted)):] if wanted else keys
        items = ["%s.%s%s%s" % (alias, c.name, self.rng.choice(["", " DESC"]),
                                self.rng.choice(["", "", " NULLS FIRST", " NULLS LAST"])) for c in keys]
        return keys, items

    def limit(self):
        return "%s%s" % (self.rng.choice(["", " LIMIT %d" % self.rng.choice([1, 1, 3, 10, 100, 2000])]),
                         self.rng.choice(["", "", " OFFSET %d" % self.rng.choice([1, 7, 50])]))

    def top(self):
        table = self.table()
        keys, items = self.sort_keys(table)
        where = self.where(table)
        if self.rng.random() < 0.3:
            # a total order: any columns may be shown
            shown = ["a.%s" % c.name for c in table.some(self.rng, 1, 5)]
            if table.primary_key and self.rng.random() < 0.7:
                items = items + ["a.id%s" % self.rng.choice(["", " DESC"])]
            else:
                items = items + ["a::text COLLATE \"C\""]
        else:
            shown = ["a.%s" % c.name for c in keys]
        return Query("SELECT %s FROM %s AS a%s ORDER BY %s%s" % (
            ", ".join(shown), table.token, where, ", ".join(items), self.limit()), ordered=True)

    def top_by_expressions(self):
        """The first rows by expressions, and columns between them."""
        rng, table = self.rng, self.table()
        keys, items = self.sort_keys(table)
        shown = ["a.%s" % c.name for c in keys]
        for column in table.some(rng, 1, 2, lambda c: c.type.groupable):
            name = "a.%s" % column.name
            forms = ["%s IS NULL", "%s::text COLLATE \"C\"", "length(%s::text)", "hashtext(%s::text) %% 5", "coalesce(%s::text, 'x') = 'x'"]
            if column.type.number:
                forms += ["%s / 2"] * 3 + ["%s * 0.5"] * 3 + ["%s > 0", "CASE WHEN %s > 1 THEN 1 END"]
            expression = rng.choice(forms).replace("%s", name).replace("%%", "%")
            at = rng.randrange(len(items) + 1)
            items.insert(at, expression + rng.choice(["", " DESC", " NULLS FIRST"]))
            shown.insert(at, expression)
        if rng.random() < 0.3:
            return Query("SELECT %s FROM %s AS a%s ORDER BY %s FETCH FIRST %d ROWS WITH TIES" % (
                ", ".join(shown), table.token, self.where(table), ", ".join(items), rng.choice([1, 2, 10, 100])), ordered=True)
        return Query("SELECT %s FROM %s AS a%s ORDER BY %s%s" % (
            ", ".join(shown), table.token, self.where(table), ", ".join(items), self.limit()), ordered=True)

    def nearest(self):
        """The rows nearest to a value, by a GiST index if there is one."""
        table = self.table()
        columns = [c for c in table.columns if c.type.name in DISTANCES]
        if not columns:
            return self.top()
        column = self.rng.choice(columns)
        predicates = Predicates(self.rng, table, "a")
        value = predicates.operand(column, cross=False)
        distance = "a.%s OPERATOR(public.<->) %s" % (column.name, value)
        return Query("SELECT %s FROM %s AS a%s ORDER BY 1 LIMIT %d" % (
            distance, table.token, self.where(table), self.rng.choice([1, 3, 10, 100])), ordered=True)

    def last_point(self):
        table = self.table()
        keys = [c for c in table.segmentby if c in table.columns and c.type.groupable and c.name != "ts"]
        if not keys or not any(c.name == "ts" for c in table.columns):
            return self.top()
        names = ", ".join("a.%s" % c.name for c in keys)
        where = self.where(table, depth=1)
        if self.rng.random() < 0.4:
            return Query("SELECT %s, %s(a.ts) FROM %s AS a%s GROUP BY %s" % (
                names, self.rng.choice(["max", "min"]), table.token, where, names))
        return Query("SELECT DISTINCT ON (%s) %s, a.ts FROM %s AS a%s ORDER BY %s, a.ts%s" % (
            names, names, table.token, where, names, self.rng.choice(["", " DESC"])))

    def key(self, table):
        """Rows of one segment: of one key, or the first ones; planned without the planner where that can be."""
        rng = self.rng
        segment = [c for c in table.segmentby if c in table.columns and c.type.ordered]
        order = [c for c in table.orderby if c in table.columns and c.type.groupable]
        if not segment or not order:
            return self.top()
        predicates = Predicates(rng, table, "a")
        predicates.parameterise = rng.random() < 0.5
        compared = segment + rng.choice([[], [], order[:1], order])
        if rng.random() < 0.2:
            compared = compared + table.some(rng, 1, 1, lambda c: c.type.ordered)
        rng.shuffle(compared)
        where = " AND ".join("a.%s %s %s" % (
            c.name, "=" if rng.random() < 0.95 else rng.choice(["<", ">="]),
            predicates.operand(c, cross=rng.random() < 0.1) if predicates.parameterise or rng.random() < 0.2
            else quote(c.known(rng))) for c in compared)
        if rng.random() < 0.5:
            shown = rng.choice([table.columns, table.some(rng, 1, 3)])
            return Query("SELECT %s FROM %s AS a WHERE %s" % (", ".join("a." + c.name for c in shown), table.token, where),
                         parameters=predicates.parameters)
        if rng.random() < 0.4:
            where += " AND a.%s %s %s" % (order[0].name, rng.choice(["<", "<=", ">", ">="]), predicates.operand(order[0], cross=False))
        if rng.random() < 0.8:
            order = order[:1]
        way = rng.choice(["", " DESC", " NULLS FIRST", " DESC NULLS LAST"])
        return Query("SELECT %s FROM %s AS a WHERE %s ORDER BY %s%s" % (
            ", ".join("a." + c.name for c in order), table.token, where, ", ".join("a.%s%s" % (c.name, way) for c in order),
            self.limit() or " LIMIT 5"), ordered=True, parameters=predicates.parameters)

    def aggregates(self, table, alias="a"):
        rng, parts = self.rng, ["count(*)"]
        for column in table.some(rng, 1, 4):
            name, kind = "%s.%s" % (alias, column.name), column.type
            choices = ["count(%s)" % name]
            if table.primary_key:
                # without ties
                choices += ["first(%s, %s.id)" % (name, alias), "last(%s, %s.id)" % (name, alias)]
            if kind.ordered and kind.groupable:
                choices.append("count(DISTINCT %s)" % name)
            if kind.minmax and kind.groupable:
                choices += ["min(%s)" % name, "max(%s)" % name]
            if kind.number:
                if kind.name == "float4":
                    # added in float4: whole numbers, whose sum is exact in any order
                    choices += ["%s(%s) FILTER (WHERE abs(%s) < 1000 AND %s = trunc(%s))" % (function, name, name, name, name)
                                for function in ("sum", "avg")]
                elif "float" in kind.name:
                    # few and tame: their sum does not depend on the order by much
                    choices += ["sum(%s) FILTER (WHERE %s BETWEEN -1000 AND 1000)" % (name, name),
                                "avg(%s) FILTER (WHERE abs(%s) < 100)" % (name, name)]
                else:
                    choices += ["sum(%s)" % name, "avg(%s)" % name, "stddev(%s)" % name, "var_pop(%s)" % name,
                                "sum(%s::numeric + 1)" % name, "avg(%s::numeric * 1.50)" % name,
                                "min(abs(2.5 - %s::numeric) * %s)" % (name, name), "sum(CASE WHEN %s > 0 THEN -%s::numeric ELSE 3 * coalesce(%s, 1.10) END)" % (name, name, name),
                                "max(coalesce(%s, 7))" % name, "count(nullif(%s, 1))" % name,
                            "sum(%s(%s::numeric / %s%s, %d))" % (rng.choice(["round", "trunc"]), name, rng.choice(["3", "8.00", "-0.07", "1e6", "nullif(%s, 0)" % name]),
                                                                 rng.choice(["", " * 100"]), rng.randrange(5)),
                            "avg(%s::numeric / %s)" % (name, rng.choice(["100", "8.0", "-0.25"])), "sum(ceil(%s * 0.3) %% 7.5)" % name,
                            "sum(greatest(%s, 2.50, floor(%s / 1.5)))" % (name, name), "count(DISTINCT (%s / 4.0)::int8) FILTER (WHERE abs(%s) < 1e9)" % (name, name)]
                if "float" in kind.name:
                    choices += ["sum(%s(%s::numeric, %d)) FILTER (WHERE abs(%s) < 1e12)" % (rng.choice(["round", "trunc"]), name, rng.randrange(7), name),
                                "count(DISTINCT round(%s::numeric, 2))" % name, "sum(%s::numeric) FILTER (WHERE abs(%s) < 1e6)" % (name, name)]
                    if kind.name.startswith("int"):
                        choices.append("histogram(%s, -10, 60, 5)" % name)
            if column.type is value_types.TYPES["bool"]:
                choices += ["bool_and(%s)" % name, "bool_or(%s)" % name]
            if kind.name.startswith("int") and kind.groupable:
                choices += ["percentile_cont(%s) WITHIN GROUP (ORDER BY %s::int8 %% 1000)" % (rng.choice(["0.5", "0.95", "0", "1"]), name),
                            "percentile_disc(%s) WITHIN GROUP (ORDER BY %s%s)" % (rng.choice(["0.25", "0.9"]), name, rng.choice(["", " DESC"])),
                            "mode() WITHIN GROUP (ORDER BY %s)" % name, "regr_count(%s, %s.id)" % (name, alias),
                            "array_agg(%s ORDER BY %s%s)" % (name, name, rng.choice(["", " DESC", " NULLS FIRST"])),
                            "array_agg(DISTINCT %s)" % name, "rank(7) WITHIN GROUP (ORDER BY %s)" % name]
            if kind.number and kind.groupable and ("int" in kind.name or "float" in kind.name):
                # of 0 and -0 any may be the one in the middle
                choices.append("percentile_disc(ARRAY[%s]) WITHIN GROUP (ORDER BY %s + 0%s)" % (
                    rng.choice(["0.5, 0.95, 0.99", "0, 1, NULL, 0.3", "0.1"]), name, rng.choice(["", " DESC"])))
                choices.append("mode() WITHIN GROUP (ORDER BY %s + 0%s)" % (name, rng.choice(["", " DESC"])))
            if kind.name == "text":
                choices += ["md5(string_agg(%s, ',' ORDER BY %s COLLATE \"C\"))" % (name, name),
                            "md5(string_agg(DISTINCT %s, ','))" % name, "mode() WITHIN GROUP (ORDER BY %s)" % name]
            part = rng.choice(choices)
            if part.startswith("md5("):
                parts.append(part)
                continue
            if rng.random() < 0.2:
                part = rng.choice(["sum(%s)", "max(%s)", "avg(%s)", "count(%s)"]) % Expressions(rng, table, alias).number()
            if rng.random() < 0.1:
                tame = Expressions(rng, table, alias)
                part = "%s(%s) FILTER (WHERE %s)" % (rng.choice(["sum", "max", "count"]), tame.number(), tame.condition())
            if "FILTER" not in part and rng.random() < 0.25:
                part += " FILTER (WHERE %s)" % Predicates(rng, table, alias).any(1)
            parts.append(part)
        return ", ".join(parts)

    def aggregate(self):
        table = self.table()
        return Query("SELECT %s FROM %s AS a%s" % (self.aggregates(table), table.token, self.where(table)))

    def end_of_time(self):
        """min(time) or max(time), which takes the chunks of a hypertable in turn."""
        table = self.table()
        end = "%s(a.ts)" % self.rng.choice(["min", "max"])
        shown = self.rng.choice([end, "coalesce(%s, '2000-01-01Z')" % end, "%s, 7, %s IS NULL" % (end, end)])
        return Query("SELECT %s FROM %s AS a%s" % (shown, table.token, self.where(table)))

    def count(self):
        table = self.table()
        return Query("SELECT count(*) FROM %s AS a%s" % (table.token, self.where(table)))

    def group_keys(self, table):
        keys = ["a.%s" % c.name for c in table.some(self.rng, 1, 2, lambda c: c.type.groupable)]
        if self.rng.random() < 0.3 and any(c.name == "ts" for c in table.columns):
            keys[0] = "date_trunc('%s', a.ts)" % self.rng.choice(["hour", "day", "month"])
        if self.rng.random() < 0.3:
            keys[-1] = Expressions(self.rng, table).key()
        return keys

    def bucket(self):
        zone = self.rng.choice(["Europe/Berlin", "America/St_Johns", "Australia/Lord_Howe", "Asia/Kolkata", "EST", "UTC", "+03:30"])
        return self.rng.choice([
            "date_trunc('%s', a.ts AT TIME ZONE '%s')" % (self.rng.choice(["minute", "hour", "day", "week", "month"]), zone),
            "date_trunc('%s', a.ts, '%s')" % (self.rng.choice(["minute", "hour", "day", "month"]), zone),
            "time_bucket('%s', a.ts, '%s')" % (self.rng.choice(["15 min", "1 h", "7 h", "1 day", "1 month"]), zone),
            "to_char(a.ts%s, '%s')" % (self.rng.choice(["", " AT TIME ZONE '%s'" % zone]), self.rng.choice(["YYYY-MM-DD", "HH24:MI", "Day HH12 AM", "IYYY-IW", "SSSS"])),
            "date_trunc('%s', a.ts)" % self.rng.choice(["second", "minute", "hour", "day", "week", "month", "year"]),
            "date_bin('%s', a.ts, '%s')" % (self.rng.choice(["15 min", "1 h", "7 days 13 s"]),
                                           self.rng.choice(["2026-01-01", "2026-02-14 00:00:07", "2027-01-01"])),
            "time_bucket('%s', a.ts)" % self.rng.choice(["15 min", "1 h", "3 days", "1 month"]),
            "date_trunc('day', a.ts) + interval '1 h'", "extract(dow FROM a.ts)"])

    def rollup(self):
        """What dashboards ask: buckets of time, by segment, for a range of time."""
        table = self.table()
        if not any(c.name == "ts" for c in table.columns):
            return self.grouped()
        keys = [self.bucket()]
        keys += ["a.%s" % c.name for c in table.segmentby if c in table.columns and c.type.groupable and self.rng.random() < 0.7]
        self.rng.shuffle(keys)
        names = ", ".join(keys)
        having = self.rng.choice(["", "", " HAVING count(*) > 1", " HAVING max(a.id) > 10 AND count(*) < 50"])
        order = ""
        if self.rng.random() < 0.4:
            order = " ORDER BY %s" % ", ".join("%d%s" % (i + 1, self.rng.choice(["", " DESC", " DESC NULLS LAST", " NULLS FIRST"])) for i in range(len(keys)))
        ordered = order != ""
        if ordered:
            order += self.limit()
        return Query("SELECT %s, %s FROM %s AS a%s GROUP BY %s%s%s" % (
            names, self.aggregates(table), table.token, self.where(table), names, having, order), ordered=ordered)

    def correlated(self):
        """An aggregate that is computed again and again."""
        left, right = self.table(), self.table()
        if self.rng.random() < 0.4:
            return self.optional_in_turn(left)
        return Query("SELECT a.id, (SELECT %s FROM %s AS b WHERE b.id %s a.id AND %s) FROM %s AS a WHERE a.id %% 15 = %d" % (
            self.rng.choice(["count(*)", "max(b.id)", "sum(b.id + a.id)", "count(*) FILTER (WHERE b.id > a.id - 5)"]), right.token,
            self.rng.choice(["<", "=", ">"]), Predicates(self.rng, right, "b").any(0), left.token, self.rng.randrange(15)))

    def optional_in_turn(self, table):
        """A condition that an outer row may leave out; a subquery that is needed for some outer rows."""
        rng = self.rng
        column = rng.choice([c for c in table.columns if c.type.ordered])
        values = ["''", "NULL"] + [quote(column.known(rng)) for _ in range(3)]
        rng.shuffle(values)
        forms = ["o.k = '' OR b.%s %s o.k::%s", "(o.k IS NULL OR o.k = '') OR b.%s %s (SELECT o.k::%s)"]
        return Query("SELECT o.k, (SELECT %s FROM %s AS b WHERE %s) FROM (VALUES %s) AS o (k)" % (
            rng.choice(["count(*)", "max(b.id)"]), table.token, rng.choice(forms) % (column.name, rng.choice(COMPARISONS), column.type.cast),
            ", ".join("(%s::text)" % v for v in values)))

    def grouped(self):
        table = self.table()
        keys = ", ".join(self.group_keys(table))
        having = self.rng.choice(["", "", " HAVING count(*) > 1"])
        return Query("SELECT %s, %s FROM %s AS a%s GROUP BY %s%s" % (
            keys, self.aggregates(table), table.token, self.where(table), keys, having))

    def grouping_sets(self):
        rng, table = self.rng, self.table()
        keys = self.group_keys(table)
        if rng.random() < 0.4:
            keys += [key for key in self.group_keys(table) if key not in keys]
        sets = ["(%s)" % ", ".join(rng.sample(keys, rng.randint(0, len(keys)))) for _ in range(rng.randint(1, 4))]
        form = rng.choice(["ROLLUP (%s)", "ROLLUP (%s)", "CUBE (%s)", "GROUPING SETS ((%s), ()" + "".join(", " + one for one in sets) + ")"])
        shown = "GROUPING(%s), %s" % (", ".join(rng.sample(keys, rng.randint(1, len(keys)))), rng.choice(["count(*), sum(a.id)", self.aggregates(table)]))
        return Query("SELECT %s, %s FROM %s AS a%s GROUP BY %s%s" % (
            ", ".join(keys), shown, table.token, self.where(table), form.replace("%s", ", ".join(keys)),
            rng.choice(["", "", " HAVING count(*) > 3", " HAVING GROUPING(%s) = 0" % keys[0]])))

    def distinct(self):
        table = self.table()
        keys = table.some(self.rng, 1, 2, lambda c: c.type.groupable)
        return Query("SELECT DISTINCT %s FROM %s AS a%s" % (
            ", ".join("a." + c.name for c in keys), table.token, self.where(table)))

    def distinct_on(self):
        table = self.table()
        keys, items = self.sort_keys(table)
        shown = keys
        if table.primary_key and self.rng.random() < 0.5:
            # a total order: any columns may be shown
            items = items + ["a.%s" % name for name in ("id", "ts") if any(c.name == name for c in table.columns)]
            shown = keys[:1] + table.some(self.rng, 1, 5)
        return Query("SELECT DISTINCT ON (a.%s) %s FROM %s AS a%s ORDER BY %s" % (
            keys[0].name, ", ".join("a." + c.name for c in shown), table.token, self.where(table), ", ".join(items)))

    def joined_groups(self):
        """Aggregates of a table joined with a small one, made of values of a column."""
        rng, table = self.rng, self.table()
        columns = [c for c in table.columns if c.type.groupable]
        keys = [c for c in table.segmentby if c in columns]
        column = rng.choice((keys or columns) if rng.random() < 0.7 else columns)
        small = "(SELECT x.%s AS k, min(x.id) %% 3 AS g FROM %s AS x GROUP BY 1)" % (column.name, table.token)
        if rng.random() < 0.3:
            # each of them twice
            small = "(SELECT d.k, n AS g FROM (SELECT DISTINCT x.%s AS k FROM %s AS x) AS d, generate_series(1, 2) AS n)" % (
                column.name, table.token)
        group = rng.choice(["", " GROUP BY d.g", " GROUP BY d.g", " GROUP BY d.g, " + ", ".join(self.group_keys(table))])
        shown = group[len(" GROUP BY "):] + ", " if group else ""
        kind = rng.random()
        if kind < 0.2:
            where = self.where(table) or " WHERE true"
            return Query("SELECT %s FROM %s AS a%s AND %sEXISTS (SELECT 1 FROM %s AS d WHERE d.k = a.%s AND d.g = 1)" % (
                self.aggregates(table), table.token, where.replace(" WHERE ", " WHERE (", 1) + ")", rng.choice(["", "NOT "]),
                small, column.name))
        if kind < 0.4:
            # the table is what is looked into
            rows = self.few_values(column) if column.type.ordered and rng.random() < 0.5 else small
            where = (self.where(table) or " WHERE true").replace(" WHERE ", " WHERE (", 1) + ")"
            if rng.random() < 0.3:
                return Query("SELECT d.* FROM %s AS d WHERE d.k %sIN (SELECT a.%s FROM %s AS a%s)" % (rows, rng.choice(["", "NOT "]), column.name, table.token, where))
            return Query("SELECT d.* FROM %s AS d WHERE %sEXISTS (SELECT 1 FROM %s AS a%s AND a.%s = d.k%s)" % (
                rows, rng.choice(["", "NOT "]), table.token, where, column.name, rng.choice(["", "", "", " AND a.id > d.g * 50", " AND a.%s <> d.k" % column.name])))
        # columns of both sides in conditions and arguments
        both = rng.choice(["", ", count(d.k), sum(a.id + d.g), max(d.g)", ", min(coalesce(d.g, -a.id)), count(*) FILTER (WHERE d.g > a.id %% 4)"])
        return Query("SELECT %s%s%s FROM %s AS a %s %s AS d ON d.k = a.%s%s%s%s" % (
            shown, self.aggregates(table), both.replace("%%", "%"), table.token, rng.choice(["JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN"]), small, column.name,
            rng.choice(["", "", " AND d.g > 0", " AND a.id % 3 > d.g", " AND a.{0} <> d.k".format(column.name), " AND a.id / (d.g + 2) > 40"]),
            self.where(table), group))

    def few_values(self, of):
        """A subselect of a few rows: k, values that a column may be equal to, and g; each k once for each g."""
        rng = self.rng
        pairs = [(t, c) for t in self.tables for c in t.columns if c.type.ordered and (c.type is of.type or c.type.name in of.type.cross)]
        table, column = rng.choice(pairs)
        where = rng.choice(["x.id %% %d = %d" % (rng.choice([2, 5, 11, 40]), rng.randrange(2)), "x.id < %d" % rng.randrange(200),
                            Predicates(rng, table, "x").any(0), "false"])
        return "(SELECT DISTINCT x.%s AS k, x.id %% 2 AS g FROM %s AS x WHERE %s)" % (column.name, table.token, where)

    def joined_rows(self):
        """Rows of a table for which a subselect has a value of a column; of two subselects; with other nodes between."""
        rng, table = self.rng, self.table()
        columns = [c for c in table.columns if c.type.ordered]
        keys = [c for c in table.segmentby + table.orderby if c in columns] if rng.random() < 0.6 else columns
        # by the values of a hash join batches are found, too, where an index leads to them
        indexed = [c for c in table.indexed if c in columns]
        one, other = rng.choice(indexed if indexed and rng.random() < 0.4 else keys or columns), rng.choice(columns)
        first, second = self.few_values(one), self.few_values(other)
        rows = table.token
        if rng.random() < 0.3:
            rows = "(SELECT * FROM %s AS a%s)" % (table.token, rng.choice([
                self.where(table), " ORDER BY a.id", " ORDER BY a.id OFFSET 0", " WHERE random() >= 0", " ORDER BY a.id LIMIT 50"]))
        form = rng.randrange(7)
        where = self.where(table) or " WHERE true"
        also = where.replace(" WHERE ", " WHERE (", 1) + ")"
        if form == 0:
            return Query("SELECT a.id FROM %s AS a%s AND a.%s %sIN (SELECT d.k FROM %s AS d)" % (
                rows, also, one.name, rng.choice(["", "", "NOT "]), first))
        if form == 1:
            return Query("SELECT a.id, d.g, e.g FROM %s AS a JOIN %s AS d ON d.k = a.%s %s JOIN %s AS e ON e.k = a.%s%s" % (
                rows, first, one.name, rng.choice(["", "LEFT", "RIGHT"]), second, other.name, where))
        if form == 2:
            return Query("SELECT a.id FROM %s AS a JOIN %s AS d ON d.k = a.%s AND a.%s IN (SELECT e.k FROM %s AS e)%s" % (
                rows, first, one.name, other.name, second, where))
        if form == 3:
            # the subselect changes from row to row
            return Query("SELECT o.n, (SELECT count(*) FROM %s AS a JOIN %s AS d ON d.k = a.%s AND d.g = o.n) FROM generate_series(0, 2) AS o (n)" % (
                rows, first, one.name))
        if form == 4:
            return Query("WITH d AS MATERIALIZED %s SELECT a.id, d.g FROM %s AS a JOIN d ON d.k = a.%s WHERE d.g = (SELECT min(g) FROM d)" % (
                first, rows, one.name))
        return Query("SELECT a.id, d.g FROM %s AS a %sJOIN %s AS d ON d.k = a.%s%s" % (
            rows, rng.choice(["", "", "", "LEFT ", "FULL "]), first, one.name, where))

    def join(self):
        left, right = self.table(), self.table()
        on = self.rng.choice(["a.id = b.id", "a.id = b.id + 1", "a.ts = b.ts", "a.id = b.id AND a.ts <= b.ts"])
        if not all(any(c.name == "ts" for c in t.columns) for t in (left, right)):
            on = "a.id = b.id"
        same = [(c, d) for c in left.columns for d in right.columns
                if c.type is d.type and c.type.ordered and c.type.name != "bool" and c.mode == "any"]
        if same and self.rng.random() < 0.3:
            pair = self.rng.choice(same)
            on = "a.%s = b.%s AND a.id BETWEEN b.id - 20 AND b.id + 20" % (pair[0].name, pair[1].name)
        return Query("SELECT count(*), count(DISTINCT a.id), min(b.id) FROM %s AS a JOIN %s AS b ON %s%s%s" % (
            left.token, right.token, on, " AND " + Predicates(self.rng, right, "b").any(1), self.where(left, depth=1)))

    def outer_join(self):
        left, right = self.table(), self.table()
        return Query("SELECT a.id, b.id FROM %s AS a %s JOIN %s AS b ON a.id = b.id%s%s" % (
            left.token, self.rng.choice(["LEFT", "RIGHT", "FULL"]), right.token,
            "", " WHERE a.id IS NULL OR b.id IS NULL OR " + Predicates(self.rng, left, "a").any(1)))

    def lateral(self):
        left, right = self.table(), self.table()
        return Query("SELECT a.id, x.id FROM %s AS a CROSS JOIN LATERAL (SELECT b.id FROM %s AS b WHERE b.id %s a.id"
                     " AND %s ORDER BY b.id LIMIT 1) AS x WHERE a.id %% 10 = %d" % (
                         left.token, right.token, self.rng.choice(["=", ">"]), Predicates(self.rng, right, "b").any(0),
                         self.rng.randrange(10)))

    def window(self):
        table = self.table()
        _, items = self.sort_keys(table, high=2)
        part = self.rng.choice(["", "PARTITION BY a.id % 5 "])
        if table.primary_key and self.rng.random() < 0.5:
            return self.look_back(table, items)
        return Query("SELECT a.id, rank() OVER (%sORDER BY %s), count(*) OVER (%s) FROM %s AS a%s" % (
            part, ", ".join(items), part, table.token, self.where(table)))

    def look_back(self, table, items):
        """Window functions that need rows at some distance only, in a total order; maybe with conditions on what they say."""
        rng = self.rng
        items = items + ["a.%s" % name for name in ("id", "ts") if any(c.name == name for c in table.columns)]
        part = table.some(rng, 0, 2, lambda c: c.type.groupable)
        calls = []
        for column in table.some(rng, 1, 4):
            calls.append(rng.choice(["lag(a.%s) OVER w", "lag(a.%s, 3) OVER w", "first_value(a.%s) OVER w", "lag(a.%s, 2, a.%s) OVER w",
                                     "lead(a.%s) OVER w", "lead(a.%s, 5, a.%s) OVER w"]).replace("%s", column.name) + " AS c%d" % len(calls))
        calls += ["a.ts - lag(a.ts) OVER w AS gap"] if any(c.name == "ts" for c in table.columns) else []
        sql = "SELECT a.id, row_number() OVER w AS n, %s FROM %s AS a%s WINDOW w AS (%sORDER BY %s)" % (
            ", ".join(calls), table.token, self.where(table),
            "PARTITION BY %s " % ", ".join("a." + c.name for c in part) if part else "", ", ".join(items))
        if rng.random() < 0.5:
            conditions = ["x.c0 IS NULL", "x.n %% 3 = %d" % rng.randrange(3), "x.id %% 7 = %d" % rng.randrange(7), "x.c0 IS NOT NULL",
                          "x.n <= %d" % rng.randrange(8)]
            conditions += ["x.gap > INTERVAL '%d seconds'" % rng.randrange(4000), "x.gap IS NULL", "x.gap = INTERVAL '0'"] if "gap" in calls[-1] else []
            sql = "SELECT * FROM (%s) AS x WHERE %s" % (sql, rng.choice([" OR ", " AND "]).join(rng.sample(conditions, rng.randrange(1, 4))))
        return Query(sql)

    def set_operation(self):
        left, right = self.table(), self.table()
        return Query("SELECT a.id FROM %s AS a%s %s SELECT b.id FROM %s AS b%s" % (
            left.token, self.where(left), self.rng.choice(["UNION", "UNION ALL", "INTERSECT", "EXCEPT", "EXCEPT ALL"]),
            right.token, self.where(right, "b")))

    def ctid(self):
        """Rows are found again by their ctid."""
        table = self.table()
        if table.partitioned:
            # a ctid is one of a partition
            return Query("SELECT b.id FROM %s AS b WHERE (b.tableoid, b.ctid) IN (SELECT a.tableoid, a.ctid FROM %s AS a%s)" % (
                table.token, table.token, self.where(table)))
        return Query("SELECT b.id FROM %s AS b WHERE b.ctid = ANY (ARRAY(SELECT a.ctid FROM %s AS a%s))" % (
            table.token, table.token, self.where(table)))

    def sample(self):
        table = self.table()
        return Query("SELECT count(*) FROM %s AS a TABLESAMPLE %s (100)%s" % (
            table.token, self.rng.choice(["SYSTEM", "BERNOULLI"]), self.where(table)))

    def prepared(self):
        """A query with parameters; the runner prepares and executes it."""
        table = self.table()
        predicates = Predicates(self.rng, table, "a", self.tables)
        predicates.parameterise = True
        where = predicates.any(2)
        kind = self.rng.random()
        if kind < 0.4:
            keys, items = self.sort_keys(table)
            sql = "SELECT %s FROM %s AS a WHERE %s ORDER BY %s%s" % (
                ", ".join("a." + c.name for c in keys), table.token, where, ", ".join(items), self.limit())
        elif kind < 0.7:
            sql = "SELECT a.* FROM %s AS a WHERE %s" % (table.token, where)
        elif kind < 0.85:
            sql = "SELECT count(*), min(a.id) FROM %s AS a WHERE %s" % (table.token, where)
        else:
            keys = ", ".join(self.group_keys(table))
            sql = "SELECT %s, %s FROM %s AS a WHERE %s GROUP BY %s" % (keys, self.aggregates(table), table.token, where, keys)
        # that of an aggregate orders no rows
        return Query(sql, ordered=kind < 0.4, parameters=predicates.parameters)
