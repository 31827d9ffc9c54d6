"""test/props/statements.py

Random actions: lists of statements that go to both sides, or to one.
"""
import io

import value_types
from late_rows import late_rows
from queries import Predicates, Queries
from value_types import quote

MAX_ROWS = 2500

BOOLEAN_SETTINGS = ["enable_seqscan", "enable_indexscan", "enable_indexonlyscan", "enable_bitmapscan",
                    "enable_hashagg", "enable_hashjoin", "enable_mergejoin", "enable_nestloop", "enable_sort",
                    "enable_material", "enable_incremental_sort", "enable_memoize", "enable_tidscan"]
OTHER_SETTINGS = [("work_mem", ["'64kB'", "'1MB'", "'16MB'"]), ("strata.agg_least_groups", ["8", "1024"]), ("random_page_cost", ["0", "1", "4", "100"]), ("seq_page_cost", ["0", "1"]),
                  ("plan_cache_mode", ["auto", "force_generic_plan", "force_custom_plan"]),
                  ("timezone", ["'UTC'", "'Europe/Rome'", "'America/St_Johns'"]),
                  ("cursor_tuple_fraction", ["0.01", "1"]), ("default_statistics_target", ["1", "100"])]
# zones, and days on which their clocks are set forward
CLOCKS = [("America/New_York", "2026-03-08"), ("America/Havana", "2026-03-08"), ("America/St_Johns", "2026-03-08"),
          ("Europe/Berlin", "2026-03-29"), ("Antarctica/Troll", "2026-03-29"), ("Asia/Beirut", "2026-03-29"),
          ("Africa/Casablanca", "2026-03-22"), ("Atlantic/Azores", "2026-03-29"), ("Australia/Lord_Howe", "2026-10-04"),
          ("Pacific/Chatham", "2026-09-27")]
# PostgreSQL's own btree is wrong where local time is compared with timestamptz
# Operator classes of BRIN by type.
BRIN_CLASSES = {name: ["%s_minmax_ops" % name, "%s_minmax_multi_ops" % name, "%s_bloom_ops" % name] for name in (
    "int2", "int4", "int8", "float4", "float8", "numeric", "date", "time", "timetz", "timestamp", "timestamptz", "interval",
    "uuid")}
BRIN_CLASSES.update({
    "text": ["text_minmax_ops", "text_bloom_ops"], 'text COLLATE "C"': ["text_minmax_ops", "text_bloom_ops"],
    'text COLLATE "en-x-icu"': ["text_minmax_ops", "text_bloom_ops"], "numeric(10,2)": BRIN_CLASSES["numeric"],
    "bytea": ["bytea_minmax_ops", "bytea_bloom_ops"], "int4range": ["range_inclusion_ops"], "tstzrange": ["range_inclusion_ops"],
    "inet": ["inet_inclusion_ops", "inet_minmax_ops", "inet_minmax_multi_ops", "inet_bloom_ops"],
    "macaddr": ["macaddr_minmax_ops", "macaddr_minmax_multi_ops", "macaddr_bloom_ops"], "varbit": ["varbit_minmax_ops"]})
# And of GIN.
GIN_CLASSES = {"int4[]": ["array_ops"], "text[]": ["array_ops"], "jsonb": ["jsonb_ops", "jsonb_path_ops"],
               "tsvector": ["tsvector_ops"], "text": ["public.gin_trgm_ops"], "varchar(120)": ["public.gin_trgm_ops"],
               'text COLLATE "C"': ["public.gin_trgm_ops"], 'text COLLATE "en-x-icu"': ["public.gin_trgm_ops"]}

# And of GiST: what orders NaN as C does is left out, since PostgreSQL loses it, and dates, whose
# infinities a heap's index subtracts when it splits a page (22008).
GIST_CLASSES = {name: ["public.gist_%s_ops" % name] for name in (
    "int2", "int4", "int8", "numeric", "time", "timestamp", "timestamptz", "interval", "uuid", "text")}
GIST_CLASSES.update({"int4range": ["range_ops"], "tstzrange": ["range_ops"], "inet": ["inet_ops"], "tsvector": ["tsvector_ops"],
                     'text COLLATE "C"': ["public.gist_trgm_ops"], "numeric(10,2)": ["public.gist_numeric_ops"]})


def gist_index(rng, table):
    """The method and columns of a GiST index; None where the table has none."""
    columns = table.some(rng, 1, 2, lambda c: c.type.name in GIST_CLASSES and c.name != "ts")
    return columns and "USING gist (%s)" % ", ".join("%s %s" % (c.name, rng.choice(GIST_CLASSES[c.type.name])) for c in columns)


