-- Which windows tell scans how many rows of each group they want.
SET client_min_messages = error;
SET enable_seqscan = off;
SET enable_sort = off;
CREATE TABLE sp (ts int NOT NULL, host text, rack int, v float8) USING strata WITH (strata.segmentby = 'host, rack', strata.orderby = 'ts DESC');
INSERT INTO sp SELECT i, 'h' || i % 5, i % 3, i FROM generate_series(1, 5000) AS i;
SELECT compress_chunk('sp') IS NOT NULL AS compressed;
ANALYZE sp;
CREATE FUNCTION sp_limit(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		IF line ~ 'Rows of Each Group' THEN
			RETURN trim(line);
		END IF;
	END LOOP;
	RETURN 'all rows';
END $$;
SELECT w, n, sp_limit(format('SELECT * FROM (SELECT ts, host, rack, %s AS n FROM sp) AS x WHERE %s', w, n)) FROM (VALUES ('row_number() OVER (PARTITION BY host, rack ORDER BY ts DESC)', 'n <= 3'), ('row_number() OVER (PARTITION BY host, rack ORDER BY ts DESC)', 'n = 1'), ('row_number() OVER (PARTITION BY host, rack ORDER BY ts)', '7 > n'),
	('row_number() OVER (PARTITION BY host ORDER BY rack, ts)', 'n < 3 AND n < 9'), ('row_number() OVER (PARTITION BY host, rack ORDER BY ts DESC)', 'n > 3'), ('rank() OVER (PARTITION BY host, rack ORDER BY ts DESC)', 'n <= 3'), ('row_number() OVER (ORDER BY host, rack, ts)', 'n <= 3'),
	('row_number() OVER (PARTITION BY v ORDER BY ts)', 'n <= 3'), ('count(*) OVER (PARTITION BY host, rack), row_number() OVER (PARTITION BY host, rack ORDER BY ts DESC)', 'n <= 3')) AS q(w, n);
SET strata.enable_window_limit = off;
SELECT sp_limit('SELECT * FROM (SELECT ts, host, rack, row_number() OVER (PARTITION BY host, rack ORDER BY ts DESC) AS n FROM sp) AS x WHERE n <= 3');
DROP FUNCTION sp_limit;
DROP TABLE sp;
