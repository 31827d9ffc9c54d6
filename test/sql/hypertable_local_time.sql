-- Conditions on dates, truncated and local times of a hypertable's time leave
-- out no row, whatever zone the session has when a plan is made, or runs.
SET client_min_messages = error;
SET TimeZone = 'UTC';
CREATE ROLE local_time_owner;
GRANT local_time_owner TO CURRENT_USER;
CREATE SCHEMA local_time AUTHORIZATION local_time_owner;
SET ROLE local_time_owner;
SET search_path = local_time, public;
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

-- rows that heap has and the hypertable has not, or the other way round: planned in one zone, run in another
CREATE FUNCTION different(name text, condition text, zone text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE other bigint; mine bigint; own text := current_setting('TimeZone'); result bigint := 0;
BEGIN
	EXECUTE format('PREPARE mine AS SELECT count(*) * 1000003 + coalesce(sum(id), 0) FROM %I WHERE %s', name, condition);
	EXECUTE format('PREPARE other AS SELECT count(*) * 1000003 + coalesce(sum(id), 0) FROM heap_%s WHERE %s', name, condition);
	FOR i IN 1 .. 2 LOOP
		EXECUTE 'EXECUTE mine' INTO mine;
		EXECUTE 'EXECUTE other' INTO other;
		result := result + (mine <> other)::int;
		PERFORM set_config('TimeZone', zone, true);
	END LOOP;
	PERFORM set_config('TimeZone', own, true);
	DEALLOCATE mine;
	DEALLOCATE other;
	RETURN result;
END $$;
SET plan_cache_mode = force_generic_plan;
SET TimeZone = 'America/Sao_Paulo';
SELECT f, op, sum(different('z', format(f, op, x), 'Pacific/Apia')) AS different
FROM unnest('{ts::date %s %L, (ts AT TIME ZONE ''America/Sao_Paulo'')::date %s %L, ts AT TIME ZONE ''Europe/Berlin'' %s %L, "date_trunc(''day'', ts) %s %L", "date_trunc(''hour'', ts, ''Pacific/Apia'')::timestamp %s %L"}'::text[]) f,
	unnest('{<, <=, =, >=, >}'::text[]) op,
	unnest('{2011-12-30, 2011-12-31, 2018-02-17, 2018-02-18, 2018-11-04, 2018-11-05, 2026-03-29, 2026-03-30, 2026-10-25, 2026-10-26}'::text[]) x
GROUP BY f, op ORDER BY f, op;
SET TimeZone = 'Pacific/Apia';
SELECT f, sum(different('l', format(f, op, x), 'Europe/Berlin')) AS local, sum(different('d', format(f, op, x), 'Europe/Berlin')) AS dates
FROM unnest('{ts::timestamptz %s %L, "date_trunc(''month'', ts::timestamptz) %s %L", ts::timestamp AT TIME ZONE ''America/Sao_Paulo'' %s %L}'::text[]) f,
	unnest('{<, <=, =, >=, >}'::text[]) op,
	unnest('{2011-12-29 10:00Z, 2011-12-30 10:00Z, 2011-12-31 10:00Z, 2018-02-18 02:00Z, 2018-11-04 03:00Z, 2026-03-01Z}'::timestamptz[]) x
GROUP BY f ORDER BY f;
-- values that no time may be near raise no error, as they do not in a heap
SELECT different('z', format('ts::date %s %L', op, x), 'UTC') FROM unnest('{<, =, >}'::text[]) op, unnest('{5874897-12-31, 4713-01-01 BC, infinity, -infinity}'::date[]) x;
RESET plan_cache_mode;
RESET ROLE;
DROP SCHEMA local_time CASCADE;
DROP ROLE local_time_owner;