def gin_index(rng, table):
    """The method and columns of a GIN index; None where the table has none."""
    columns = table.some(rng, 1, 3, lambda c: c.type.name in GIN_CLASSES)
    return columns and "USING gin (%s)" % ", ".join("%s %s" % (c.name, rng.choice(GIN_CLASSES[c.type.name])) for c in columns)


def expression_index(rng, table):
    """The method and expressions of an index; queries.py asks for the same ones."""
    text = table.column(rng, lambda c: c.type.text)
    column = table.column(rng, lambda c: c.type.groupable and c.name != "ts")
    choices = ["(id % 10)", "(id % 10), ts", "(id / 7)", "USING hash ((id / 7))", "USING gin ((ARRAY[id, id % 7]))",
               "USING gist (point(id, id % 7))", "USING brin (box(point(id, id % 7), point(id + 3, 7)) box_inclusion_ops)",
               "USING brin ((id / 7))", "USING gist (box(point(id, id % 7), point(id + 3, 7)))"]
    choices = ["(%s)" % choice if "USING" not in choice else choice for choice in choices]
    if text:
        choices += ["(upper(%s::text))" % text.name, "USING hash (upper(%s::text))" % text.name,
                    "USING gin (to_tsvector('simple', %s::text))" % text.name] * 2
    if column and column.pool and "long" not in str(column.pool):
        choices += ["((%s IS NULL), id)" % column.name]
    return rng.choice(choices)


def index_predicate(rng, table):
    """Of which rows an index is."""
    column = table.column(rng, lambda c: c.type.ordered)
    return " WHERE " + rng.choice(["id % 2 = 0", "id > 300", "id % 10 = 3", "%s IS NOT NULL" % column.name,
                                   "%s IS NULL AND id > 100" % column.name])


NO_INDEX = ["enable_indexscan", "enable_indexonlyscan", "enable_bitmapscan"]

PARALLEL = ["SET max_parallel_workers_per_gather = 2", "SET parallel_setup_cost = 0", "SET parallel_tuple_cost = 0",
            "SET min_parallel_table_scan_size = 0"]

WIDER = {"int2": ["int4", "int8", "numeric"], "int4": ["int8", "numeric", "text"], "int8": ["numeric", "text"],
         "float4": ["float8"], "varchar": ["text"], "text": ["text_c"], "date": ["timestamp"],
         "timestamp": ["timestamptz"], "numeric(10,2)": ["numeric"]}


class Statement:
    """SQL; `side` None for both, "strata" or "session" (run once); `copy` the
    data of a COPY; `ordered`: its rows come in a certain order."""

    def __init__(self, sql, side=None, copy=None, ordered=False):
        self.sql = sql
        self.side = side
        self.copy = copy
        self.ordered = ordered

    def with_copy(self, copy):
        return Statement(self.sql, self.side, copy, self.ordered)


class Action:
    """Statements run together; `touches` names the tables to compare after
    them; `then` updates the model when all went well."""

    def __init__(self, kind, statements, touches=(), then=None):
        self.kind = kind
        self.statements = statements
        self.touches = list(touches)
        self.then = then

    def with_statements(self, statements):
        return Action(self.kind, statements, self.touches)


def csv_lines(rows):
    """COPY ... (FORMAT csv): NULL is an empty field, the empty string is quoted."""
    out = io.StringIO()
    for row in rows:
        out.write(",".join("" if v is None else '"%s"' % v.replace('"', '""') for v in row) + "\n")
    return out.getvalue()


