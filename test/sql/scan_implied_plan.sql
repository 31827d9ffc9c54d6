-- What is left of conditions where a chunk's bounds imply them, and what comparisons of rows prune; see scan_implied.sql.
SET client_min_messages = warning;
SET timezone = 'UTC';
CREATE TABLE imp (time timestamptz NOT NULL, id int);
SELECT created FROM create_hypertable('imp', 'time', chunk_time_interval => interval '12 hours', create_default_indexes => false);
ALTER TABLE imp SET (strata.segmentby = '', strata.orderby = 'time');
INSERT INTO imp SELECT timestamptz '2024-01-01 00:00Z' + g * interval '18 seconds', g FROM generate_series(0, 9599) g;
SELECT count(compress_chunk(c)) FROM show_chunks('imp') c;
CREATE INDEX ON imp (time DESC);
INSERT INTO imp SELECT timestamptz '2024-01-01 00:00Z' + g * interval '18 seconds', g FROM generate_series(0, 9599, 10) g;
ANALYZE imp;
CREATE FUNCTION imp_plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
        IF line ~ '->.* on imp_|^ *Filter|Later|Rows From Row Store|By Index' THEN RETURN NEXT regexp_replace(trim(line), 'rows=(\d+)\.00', 'rows=\1'); END IF;
    END LOOP;
END $$;
SELECT imp_plan('SELECT count(id + 0) FROM imp WHERE time >= ''2024-01-01 06:00Z'' AND time < ''2024-01-02 18:00Z'' AND id % 2 = 0');
SELECT imp_plan('SELECT * FROM imp WHERE (time, id) < (''2024-01-01 18:00Z'', 3) ORDER BY time DESC, id DESC LIMIT 5');
SELECT imp_plan('SELECT count(id + 0) FROM imp WHERE (time, id) >= (''2024-01-02 00:00Z'', 0)');
SET strata.enable_time_pruning = off;
SELECT imp_plan('SELECT count(id + 0) FROM imp WHERE (time, id) >= (''2024-01-02 00:00Z'', 0)');
RESET strata.enable_time_pruning;
DROP TABLE imp;
DROP FUNCTION imp_plan;
