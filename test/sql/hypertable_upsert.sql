-- INSERT ... ON CONFLICT DO UPDATE RETURNING (xmax = 0): which rows are new, in chunks of the hypertable's row type and of another,
-- in the row store and in batches.
SET timezone = 'UTC';
SET client_min_messages = error;
CREATE TABLE u (ts timestamptz NOT NULL, gone int, host int, v float8 DEFAULT 7, note text, PRIMARY KEY (host, ts));
SELECT count(*) FROM create_hypertable('u', 'ts', chunk_time_interval => interval '12 hours');
ALTER TABLE u SET (strata.segmentby = 'host', strata.orderby = 'ts');
-- the first chunk has the dropped column, those made later have not
INSERT INTO u (ts, host, v, note) SELECT '2026-01-01'::timestamptz + i * interval '30 s', i % 3, i, 'a' FROM generate_series(0, 1200) AS i WHERE i % 20 <> 3;
ALTER TABLE u DROP COLUMN gone;
INSERT INTO u (ts, host, v, note) SELECT '2026-01-01 12:00'::timestamptz + i * interval '30 s', i % 3, i, 'a' FROM generate_series(0, 1200) AS i WHERE i % 20 <> 3;
CREATE TABLE w (LIKE u);
SELECT count(*) FROM create_hypertable('w', 'ts', chunk_time_interval => interval '12 hours');
ALTER TABLE w ADD PRIMARY KEY (host, ts);
INSERT INTO w SELECT * FROM u;
SELECT count(compress_chunk(c)) FROM show_chunks('u') AS c;
SELECT count(compress_chunk(c)) FROM show_chunks('w') AS c;
INSERT INTO u (ts, host, v, note) SELECT '2026-01-01'::timestamptz + i * interval '30 s', i % 3, i, 'late' FROM generate_series(0, 1200) AS i WHERE i % 20 = 3;
INSERT INTO w SELECT * FROM u WHERE note = 'late';
-- compressed, late, new; the last into a new chunk
PREPARE put_u(timestamptz, int, float8) AS INSERT INTO u (ts, host, v) VALUES ($1, $2, $3) ON CONFLICT (host, ts) DO UPDATE SET v = excluded.v
	RETURNING ts, host, v, note, xmax = 0 AS inserted, xmin::text = (pg_current_xact_id()::text::bigint % (1::bigint << 32))::text AS own, cmin, cmax, tableoid::regclass;
PREPARE put_w(timestamptz, int, float8) AS INSERT INTO w (ts, host, v) VALUES ($1, $2, $3) ON CONFLICT (host, ts) DO UPDATE SET v = excluded.v
	RETURNING ts, host, v, note, xmax = 0 AS inserted, xmin::text = (pg_current_xact_id()::text::bigint % (1::bigint << 32))::text AS own, cmin, cmax, tableoid::regclass;
EXECUTE put_u('2026-01-01 00:00:00', 0, -1);
EXECUTE put_u('2026-01-01 00:01:30', 0, -2);
EXECUTE put_u('2026-01-01 00:00:01', 0, -3);
EXECUTE put_u('2026-01-01 12:00:00', 0, -4);
EXECUTE put_u('2026-01-01 12:00:01', 0, -5);
EXECUTE put_u('2026-01-03 12:00:01', 0, -6);
EXECUTE put_w('2026-01-01 00:00:00', 0, -1);
EXECUTE put_w('2026-01-01 00:01:30', 0, -2);
EXECUTE put_w('2026-01-01 00:00:01', 0, -3);
EXECUTE put_w('2026-01-01 12:00:00', 0, -4);
EXECUTE put_w('2026-01-01 12:00:01', 0, -5);
SET plan_cache_mode = force_generic_plan;
EXECUTE put_w('2026-01-03 12:00:01', 0, -6);
EXECUTE put_w('2026-01-03 12:00:01', 0, -7);
RESET plan_cache_mode;
-- many rows, of all kinds, and chunks between them
WITH r AS (INSERT INTO w SELECT '2026-01-01'::timestamptz + i * interval '30 s', i % 3, -i, 'again' FROM generate_series(-50, 4000, 10) AS i
	ON CONFLICT (host, ts) DO UPDATE SET v = excluded.v, note = excluded.note WHERE w.v::int % 20 <> 0 RETURNING xmax = 0 AS inserted, tableoid, note)
