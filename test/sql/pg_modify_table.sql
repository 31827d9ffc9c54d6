-- An INSERT that is run in ModifyTable's place counts its rows, fires statement
-- triggers, and ends as one that PostgreSQL runs; with RETURNING it is run by PostgreSQL.
SET client_min_messages = notice;
CREATE TABLE pgm (ts timestamptz NOT NULL, v int);
SELECT created FROM create_hypertable('pgm', 'ts', chunk_time_interval => interval '1 day', create_default_indexes => false);
ALTER TABLE pgm SET (strata.direct_load = true);
INSERT INTO pgm SELECT '2026-01-01'::timestamptz + i * interval '1 min', i FROM generate_series(0, 4999) i;
DO $$ DECLARE n bigint; BEGIN INSERT INTO pgm SELECT ts, -v FROM pgm; GET DIAGNOSTICS n = ROW_COUNT; RAISE NOTICE '% rows', n; END $$;
WITH r AS (INSERT INTO pgm SELECT ts, 0 FROM pgm WHERE v = 7 RETURNING v) SELECT count(*) FROM r;
PREPARE load AS INSERT INTO pgm SELECT ts, $1 FROM pgm WHERE v BETWEEN 100 AND 102;
EXECUTE load(-10000);
EXECUTE load(-20000);
CREATE FUNCTION pgm_note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE '% %', TG_WHEN, TG_OP; RETURN NULL; END $$;
CREATE TRIGGER pgm_before BEFORE INSERT ON pgm FOR EACH STATEMENT EXECUTE FUNCTION pgm_note();
CREATE TRIGGER pgm_after AFTER INSERT ON pgm FOR EACH STATEMENT EXECUTE FUNCTION pgm_note();
INSERT INTO pgm SELECT '2026-02-01'::timestamptz + i * interval '1 min', i FROM generate_series(0, 999) i;
INSERT INTO pgm SELECT ts, 1 / (v - 500) FROM pgm WHERE ts >= '2026-02-01' AND v BETWEEN 0 AND 999;
SELECT count(*), sum(v) FROM pgm;
DROP TABLE pgm;
DROP FUNCTION pgm_note;