class Statements:
    def __init__(self, rng, tables, strata_switches):
        self.rng = rng
        self.tables = tables
        self.queries = Queries(rng, tables)
        self.switches = strata_switches
        self.made = 0               # for unique names
        self.kept = []              # prepared statements that outlive what made them

    def any(self):
        rng = self.rng
        kind = rng.random()
        if kind < 0.46:
            return self.query()
        table = rng.choice(self.tables)
        if kind < 0.50:
            return self.keys(next((t for t in self.tables if t.segmentby and t.orderby), table))
        if kind < 0.64:
            return self.strata(table)
        if kind < 0.70:
            return self.session()
        if kind < 0.75:
            return self.transaction(table)
        if kind < 0.79:
            return self.ddl(table)
        if kind < 0.80:
            return self.snapshot(table)
        return self.change(table)

    # --- queries ---------------------------------------------------------

    def query(self):
        if self.rng.random() < 0.04:
            return self.cursor()
        if self.rng.random() < 0.04:
            return self.clocks(self.rng.choice(self.tables))
        if self.tables[0].method == "strata" and self.rng.random() < 0.03:
            return Action("late rows", [Statement(sql, side, ordered=ordered) for sql, side, ordered in late_rows(self.rng)])
        if self.kept and self.rng.random() < 0.1:
            query = self.rng.choice(self.kept)
            return Action("kept query", [query] * self.rng.choice([1, 1, 6]))
        return Action(*self.statements_of(self.queries.any()))

    def statements_of(self, query):
        """The kind, and the statements: a query with parameters is prepared, and may be kept."""
        if not query.parameters:
            return "query", [Statement(query.sql, ordered=query.ordered)]
        self.made += 1
        name = "q%d" % self.made
        statements = [Statement("PREPARE %s_{am} (%s) AS %s" % (
            name, ", ".join(t for t, _ in query.parameters), query.sql))]
        values = [v for _, v in query.parameters]
        for turn in range(self.rng.choice([1, 2, 7])):
            if turn:
                values = ["NULL" if self.rng.random() < 0.2 else v for v in values]
            statements.append(Statement("EXECUTE %s_{am} (%s)" % (name, ", ".join(values)), ordered=query.ordered))
        if self.rng.random() < 0.15:
            self.kept = self.kept[-9:] + [statements[1]]
        else:
            statements.append(Statement("DEALLOCATE %s_{am}" % name))
        return "prepared query", statements

    def keys(self, table):
        """Queries for rows of one key, mostly with nothing in the row store."""
        statements = []
        if self.rng.random() < 0.8:
            for leaf in table.leaves():
                statements += [Statement("SELECT compress_chunk('%s', recompress => true)" % leaf, "strata"),
                               Statement("VACUUM %s" % leaf, "strata")]
        for _ in range(self.rng.randint(1, 5)):
            statements += self.statements_of(self.queries.key(table))[1]
        return Action("keys", statements, [table.name])

    def clocks(self, table):
        """Times of different types compared around a change of clocks, in its zone."""
        rng = self.rng
        times = [c for c in table.columns if c.type.name in ("date", "timestamp", "timestamptz")]
        if not times:
            return self.query()
        zone, day = rng.choice(CLOCKS)
        statements = [Statement("SET %s = off" % name) for name in NO_INDEX]
        statements += [Statement("SET enable_seqscan = on"), Statement("SET timezone = '%s'" % zone)]
        column = rng.choice(times)
        if rng.random() < 0.4:
            statements.append(Statement("UPDATE %s AS a SET %s = timestamp '%s' + (a.id %% 30) * interval '10 min' WHERE a.id %% %d = 1" % (
                table.token, column.name, day, rng.choice([2, 5, 11]))))
        for _ in range(rng.randint(2, 6)):
            value = "'%s'::%s" % ("%s %02d:%02d:00%s" % (day, rng.randrange(24), rng.choice([0, 10, 15, 30]),
                                                       rng.choice(["", "+00", "-04", "+02"])),
                                  rng.choice(["timestamptz", "timestamptz", "timestamp", "date"]))
            where = rng.choice(["a.%s %s %s", "NOT (a.%s %s %s)", "a.%s %s ANY (ARRAY[%s])", "a.%s %s (SELECT %s)"]) % (
                column.name, rng.choice(["<", "<=", "=", "<>", ">=", ">"]), value)
            statements.append(Statement("SELECT count(*), count(a.%s), min(a.%s), max(a.%s) FROM %s AS a WHERE %s" % (
                (column.name,) * 3 + (table.token, where))))
        if rng.random() < 0.1:
            statements.append(Statement("DELETE FROM %s AS a WHERE %s" % (table.token, where)))
        statements += [Statement("SET %s = on" % name) for name in NO_INDEX]
        return Action("clocks", statements + [Statement("RESET timezone")], [table.name])

    def cursor(self):
        rng, table = self.rng, self.rng.choice(self.tables)
        keys, items = self.queries.sort_keys(table)
        statements = [Statement("BEGIN"), Statement("DECLARE c SCROLL CURSOR FOR SELECT a.id, a.%s FROM %s AS a%s "
                                                    "ORDER BY %s, a::text COLLATE \"C\"" % (
                                                        keys[0].name, table.token, self.queries.where(table),
                                                        ", ".join(items)))]
        for _ in range(rng.randint(1, 6)):
            statements.append(Statement("FETCH %s FROM c" % rng.choice(
                ["1", "5", "200", "BACKWARD 3", "LAST", "FIRST", "ABSOLUTE 7", "RELATIVE -2", "ALL", "PRIOR"]), ordered=True))
        statements.append(Statement("COMMIT"))
        return Action("cursor", statements)

    # --- strata alone ----------------------------------------------------

    def strata(self, table):
        rng = self.rng
        kind = rng.random()
        leaves = table.leaves()
        sql = None
        if kind < 0.40:
            statements = ["SELECT compress_chunk('%s')" % leaf for leaf in leaves]
        elif kind < 0.60:
            statements = ["SELECT compress_chunk('%s', recompress => true)" % leaf for leaf in leaves]
        elif kind < 0.68:
            statements = ["SELECT decompress_chunk('%s')" % leaf for leaf in leaves]
        elif kind < 0.76:
            sql = table.settings(rng)
        elif kind < 0.80:
            sql = rng.choice(["SET strata.batch_rows = %d" % rng.choice([10, 17, 50, 100, 1000, 4096]),
                              "SET strata.index_pages = %d" % rng.choice([0, 2, 4, 8])])
        elif kind < 0.87:
            return Action("vacuum", [Statement("%s %s" % (rng.choice(
                ["VACUUM", "VACUUM", "VACUUM (FREEZE)", "VACUUM (ANALYZE)", "ANALYZE"]), table.token))], [table.name])
        elif kind < 0.93:
            rewrite = rng.choice(["VACUUM FULL %s", "VACUUM FULL %s", "REINDEX TABLE %s", "REINDEX TABLE CONCURRENTLY %s",
                                  "CLUSTER %s USING %s_i1"])
            return Action("rewrite", [Statement(rewrite.replace("%s", table.token, 1).replace("%s", table.name))],
                          [table.name])
        elif kind < 0.95:
            return Action("access method", [
                *[Statement("ALTER TABLE %s SET ACCESS METHOD heap" % leaf, "strata") for leaf in leaves],
                Statement("SELECT a.* FROM %s AS a" % table.token),
                *[Statement("ALTER TABLE %s SET ACCESS METHOD strata" % leaf, "strata") for leaf in leaves]], [table.name])
        else:
            return Action("verify", [Statement("/* must be empty */ SELECT * FROM strata.verify('%s')" % leaf,
                                               "strata") for leaf in leaves])
        return Action("strata", [Statement(s, "strata") for s in ([sql] if sql else statements)], [table.name])

    # --- settings --------------------------------------------------------

    def session(self):
        rng = self.rng
        kind = rng.random()
        if kind < 0.25:
            statements = ["RESET ALL"]
        elif kind < 0.50 and self.switches:
            statements = ["SET %s = %s" % (rng.choice(self.switches), rng.choice(["on", "off"]))]
        elif kind < 0.80:
            statements = ["SET %s = %s" % (rng.choice(BOOLEAN_SETTINGS), rng.choice(["on", "off"]))]
        elif kind < 0.95:
            name, values = rng.choice(OTHER_SETTINGS)
            statements = ["SET %s = %s" % (name, rng.choice(values))]
        else:
            statements = PARALLEL
        return Action("settings", [Statement(s, "session") for s in statements])

    # --- changes ---------------------------------------------------------

    def change(self, table):
        rng = self.rng
        if table.rows > MAX_ROWS:
            return Action("thin out", [Statement("DELETE FROM %s AS a WHERE a.id %% 4 <> %d" % (
                table.token, rng.randrange(4)))], [t.name for t in self.tables])
        makers = [self.insert] * 3 + [self.copy] * 3 + [self.insert_select, self.update, self.update, self.update,
                                                        self.delete, self.delete, self.merge, self.update_from,
                                                        self.delete_using, self.move, self.current_of]
        if table.rows < 300:
            makers += [self.copy] * 4
        if table.primary_key:
            makers += [self.upsert] * 3 + [self.update_key]
        elif table.partitioned:
            makers += [self.update_key]
        makers += [self.in_block, self.loop]
        if rng.random() < 0.02:
            makers = [self.truncate]
        elif rng.random() < 0.02:
            makers = [self.restore]
        statement = rng.choice(makers)(table)
        statements = statement if isinstance(statement, list) else [statement]
        # foreign keys and triggers reach other tables
        return Action("change", statements, [t.name for t in self.tables])

    def names(self, table):
        return ", ".join(c.name for c in table.writable())

    def rows(self, table, low, high):
        rows = [table.row(self.rng, bulk=high > 20) for _ in range(self.rng.randint(low, high))]
        if self.rng.random() < 0.05:
            rows.append(table.row(self.rng, table.old_id(self.rng)))
        return rows

    def where(self, table, alias="a"):
        """Mostly few rows: all of them are rarely interesting."""
        rng = self.rng
        some = Predicates(rng, table, alias, self.tables).any(1)
        kind = rng.random()
        if kind < 0.35:
            return "%s.id = %d" % (alias, table.old_id(rng))
        if kind < 0.65:
            first = table.old_id(rng)
            return "%s.id BETWEEN %d AND %d AND (%s)" % (alias, first, first + rng.randrange(1, 60), some)
        if kind < 0.85:
            return "%s.id %% 20 = %d AND (%s)" % (alias, rng.randrange(20), some)
        return some

    def returning(self):
        return self.rng.choice(["", "", " RETURNING a.id", " RETURNING a.*"])

    def fill(self, table):
        """The first rows of a table."""
        rows = [table.row(self.rng, bulk=True) for _ in range(self.rng.choice([0, 50, 300, 1000]))]
        return Action("fill", [Statement("COPY %s (%s) FROM STDIN (FORMAT csv)" % (table.token, self.names(table)),
                                         copy=csv_lines(rows))], [table.name])

    def values_list(self, rows):
        return ", ".join("(%s)" % ", ".join(quote(v) for v in row) for row in rows)

    def insert(self, table):
        return Statement("INSERT INTO %s AS a (%s) VALUES %s%s" % (
            table.token, self.names(table), self.values_list(self.rows(table, 1, self.rng.choice([1, 1, 20]))),
            self.returning()))

    def loads(self, table):
        """A thousand rows, which a direct load takes for its own?"""
        return table.direct_load and table.rows < MAX_ROWS // 2 and self.rng.random() < 0.3

    def copy(self, table):
        rows = self.rows(table, 1000, 1300) if self.loads(table) else self.rows(table, 15, self.rng.choice([30, 100, 400]))
        return Statement("COPY %s (%s) FROM STDIN (FORMAT csv)" % (table.token, self.names(table)),
                         copy=csv_lines(rows))

    def insert_select(self, table):
        shift = table.next_id
        table.next_id += table.next_id
        names = ["a.id + %d" % shift if c.name == "id" else "NULL" if c.name == "u" else "a.%s" % c.name
                 for c in table.writable()]
        if self.loads(table):
            return Statement("INSERT INTO %s (%s) SELECT %s FROM %s AS a, generate_series(1, %d)" % (
                table.token, self.names(table), ", ".join(names), table.token, 1 + 1000 // max(1, table.rows)))
        return Statement("INSERT INTO %s (%s) SELECT %s FROM %s AS a WHERE a.id %% 9 = %d" % (
            table.token, self.names(table), ", ".join(names), table.token, self.rng.randrange(9)))

    def assignments(self, table, alias=None):
        rng, parts = self.rng, []
        for column in table.some(rng, 1, 3, lambda c: not c.generated and c.name not in ("id", "ref")):
            if column.type.number and rng.random() < 0.3 and column.name != "u":
                parts.append("%s = %s%s + 1" % (column.name, alias + "." if alias else "", column.name))
            elif rng.random() < 0.1:
                parts.append("%s = DEFAULT" % column.name)
            else:
                parts.append("%s = %s" % (column.name, quote(column.value(rng))))
        return ", ".join(parts) or "id = %sid" % (alias + "." if alias else "")

    def update(self, table):
        return Statement("UPDATE %s AS a SET %s WHERE %s%s" % (
            table.token, self.assignments(table, "a"), self.where(table), self.returning()))

    def update_key(self, table):
        return Statement("UPDATE %s AS a SET id = %d WHERE a.id = %d%s" % (
            table.token, table.new_id() if self.rng.random() < 0.8 else table.old_id(self.rng),
            table.old_id(self.rng), self.returning()))

    def delete(self, table):
        return Statement("DELETE FROM %s AS a WHERE %s%s" % (table.token, self.where(table), self.returning()))

    def upsert(self, table):
        rng = self.rng
        rows, seen = [], set()
        for _ in range(rng.randint(1, 6)):
            ident = table.old_id(rng) if rng.random() < 0.7 else table.new_id()
            if ident not in seen or rng.random() < 0.1:
                seen.add(ident)
                rows.append(table.row(rng, ident))
        column = table.column(rng, lambda c: not c.generated and c.name not in ("id", "ref"))
        action = "DO NOTHING"
        if column and rng.random() < 0.7:
            action = "DO UPDATE SET %s = %s" % (column.name, rng.choice(
                ["EXCLUDED.%s" % column.name, quote(column.value(rng))]))
            if rng.random() < 0.3:
                action += " WHERE %s" % Predicates(rng, table, "a").any(1)
        return Statement("INSERT INTO %s AS a (%s) VALUES %s ON CONFLICT %s%s%s" % (
            table.token, self.names(table), self.values_list(rows),
            "(id) " if "UPDATE" in action or rng.random() < 0.5 else "", action, self.returning()))

    def merge(self, table):
        rng = self.rng
        idents = sorted({table.old_id(rng) for _ in range(rng.randint(1, 6))} | {table.new_id()})
        row = table.row(rng, 0)
        values = ["s.id" if c.name == "id" else quote(v) for c, v in zip(table.writable(), row)]
        matched = rng.choice(["UPDATE SET %s" % self.assignments(table, "a"), "DELETE", "DO NOTHING"])
        extra = " AND %s" % Predicates(rng, table, "a").any(0) if rng.random() < 0.5 else ""
        return Statement("MERGE INTO %s AS a USING (VALUES %s) AS s(id) ON a.id = s.id WHEN MATCHED%s THEN %s "
                         "WHEN NOT MATCHED AND s.id %% 2 = 0 THEN INSERT (%s) VALUES (%s)" % (
                             table.token, ", ".join("(%d)" % i for i in idents), extra, matched, self.names(table),
                             ", ".join(values)))

    def update_from(self, table):
        other = self.rng.choice(self.tables)
        return Statement("UPDATE %s AS a SET %s FROM %s AS b WHERE a.id = b.id AND %s" % (
            table.token, self.assignments(table, "a"), other.token, self.where(other, "b")))

    def delete_using(self, table):
        other = self.rng.choice(self.tables)
        return Statement("DELETE FROM %s AS a USING %s AS b WHERE a.id = b.id AND %s" % (
            table.token, other.token, self.where(other, "b")))

    def move(self, table):
        """Rows deleted and inserted again by one statement."""
        return Statement("WITH gone AS (DELETE FROM %s AS a WHERE %s RETURNING a.*) INSERT INTO %s (%s) SELECT %s FROM gone"
                         % (table.token, self.where(table), table.token, self.names(table), self.names(table)))

    def current_of(self, table):
        end = self.rng.choice(["UPDATE %s AS a SET %s" % (table.token, self.assignments(table, "a")),
                               "DELETE FROM %s AS a" % table.token])
        lock = self.rng.choice(["", " FOR UPDATE"])
        # all columns: of an index-only scan heap takes the start of an update chain for the row, and changes nothing;
        # an id that several rows have names none of them
        return [Statement("BEGIN"),
                Statement("DECLARE c CURSOR FOR SELECT a.* FROM %s AS a WHERE a.id = %d "
                          "AND (SELECT count(*) FROM %s AS b WHERE b.id = a.id) = 1%s" % (
                              table.token, table.old_id(self.rng), table.token, lock)),
                Statement("FETCH 1 FROM c"), Statement(end + " WHERE CURRENT OF c"), Statement("COMMIT")]

    def in_block(self, table):
        """A statement in a block of PL/pgSQL that survives its errors."""
        makers = [self.update, self.delete, self.insert] + ([self.upsert, self.update_key] if table.primary_key else [])
        sql = self.rng.choice(makers)(table).sql.split(" RETURNING ")[0]
        return Statement("DO $props$ BEGIN %s; EXCEPTION WHEN integrity_constraint_violation OR data_exception OR "
                         "cardinality_violation THEN NULL; END $props$" % sql)

    def loop(self, table):
        """Rows changed while a scan that finds them goes on."""
        change = self.rng.choice(["UPDATE %s AS a SET %s" % (table.token, self.assignments(table, "a")),
                                  "DELETE FROM %s AS a" % table.token])
        return Statement("DO $props$ DECLARE r record; BEGIN FOR r IN SELECT a.id FROM %s AS a WHERE %s LOOP "
                         "%s WHERE a.id = r.id; END LOOP; END $props$" % (table.token, self.where(table), change))

    def truncate(self, table):
        return Statement("TRUNCATE %s CASCADE" % table.token)

    def restore(self, table):
        """What pg_restore does to a table that was compressed: COPY writes batches."""
        marks = [Statement("SELECT %s('%s')" % (self.rng.choice(["compress_chunk", "compress_chunk", "decompress_chunk"]), leaf),
                           "strata") for leaf in table.leaves()]
        rows = self.rows(table, 1000, 1300) if self.rng.random() < 0.7 else self.rows(table, 1, 900)
        return marks + [self.truncate(table), Statement("COPY %s (%s) FROM STDIN (FORMAT csv)" % (
            table.token, self.names(table)), copy=csv_lines(rows))]

    # --- transactions ----------------------------------------------------

    def lock(self, table):
        return Statement("SELECT a.id FROM %s AS a WHERE %s FOR %s%s" % (
            table.token, self.where(table), self.rng.choice(["UPDATE", "NO KEY UPDATE", "SHARE", "KEY SHARE"]),
            self.rng.choice(["", "", " NOWAIT", " SKIP LOCKED"])))

    def compress(self, table):
        return Statement("SELECT %s('%s')" % (self.rng.choice(["compress_chunk", "compress_chunk", "decompress_chunk"]),
                                              self.rng.choice(table.leaves())), "strata")

    def transaction(self, table):
        rng = self.rng
        statements = [Statement("BEGIN%s" % rng.choice(["", "", " ISOLATION LEVEL REPEATABLE READ",
                                                       " ISOLATION LEVEL SERIALIZABLE"]))]
        makers = [self.insert, self.copy, self.update, self.update, self.delete, self.lock, self.move]
        # what is deferred keeps a table from being compressed
        if not table.second_key:
            makers.append(self.compress)
        if table.primary_key:
            makers.append(self.upsert)
        savepoints = 0
        for _ in range(rng.randint(2, 7)):
            kind = rng.random()
            if kind < 0.2:
                savepoints += 1
                statements.append(Statement("SAVEPOINT s%d" % savepoints))
            elif kind < 0.4 and savepoints:
                statements.append(Statement("%s SAVEPOINT s%d" % (rng.choice(["ROLLBACK TO", "ROLLBACK TO", "RELEASE"]),
                                                                  savepoints)))
                if statements[-1].sql.startswith("RELEASE"):
                    savepoints -= 1
            else:
                statements.append(rng.choice(makers)(table))
                statements.append(Statement("SELECT count(*), count(a.id) FROM %s AS a" % table.token))
        if rng.random() < 0.2:
            self.made += 1
            statements += [Statement("PREPARE TRANSACTION 'p%d_{am}'" % self.made),
                           Statement("%s PREPARED 'p%d_{am}'" % (rng.choice(["COMMIT", "COMMIT", "ROLLBACK"]), self.made))]
        else:
            statements.append(Statement(rng.choice(["COMMIT", "COMMIT", "ROLLBACK"])))
        return Action("transaction", statements, [t.name for t in self.tables])

    def snapshot(self, table):
        """An old snapshot in another session keeps seeing the old rows while
        these run; the runner knows this kind."""
        statements = [self.compress(table), self.update(table), self.delete(table), self.compress(table),
                      # truncation would wait long for the other session
                      Statement("VACUUM (TRUNCATE false) %s" % table.token)]
        return Action("old snapshot", statements, [t.name for t in self.tables])

    # --- DDL -------------------------------------------------------------

    def ddl(self, table):
        rng = self.rng
        makers = [self.add_column] * 3 + [self.drop_column] * 2 + [self.rename_column, self.alter_default,
                                                                  self.alter_type, self.not_null, self.create_index,
                                                                  self.create_index, self.check, self.persistence]
        return rng.choice(makers)(table)

    def add_column(self, table):
        rng = self.rng
        if len(table.columns) > 14:
            return self.drop_column(table)
        column = table.new_column(rng)
        default = ""
        if rng.random() < 0.6:
            value = column.type.value(rng)
            column.pool.append(value)
            default = " DEFAULT %s%s" % (quote(value), " NOT NULL" if rng.random() < 0.3 else "")
        return Action("ddl", [Statement("ALTER TABLE %s ADD COLUMN %s%s" % (table.token, column.definition, default))],
                      [table.name], lambda: table.columns.append(column))

    def droppable(self, table):
        return table.column(self.rng, lambda c: c.name not in ("id", "ts", "ref", "u"))

    def drop_column(self, table):
        column = self.droppable(table)
        if column is None:
            return self.create_index(table)
        statements = []
        if column in table.segmentby or column in table.orderby:
            statements.append(Statement(table.reset_settings(), "strata"))
            table.segmentby, table.orderby, table.direct_load = [], [], False
        statements.append(Statement("ALTER TABLE %s DROP COLUMN %s" % (table.token, column.name)))
        return Action("ddl", statements, [table.name], lambda: table.columns.remove(column))

    def rename_column(self, table):
        column = self.droppable(table)
        if column is None:
            return self.create_index(table)
        name = table.new_name()
        return Action("ddl", [Statement("ALTER TABLE %s RENAME COLUMN %s TO %s" % (table.token, column.name, name))],
                      [table.name], lambda: setattr(column, "name", name))

    def alter_default(self, table):
        column = table.column(self.rng, lambda c: not c.generated and c.name != "id")
        value = self.rng.choice(["DROP DEFAULT", "SET DEFAULT %s" % quote(column.type.value(self.rng))])
        return Action("ddl", [Statement("ALTER TABLE %s ALTER COLUMN %s %s" % (table.token, column.name, value))])

    def alter_type(self, table):
        names = {id(t): n for n, t in value_types.TYPES.items()}
        column = table.column(self.rng, lambda c: names[id(c.type)] in WIDER and c.name not in ("id", "ref")
                              and not c.generated)
        if column is None:
            return self.add_column(table)
        kind = value_types.TYPES[self.rng.choice(WIDER[names[id(column.type)]])]

        def changed():
            column.type = kind
        return Action("ddl", [Statement("ALTER TABLE %s ALTER COLUMN %s TYPE %s USING %s::%s" % (
            table.token, column.name, kind.name, column.name, kind.cast))], [table.name], changed)

    def not_null(self, table):
        column = table.column(self.rng, lambda c: c.name != "id")
        return Action("ddl", [Statement("ALTER TABLE %s ALTER COLUMN %s %s NOT NULL" % (
            table.token, column.name, self.rng.choice(["SET", "DROP", "DROP"])))])

    def create_index(self, table):
        rng = self.rng
        if table.indexes > 4:
            return Action("ddl", [Statement("DROP INDEX IF EXISTS {schema}.%s_i%d" % (table.name, rng.randint(1, table.indexes)))])
        columns = table.some(rng, 1, 2, lambda c: c.type.key and "long" not in str(c.pool) and c.type.name != "text"
                             or c.name == "id")
        items = ", ".join("%s%s" % (c.name, rng.choice(["", " DESC"])) for c in columns)
        kind = rng.random()
        extra = ""
        if kind < 0.1:
            items = "(id % 10), " + items
        elif kind < 0.2:
            extra = " WHERE id % 2 = 0"
        elif kind < 0.3:
            extra = " INCLUDE (id)"
        elif kind < 0.5:
            # what the latest row of each segment, and rows of an order, are found by
            keys = [c.name for c in table.segmentby if c in table.columns and c.type.ordered][:rng.choice([0, 1, 1])]
            items = ", ".join("%s%s" % (name, rng.choice(["", " DESC"])) for name in keys + ["ts"] if name != "ts" or name not in keys)
        unique = "UNIQUE " if rng.random() < 0.15 else ""
        if unique and rng.random() < 0.6:
            items = "id, " + items
        using = ""
        if not unique and not extra and rng.random() < 0.3:
            # batches are found by their classes, too
            using = " USING brin"
            columns = table.some(rng, 1, 2, lambda c: c.type.name in BRIN_CLASSES and c.name != "id")
            items = ", ".join("%s %s" % (c.name, rng.choice(BRIN_CLASSES[c.type.name])) for c in columns) or "id"
        what = "%s (%s)%s" % (using, items, extra)
        if not unique and not extra and rng.random() < 0.5:
            what = rng.choice([gin_index, gin_index, gist_index, expression_index, expression_index])(rng, table) or what
        if not extra and rng.random() < 0.25:
            what += index_predicate(rng, table)

        def made():
            table.indexes += 1
            table.indexed += [c for c in columns[:1] if c.type.ordered and not using]
        beside = "CONCURRENTLY " if rng.random() < 0.2 else ""
        return Action("ddl", [Statement("CREATE %sINDEX %s%s_i%d ON %s %s" % (
            unique, beside, table.name, table.indexes + 1, table.token, what))], [table.name], made)

    def check(self, table):
        self.made += 1
        return Action("ddl", [Statement("ALTER TABLE %s ADD CONSTRAINT k%d CHECK (%s)%s" % (
            table.token, self.made, self.rng.choice(["id > 0", "id > -5 OR id IS NULL", "id % 1000 < 997"]),
            self.rng.choice(["", " NOT VALID"])))])

    def persistence(self, table):
        return Action("ddl", [Statement("ALTER TABLE %s SET %s" % (
            table.token, self.rng.choice(["LOGGED", "UNLOGGED", "(fillfactor = 50)", "(autovacuum_enabled = false)"])))],
            [table.name])
