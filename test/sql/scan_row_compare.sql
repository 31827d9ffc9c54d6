-- (a, b) < (x, y), as pages of a list ask: batches are pruned by it, and rows are those of heap; NULL, NaN, zeros, types of their own, parameters.
SET client_min_messages = error;
SET timezone = 'UTC';
CREATE TABLE st (ts timestamptz, host text COLLATE "C", n int, x float8, note text, l timestamp) USING strata WITH (strata.segmentby = 'host', strata.orderby = 'ts DESC');
CREATE TABLE st_heap (LIKE st) USING heap;
INSERT INTO st_heap SELECT CASE WHEN i % 61 > 0 THEN timestamptz '2026-01-01' + i / 3 * interval '1 minute' END, 'host_' || i % 7, nullif(i % 40, 11), CASE i % 9 WHEN 1 THEN float8 'NaN' WHEN 2 THEN '-0' WHEN 3 THEN 0 WHEN 4 THEN NULL WHEN 5 THEN 'Infinity' ELSE i % 5 END,
	nullif('n' || i % 50, 'n3'), timestamp '2026-01-01' + i / 4 * interval '1 minute' FROM generate_series(0, 6999) i;
INSERT INTO st SELECT * FROM st_heap WHERE n % 20 <> 3 OR n IS NULL;
SELECT count(compress_chunk('st')) FROM (SELECT) s;
INSERT INTO st SELECT * FROM st_heap WHERE n % 20 = 3;
ANALYZE st;

CREATE FUNCTION differences() RETURNS TABLE (query text, strata bigint) LANGUAGE plpgsql AS $$
DECLARE
	op text;
	pair text;
	no text;
	q text;
BEGIN
	FOREACH op IN ARRAY ARRAY['<', '<=', '>', '>='] LOOP
		FOREACH pair IN ARRAY ARRAY['(ts, host) @ (''2026-01-01 20:00+00'', ''host_3'')', '(ts, n, x) @ (''2026-01-01 20:00+00'', 12, 0)', '(n, x) @ (12, ''NaN'')', '(x, n) @ (0, 12)', '(x, ts) @ (''NaN'', ''2026-01-02'')', '(n, note) @ (12, ''n30'')',
			'(ts, n) @ (''2026-01-01 20:00+00'', NULL)', '(n, ts) @ (NULL, ''2026-01-02'')', '(ts, l) @ (timestamp ''2026-01-01 20:00'', timestamptz ''2026-01-01 12:00+00'')', '(n, n) @ (5::bigint, 6::smallint)', '(n, host) @ (n + 1, ''host_3'')',
			'(host, ts) @ (''host_3'', ''2026-01-01 20:00+00'')', '(ts, random()) @ (''2026-01-01 20:00+00'', 2.0)', '(10, ts) @ (n, ''2026-01-02'')', '(l, ts) @ (date ''2026-01-02'', date ''2026-01-02'')', '(upper(note), n) @ (''N30'', 7)', '(note COLLATE "C", ts) @ (''n30'', ''2026-01-02'')']
		LOOP
			FOREACH no IN ARRAY ARRAY['', 'NOT ', 'n < 30 AND ', 'n < 3 OR '] LOOP
				q := 'SELECT count(*), sum(hashtextextended(t::text, 0)::numeric) FROM t WHERE ' || no || replace(pair, '@', op);
				query := q;
				EXECUTE 'SELECT count(*) FROM (' || replace(q, 'FROM t ', 'FROM st AS t ') || ' EXCEPT ' || replace(q, 'FROM t ', 'FROM st_heap AS t ') || ') d' INTO strata;
				RETURN NEXT;
			END LOOP;
		END LOOP;
	END LOOP;
END $$;
SELECT count(*), sum(strata) FROM differences();
SELECT query FROM differences() WHERE strata <> 0;

-- pages, in both directions, with parameters
PREPARE page(timestamptz, text) AS SELECT ts, host, n FROM st WHERE (ts, host) < ($1, $2) ORDER BY ts DESC, host DESC LIMIT 3;
PREPARE heap_page(timestamptz, text) AS SELECT ts, host, n FROM st_heap WHERE (ts, host) < ($1, $2) ORDER BY ts DESC, host DESC LIMIT 3;
SET plan_cache_mode = force_generic_plan;
EXECUTE page('2026-01-01 20:00+00', 'host_3');
EXECUTE heap_page('2026-01-01 20:00+00', 'host_3');
EXECUTE page('2026-01-01 20:00+00', NULL);
EXECUTE heap_page('2026-01-01 20:00+00', NULL);
EXECUTE page(NULL, 'host_3');
SELECT ts, host, n FROM st WHERE (ts, host) > ('2026-01-01 20:00+00', 'host_3') ORDER BY ts, host LIMIT 3;
SELECT ts, host, n FROM st_heap WHERE (ts, host) > ('2026-01-01 20:00+00', 'host_3') ORDER BY ts, host LIMIT 3;
DROP FUNCTION differences;
DROP TABLE st, st_heap;
