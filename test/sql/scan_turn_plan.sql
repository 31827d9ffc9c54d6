-- Rows of an ordered scan are tried in their turn: LIMIT has none tried that
-- come behind its last row, and none of these raises its error.
SET timezone = 'UTC';
SET jit = off;
SET client_min_messages = error;
SET strata.enable_top_n = off;
SET enable_sort = off;

CREATE TABLE scan_turn (ts timestamptz NOT NULL, host text, n int) USING strata WITH (strata.segmentby = 'host', strata.orderby = 'ts DESC');
INSERT INTO scan_turn SELECT timestamptz '2026-01-01' + i * interval '1 s', 'host_' || i % 40, i FROM generate_series(1, 20000) i;
SELECT compress_chunk('scan_turn');
ANALYZE scan_turn;

CREATE SEQUENCE scan_turn_tried;
CREATE FUNCTION scan_turn_passes(n int) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
	PERFORM nextval('scan_turn_tried');
	RETURN n % 50 = 7 AND 1 / (n / 15000) > 0;
END $$;

EXPLAIN (COSTS OFF) SELECT ts, host, n FROM scan_turn WHERE scan_turn_passes(n) ORDER BY ts DESC LIMIT 10;
SELECT ts, host, n FROM scan_turn WHERE scan_turn_passes(n) ORDER BY ts DESC LIMIT 10;
SELECT last_value = (SELECT count(*) FROM scan_turn WHERE n >= 19507) AS in_turn FROM scan_turn_tried;

-- the other direction, of another order than the batches', and with late rows
SELECT setval('scan_turn_tried', 1, false);
SELECT ts, n FROM scan_turn WHERE n > 15000 AND scan_turn_passes(n) ORDER BY ts LIMIT 3;
SELECT last_value = 107 AS in_turn FROM scan_turn_tried;
INSERT INTO scan_turn VALUES ('2026-01-01 05:32:00.5', 'host_late', 19957), ('2026-01-01 05:31:00.5', 'host_3', 19907);
SELECT ts, host, n FROM scan_turn WHERE scan_turn_passes(n) ORDER BY ts DESC LIMIT 4;
-- one behind the last of LIMIT, and a batch is tried to its end
SELECT ts, host, n FROM scan_turn WHERE host IN ('host_7', 'host_17', 'host_27') AND n % 1000 = 7 ORDER BY ts DESC OFFSET 16;
SELECT ts FROM scan_turn WHERE n > 19800 AND scan_turn_passes(n) ORDER BY ts;
DROP TABLE scan_turn;
DROP FUNCTION scan_turn_passes;
DROP SEQUENCE scan_turn_tried;
