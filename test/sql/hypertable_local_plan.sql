-- Conditions on dates, truncated and local times of a hypertable's time prune chunks.
SET client_min_messages = error;
SET TimeZone = 'UTC';
CREATE ROLE local_plan_owner;
GRANT local_plan_owner TO CURRENT_USER;
CREATE SCHEMA local_plan AUTHORIZATION local_plan_owner;
SET ROLE local_plan_owner;
SET search_path = local_plan, public;
CREATE TABLE z (ts timestamptz NOT NULL, id int);
CREATE TABLE l (ts timestamp NOT NULL, id int);
CREATE TABLE d (ts date NOT NULL, id int);
CREATE TABLE heap_z (LIKE z);
CREATE TABLE heap_l (LIKE l);
CREATE TABLE heap_d (LIKE d);
SELECT count(h.created) FROM unnest('{z, l, d}'::regclass[]) t, create_hypertable(t, 'ts', chunk_time_interval => interval '1 day', create_default_indexes => false) h;
-- a day that was none on Samoa, midnights that were skipped and shown twice in São Paulo, clocks of Europe forward and back
INSERT INTO heap_z SELECT x + i * interval '30 minutes' + i % 7 * interval '500 ms', i
FROM unnest('{2011-12-28Z, 2018-02-16Z, 2018-11-02Z, 2026-03-27Z, 2026-10-23Z}'::timestamptz[]) x, generate_series(0, 48 * 5 - 1) i;
INSERT INTO heap_z SELECT '2026-05-01 12:00Z'::timestamptz + i * interval '1 day', i FROM generate_series(0, 29) i;
INSERT INTO heap_l SELECT ts, id FROM heap_z;
INSERT INTO heap_d SELECT DISTINCT ON (ts::date) ts, id FROM heap_z ORDER BY ts::date, id;
INSERT INTO z SELECT * FROM heap_z WHERE id % 10 <> 3;
INSERT INTO l SELECT * FROM heap_l WHERE id % 10 <> 3;
INSERT INTO d SELECT * FROM heap_d;
SELECT count(compress_chunk(c)) FROM unnest('{z, l}'::regclass[]) t, show_chunks(t) c;
INSERT INTO z SELECT * FROM heap_z WHERE id % 10 = 3;
INSERT INTO l SELECT * FROM heap_l WHERE id % 10 = 3;

-- chunks in the plan, and of these removed when the query starts
CREATE FUNCTION chunks(condition text, name text DEFAULT 'z') RETURNS text LANGUAGE plpgsql AS $$
DECLARE line text; n int := 0; removed int := 0;
BEGIN
	FOR line IN EXECUTE format('EXPLAIN (COSTS OFF) SELECT * FROM %I WHERE %s', name, condition) LOOP
		IF line ~ ' on [zld]_\d+(_\d+)?_chunk' THEN n := n + 1; END IF;
		removed := removed + coalesce(substring(line FROM 'Subplans Removed: (\d+)')::int, 0);
	END LOOP;
	RETURN format('%s of %s', n, n + removed);
END $$;
SELECT count(*) FROM show_chunks('z');
SELECT c, chunks(c) FROM unnest(ARRAY[
	'ts::date = ''2018-02-18''',
	'''2018-02-18'' = ts::date',
	'ts::date IN (''2018-02-17'', ''2018-02-18'')',
	'ts::date BETWEEN ''2018-01-01'' AND ''2018-12-31''',
	'ts::date < ''2012-01-01''',
	'date_trunc(''day'', ts) = ''2018-02-18''',
	'date_trunc(''hour'', ts) = ''2018-02-18 10:00Z''',
	'date_trunc(''month'', ts) >= ''2026-09-01''',
	'date_trunc(''day'', ts, ''Asia/Tokyo'') = ''2018-02-18''',
	'date_trunc(''day'', ts) = date ''2018-02-18''',
	'(ts AT TIME ZONE ''Asia/Tokyo'')::date = ''2018-02-18''',
	'ts AT TIME ZONE ''Asia/Tokyo'' < ''2011-12-29 09:00''',
	'(ts - interval ''6 hours'')::date = ''2018-02-18''',
	'ts - interval ''6 hours'' >= ''2026-10-26Z''',
	'extract(year FROM ts) = 2018',
	'date_part(''year'', ts) > 2018',
	'extract(year FROM ts AT TIME ZONE ''Asia/Tokyo'') BETWEEN 2012 AND 2018',
	'ts::date = current_date',
	'ts::date >= current_date - interval ''1 year'' AND ts::date < ''2018-01-01''',
	-- some at the start: under the session's zone of then
	'ts::date = ''2026-05-15''',
	'ts::timestamp < ''2026-05-15 10:00'' AND ts::timestamp >= ''2026-05-14''',
	-- nothing is known of these
	'NOT ts::date = ''2018-02-18''',
	'ts::date <> ''2018-02-18''',
	'ts::date = ''infinity''',
	'date_trunc(''decade'', ts) = ''2010-01-01''',
	'extract(year FROM ts) = 2018.5',
	'extract(month FROM ts) = 2',
	'ts + interval ''1 month'' = ''2018-03-18''',
	'ts::date = ''2018-02-18'' OR id = 3']) WITH ORDINALITY AS c (c, n) ORDER BY n;
SELECT c, chunks(c, 'l') FROM unnest(ARRAY[
	'ts::date = ''2018-02-18''',
	'date_trunc(''week'', ts) = ''2018-02-12''',
	'ts::timestamptz = ''2018-02-18Z''',
	'ts AT TIME ZONE ''Asia/Tokyo'' >= ''2026-10-26Z''',
	'extract(year FROM ts) <= 2011']) WITH ORDINALITY AS c (c, n) ORDER BY n;
SELECT c, chunks(c, 'd') FROM unnest(ARRAY[
	'ts + 3 = ''2018-02-20''',
	'ts::timestamp < ''2012-01-01''',
	'date_trunc(''month'', ts) = ''2018-02-01''',
	'extract(year FROM ts) = 2011']) WITH ORDINALITY AS c (c, n) ORDER BY n;
-- through subqueries and joins; parameters of a plan made for them
SELECT chunks('(ts, 1) IN (SELECT ts, 1 FROM z x WHERE ts::date = ''2018-02-18'') AND id = 1');
PREPARE of_day(date) AS SELECT count(*) FROM z WHERE ts::date = $1;
CREATE FUNCTION plan_of(call text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || call LOOP
		line := substring(line FROM ' on (z_\d+_chunk)');
		IF line IS NOT NULL THEN RETURN NEXT line; END IF;
	END LOOP;
END $$;
SELECT * FROM plan_of('EXECUTE of_day(''2018-02-18'')');
SET plan_cache_mode = force_generic_plan;
SELECT count(*) FROM plan_of('EXECUTE of_day(''2018-02-18'')');
RESET plan_cache_mode;
SET strata.enable_time_pruning = off;
SELECT chunks('ts::date = ''2018-02-18''');
RESET strata.enable_time_pruning;

RESET ROLE;
DROP SCHEMA local_plan CASCADE;
DROP ROLE local_plan_owner;
