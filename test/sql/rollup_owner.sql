-- A view or its table is given to somebody else: who asks the table hears nothing that the owner of the archive has written.
SET client_min_messages = warning;
\set VERBOSITY terse
CREATE ROLE roow_one;
CREATE ROLE roow_two;
GRANT roow_one, roow_two TO CURRENT_USER;
GRANT CREATE, USAGE ON SCHEMA public TO roow_one, roow_two;
SET ROLE roow_one;
CREATE TABLE roow (time int NOT NULL, v int);
SELECT FROM create_hypertable('roow', 'time', chunk_time_interval => 100);
INSERT INTO roow SELECT i, 1 FROM generate_series(0, 999) i;
CREATE MATERIALIZED VIEW roow_v WITH (strata.continuous) AS SELECT time_bucket(10, time) AS b, count(*) AS n, sum(v) AS s FROM roow GROUP BY 1 WITH NO DATA;
GRANT SELECT ON roow TO roow_two;
GRANT SELECT ON roow_v TO PUBLIC;
CREATE FUNCTION roow_source() RETURNS text LANGUAGE plpgsql SET strata.enable_archive_rewrite = on AS $$
DECLARE line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN SELECT sum(v), count(*) FROM roow' LOOP
		IF line LIKE 'Archive:%' THEN RETURN 'archive'; END IF;
	END LOOP;
	RETURN 'rows';
END $$;
CALL refresh_continuous_aggregate('roow_v', NULL, NULL);
SELECT roow_source();
-- what retention keeps, for a view of another owner's, who changes that
SELECT count(*) FROM drop_chunks('roow', older_than => 300);
ALTER TABLE roow SET (strata.read_archives);
SELECT sum(v), count(*) FROM roow;
RESET ROLE;
ALTER MATERIALIZED VIEW roow_v OWNER TO roow_two;
SELECT roow_source();
SET ROLE roow_two;
UPDATE roow_v_archive SET n = 666, s = 666;
SELECT relname, pg_get_userbyid(relowner) FROM pg_class WHERE relname IN ('roow', 'roow_v', 'roow_v_archive') ORDER BY 1;
-- his view says what he likes of what is gone, the table what is true
SELECT sum(n) > 10000 AS lies FROM roow_v;
SELECT sum(v), count(*) FROM roow;
SET ROLE roow_one;
SELECT sum(v), count(*) FROM roow;
SELECT sum(v), count(*) FROM roow WHERE time >= 300;
-- what the table's owner drops is kept for the view's owner
SELECT count(*) FROM drop_chunks('roow', older_than => 400);
UPDATE roow SET v = 2 WHERE time = 555;
RESET ROLE;
CALL refresh_continuous_aggregate('roow_v', NULL, NULL);
-- of one owner again: they are asked
ALTER MATERIALIZED VIEW roow_v OWNER TO roow_one;
SELECT roow_source();
SELECT sum(n) FROM roow_v WHERE b >= 300;
ALTER TABLE roow OWNER TO roow_two;
SELECT relname, pg_get_userbyid(relowner) FROM pg_class WHERE relname IN ('roow', 'roow_v', 'roow_v_archive') ORDER BY 1;
SELECT sum(v), count(*) FROM roow;
-- the view's owner may not read the table any more: an error, or a grant
SELECT count(*) FROM roow_v;
CALL refresh_continuous_aggregate('roow_v', NULL, NULL, true);
GRANT SELECT ON roow TO roow_one;
SELECT count(*) FROM roow_v;
-- an archive of who may do all that the table's owner may is as good as his own
GRANT roow_two TO roow_one;
SELECT roow_source();
REVOKE roow_two FROM roow_one;
SELECT sum(v), count(*) FROM roow;
DROP TABLE roow CASCADE;
DROP FUNCTION roow_source;
REVOKE ALL ON SCHEMA public FROM roow_one, roow_two;
DROP ROLE roow_one, roow_two;
