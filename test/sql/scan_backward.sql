-- Cursors going back and forth over both halves: the rows seen are those of one
-- forward pass, wherever the cursor turns.
SET client_min_messages = error;
SET jit = off;

CREATE TABLE scan_back (id int, k text, v int) USING strata;
SET strata.batch_rows = 50;
ALTER TABLE scan_back SET (strata.segmentby = 'k', strata.orderby = 'id');
INSERT INTO scan_back SELECT g, 'k' || g % 3, g % 5 FROM generate_series(1, 500) g;
SELECT compress_chunk('scan_back');
ALTER TABLE scan_back SET (strata.segmentby = '', strata.orderby = 'v');
INSERT INTO scan_back SELECT g, 'k' || g % 3, g % 5 FROM generate_series(501, 800) g;
SELECT compress_chunk('scan_back');
ALTER TABLE scan_back SET (strata.segmentby = 'k', strata.orderby = 'id');
INSERT INTO scan_back SELECT g, 'k' || g % 3, g % 5 FROM generate_series(801, 900) g;
SELECT compress_chunk('scan_back');
INSERT INTO scan_back SELECT g, 'k' || g % 3, g % 5 FROM generate_series(901, 1000) g;
CREATE INDEX ON scan_back (id);
ANALYZE scan_back;

-- Walks a cursor at random; returns the number of rows and of wrong ones seen.
CREATE FUNCTION scan_walk(query text, seed float8, steps int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	c refcursor;
	rows int[];
	n int;
	pos int := 0;
	hops int;
	dice int;
	seen int;
	want int;
	wrong int := 0;
BEGIN
	PERFORM setseed(seed);
	EXECUTE 'SELECT array_agg(id) FROM (' || query || ') x' INTO rows;
	n := coalesce(array_length(rows, 1), 0);
	OPEN c SCROLL FOR EXECUTE query;
	FOR i IN 1 .. steps LOOP
		dice := floor(random() * 8);
		hops := CASE WHEN dice < 6 THEN 1 + floor(random() * 6) ELSE 1 END;
		FOR j IN 1 .. hops LOOP
			IF dice < 3 THEN
				FETCH NEXT FROM c INTO seen;
				pos := least(pos + 1, n + 1);
			ELSIF dice < 6 THEN
				FETCH PRIOR FROM c INTO seen;
				pos := greatest(pos - 1, 0);
			ELSIF dice = 6 THEN
				FETCH LAST FROM c INTO seen;
				pos := n;
			ELSE
				pos := 1 + floor(random() * (n + 1));
				FETCH ABSOLUTE pos FROM c INTO seen;
			END IF;
			want := CASE WHEN pos BETWEEN 1 AND n THEN rows[pos] END;
			wrong := wrong + (seen IS DISTINCT FROM want)::int;
		END LOOP;
	END LOOP;
	CLOSE c;
	RETURN format('%s rows, %s wrong', n, wrong);
END $$;

SELECT scan_walk('SELECT id FROM scan_back', 0.1, 300);
SELECT scan_walk('SELECT id FROM scan_back WHERE k = ''k1''', 0.2, 300);
SELECT scan_walk('SELECT id FROM scan_back WHERE v >= 2 AND id % 3 = 1', 0.3, 300);
SELECT scan_walk('SELECT id FROM scan_back WHERE id BETWEEN 450 AND 950', 0.4, 300);
SELECT scan_walk('SELECT id FROM scan_back WHERE id < 0', 0.5, 50);
SELECT scan_walk('SELECT id FROM scan_back ORDER BY id', 0.6, 300);
-- the row store through an index
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT scan_walk('SELECT id FROM scan_back WHERE id BETWEEN 450 AND 950', 0.4, 300);
SELECT scan_walk('SELECT id FROM scan_back WHERE id BETWEEN 950 AND 960', 0.4, 300);
RESET enable_seqscan;
-- the batches through an index
SET random_page_cost = 0.01;
SET cpu_index_tuple_cost = 0.00001;
SELECT scan_walk('SELECT id FROM scan_back WHERE k = ''k1''', 0.2, 300);
SELECT scan_walk('SELECT id FROM scan_back WHERE k = ''k1'' AND v = 3', 0.7, 300);
SELECT scan_walk('SELECT id FROM scan_back WHERE k IN (''k0'', ''k2'') AND id < 700', 0.8, 300);

-- as on heap, no SCROLL is needed where the plan can go back
BEGIN;
DECLARE c CURSOR FOR SELECT count(*) OVER () FROM scan_back WHERE id < 0;
FETCH BACKWARD 1 FROM c;
ROLLBACK;
BEGIN;
DECLARE c CURSOR FOR SELECT k FROM scan_back WHERE id > 890 AND k = 'k1';
FETCH 1 FROM c;
MOVE 35 FROM c;
FETCH BACKWARD 1 FROM c;
MOVE BACKWARD ALL FROM c;
FETCH 1 FROM c;
UPDATE scan_back SET v = -1 WHERE CURRENT OF c;
FETCH LAST FROM c;
DELETE FROM scan_back WHERE CURRENT OF c;
SELECT count(*), min(v) FROM scan_back;
ROLLBACK;

DROP FUNCTION scan_walk;
DROP TABLE scan_back;
