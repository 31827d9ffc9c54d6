-- Chunks of a hypertable by UUID are pruned by boundaries, of now() while a query is planned.
SET timezone = 'UTC';
CREATE TABLE event (id uuid NOT NULL, v int);
SELECT created FROM create_hypertable('event', 'id', chunk_time_interval => interval '1 day', create_default_indexes => false);
INSERT INTO event SELECT to_uuidv7(t), 1 FROM generate_series(timestamptz '2026-03-01', '2026-03-04', '1 hour') t;
EXPLAIN (COSTS OFF) SELECT count(*) FROM event WHERE id >= to_uuidv7_boundary('2026-03-02 12:00+00') AND id < to_uuidv7_boundary('2026-03-03 00:00+00');
CREATE FUNCTION nchunks(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE line text; n bigint := 0;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		n := n + (line ~ ' on event_')::int + 1000 * (line ~ 'Subplans Removed')::int;
	END LOOP;
	RETURN n;
END $$;
-- all are past but one, which is made now; more than 1000: some were removed as late as in the executor
INSERT INTO event VALUES (generate_uuidv7(), 1);
SELECT nchunks('SELECT * FROM event') AS all_chunks, nchunks('SELECT * FROM event WHERE id > to_uuidv7_boundary(now() - interval ''3 hours'')') AS recent,
	nchunks('SELECT * FROM event WHERE to_uuidv7_boundary(now() - interval ''3 hours'') <= id') AS swapped, nchunks('SELECT * FROM event WHERE id < to_uuidv7_boundary(now() - interval ''30 hours'')') AS older;
SELECT count(*) FROM event WHERE id > to_uuidv7_boundary(now() - interval '3 hours');
DROP TABLE event;
DROP FUNCTION nchunks;
