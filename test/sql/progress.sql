-- strata.progress: what is running, and when it may end
SET timezone = 'UTC';
SET strata.report_compression = off;
-- an index expression looks at the view while rows are restored
CREATE FUNCTION looked(i int) RETURNS int LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE p record;
BEGIN
	IF i = 3000 THEN
		SELECT * INTO p FROM strata.progress WHERE pid = pg_backend_pid();
		IF FOUND THEN
			RAISE NOTICE '%: % rows read, % written, of %; begun: %, end: %', p.phase, p.rows_read, p.rows_written, p.relid::regclass,
				p.started_at BETWEEN now() AND clock_timestamp(), p.estimated_end > p.started_at;
		END IF;
	END IF;
	RETURN i;
END $$;
CREATE TABLE t (i int) USING strata;
ALTER TABLE t SET (strata.orderby = 'i');
INSERT INTO t SELECT generate_series(1, 5000);
SELECT compress_chunk('t') IS NOT NULL AS compressed;
CREATE INDEX ON t (looked(i));
SELECT decompress_chunk('t') IS NOT NULL AS decompressed;
SELECT count(*) FROM strata.progress WHERE pid = pg_backend_pid();
DROP TABLE t;
DROP FUNCTION looked;
-- a fiftieth is too little to say; half of it takes as long again; more than was expected is near its end
SELECT done, expected, _strata.estimated_end('2026-01-01 00:00+00', done, expected, '2026-01-01 01:00+00') AS ends
	FROM (VALUES (0, 0), (0, 1000), (19, 1000), (20, 1000), (500, 1000), (750, 1000), (1000, 1000), (1100, 1000), (10, 0),
		(9223372036854775807, 9223372036854775807), (NULL, 1000)) v(done, expected);