SELECT tableoid::regclass, inserted, count(*), min(note) FROM r GROUP BY 1, 2 ORDER BY 1, 2;
SELECT count(*), sum(v), count(*) FILTER (WHERE note = 'again') FROM w;
INSERT INTO w VALUES ('2026-01-01 00:00:10', 0), ('2026-02-01 00:00:10', 0) RETURNING xmax, v, note;
INSERT INTO w VALUES ('2026-01-01 00:00:10', 0), ('2026-02-02 00:00:10', 0) ON CONFLICT DO NOTHING RETURNING xmax, ts;
-- with columns that are given, generated, or set by triggers, and constraints
ALTER TABLE w ADD COLUMN twice float8 GENERATED ALWAYS AS (v * 2) STORED, ADD CHECK (v > -1000000);
CREATE FUNCTION add_note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN new.note := coalesce(new.note, '') || '!'; RETURN new; END $$;
CREATE TRIGGER add_note BEFORE INSERT OR UPDATE ON w FOR EACH ROW EXECUTE FUNCTION add_note();
INSERT INTO w VALUES ('2026-01-01 00:00:10', 0, 1, 'x'), ('2026-01-01 00:00:11', 0, 2, 'y'), ('2026-03-01', 0, 3, NULL)
	ON CONFLICT (host, ts) DO UPDATE SET v = excluded.v, note = excluded.note RETURNING xmax = 0 AS inserted, twice, note, v;
INSERT INTO w VALUES ('2026-01-01 00:00:10', 0, -2000000) ON CONFLICT (host, ts) DO UPDATE SET v = excluded.v RETURNING xmax = 0 AS inserted;
INSERT INTO w VALUES (NULL, 0, 1) RETURNING xmax = 0 AS inserted;
DROP TRIGGER add_note ON w;
-- whole rows, and a cursor
INSERT INTO w VALUES ('2026-01-01 00:00:12', 0, 1, 'x') RETURNING xmax, (w).v, w IS NULL AS empty;
DO $$
DECLARE r record; n int := 0;
BEGIN
	FOR r IN EXECUTE 'INSERT INTO w SELECT ts, host, 5, ''do'' FROM w WHERE host = 2 AND ts < ''2026-01-01 00:10'' ON CONFLICT (host, ts) DO UPDATE SET note = excluded.note RETURNING xmax, note' LOOP
		n := n + (r.xmax::text <> '0' AND r.note = 'do')::int;
	END LOOP;
	RAISE INFO '% rows', n;
END $$;
-- row security, a view, and a row that two statements of one transaction put in
CREATE VIEW v AS SELECT ts, host, v FROM w WHERE host = 0 WITH CHECK OPTION;
INSERT INTO v VALUES ('2026-01-01 00:00:12', 0, 9), ('2026-01-01 00:00:13', 0, 9) ON CONFLICT (host, ts) DO UPDATE SET v = excluded.v RETURNING v;
BEGIN;
INSERT INTO w VALUES ('2026-04-01', 1, 1, 'x') ON CONFLICT (host, ts) DO UPDATE SET v = excluded.v RETURNING xmax = 0 AS inserted;
INSERT INTO w VALUES ('2026-04-01', 1, 2, 'x') ON CONFLICT (host, ts) DO UPDATE SET v = excluded.v RETURNING xmax = 0 AS inserted;
ROLLBACK;
-- a statement that cannot, as in PostgreSQL: sorted by what it does not insert
INSERT INTO w SELECT '2026-05-01'::timestamptz + i * interval '1 s', i, i, 'x' FROM generate_series(1, 3) AS i ORDER BY -i RETURNING note;
\set VERBOSITY sqlstate
INSERT INTO w SELECT '2026-05-01'::timestamptz + i * interval '1 s', i, i, 'x' FROM generate_series(4, 6) AS i ORDER BY -i RETURNING xmax;
\set VERBOSITY default
-- a table that has changed since the statement was planned
ALTER TABLE w DROP COLUMN note;
EXECUTE put_w('2026-01-01 00:00:00', 0, -1);
DEALLOCATE put_w;
INSERT INTO w (ts, host, v) VALUES ('2026-01-01 00:00:14', 0, 1), ('2026-06-01', 0, 1), ('2026-01-01 00:00:00', 0, 5) ON CONFLICT (host, ts) DO UPDATE SET v = excluded.v RETURNING xmax = 0 AS inserted, v;
SELECT * FROM strata.verify('u');
SELECT * FROM strata.verify('w');
DROP VIEW v;
DROP TABLE u, w;
DROP FUNCTION add_note;
