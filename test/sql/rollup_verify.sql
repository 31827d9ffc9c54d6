-- verify() of a continuous aggregate: its archive is compared with what rows make, where it is up to date.
SET timezone = 'UTC';
SET strata.report_compression = off;
SET client_min_messages = warning;
CREATE TABLE rov (time timestamptz NOT NULL, host text, v int, f float8, x numeric);
SELECT FROM create_hypertable('rov', 'time', chunk_time_interval => interval '12 hours');
ALTER TABLE rov SET (strata.segmentby = 'host', strata.orderby = 'time');
INSERT INTO rov SELECT '2026-01-01'::timestamptz + i * interval '10 minutes', nullif('h' || i % 3, 'h2'), nullif(i % 50, 7), CASE i % 40 WHEN 0 THEN 'NaN' WHEN 1 THEN 'Infinity' ELSE i / 3.0 END, i FROM generate_series(0, 575) i;
SELECT count(compress_chunk(c)) FROM show_chunks('rov', older_than => timestamptz '2026-01-04') c;
CREATE MATERIALIZED VIEW rov_h WITH (strata.continuous) AS SELECT time_bucket('1 hour', time) AS b, host, sum(v) AS s, avg(f) AS a, stddev(f) AS d, last(v, time) AS l, histogram(f, 0, 10, 2) FILTER (WHERE f < 100) AS h, array_agg(v) FILTER (WHERE v < 3) AS arr FROM rov GROUP BY 1, 2;
CREATE MATERIALIZED VIEW rov_d WITH (strata.continuous) AS SELECT time_bucket('1 day', b) AS b, sum(s) AS s FROM rov_h GROUP BY 1;
SELECT * FROM strata.verify('rov_h');
SELECT * FROM strata.verify('rov_d');
-- it is about what is up to date
INSERT INTO rov VALUES ('2026-01-01 05:05', 'h1', 100, 1, 1);
SELECT * FROM strata.verify('rov_h');
CALL refresh_continuous_aggregate('rov_h', NULL, NULL);
SELECT count(compress_chunk(c)) > 0 AS compressed FROM show_chunks('rov_h') c;
SELECT * FROM strata.verify('rov_h');
-- rows that are not what they should be: behind the extension's back, as damage would be
SET ROLE postgres;
CREATE TABLE rov_cover AS SELECT * FROM _strata.rollup_cover;
RESET ROLE;
UPDATE rov_h_archive SET s = s + 1 WHERE b = '2026-01-01 03:00' AND host = 'h1';
UPDATE rov_h_archive SET sum_f = sum_f * (1 + 1e-12), count_f = NULL WHERE b = '2026-01-01 04:00' AND host IS NULL;
DELETE FROM rov_h_archive WHERE b = '2026-01-02 01:00' AND host = 'h0';
INSERT INTO rov_h_archive (b, host, s) VALUES ('2026-01-02 02:00', 'h7', 3);
SELECT count(*) FROM strata.verify('rov_h');
SET ROLE postgres;
INSERT INTO _strata.rollup_cover TABLE rov_cover EXCEPT TABLE _strata.rollup_cover;
RESET ROLE;
SELECT * FROM strata.verify('rov_h');
-- force mends it
CALL refresh_continuous_aggregate('rov_h', NULL, NULL, true);
SELECT * FROM strata.verify('rov_h');
-- small numbers are not near to others because they are small; sums that cancel out are what they come to
CREATE TABLE rov_f (t bigint NOT NULL, f float8, r float4);
SELECT FROM create_hypertable('rov_f', 't', chunk_time_interval => 100);
INSERT INTO rov_f SELECT i, i * 1e-10, i * 1e-9 FROM generate_series(0, 199) i;
INSERT INTO rov_f SELECT i, (i % 20 - 9.5) * 1e7 / 3, (i % 20 - 9.5) * 1e3 / 3 FROM generate_series(200, 399) i;
INSERT INTO rov_f SELECT i, 0.1, 0.1 FROM generate_series(400, 599) i;
CREATE MATERIALIZED VIEW rov_fh WITH (strata.continuous) AS SELECT time_bucket(20, t) AS b, sum(f) AS s, sum(r) AS sr, min(f) AS m, stddev(f) AS d, regr_slope(f, r) AS g, array_agg(f ORDER BY t) AS arr FROM rov_f GROUP BY 1;
-- added the other way round
SELECT count(compress_chunk(c)) FROM show_chunks('rov_f') c;
SELECT * FROM strata.verify('rov_fh');
SET ROLE postgres;
CREATE TABLE rov_cover_f AS SELECT * FROM _strata.rollup_cover;
RESET ROLE;
SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'rov_fh_archive'::regclass AND attnum > 0 ORDER BY attnum;
DO $$
DECLARE
	c name;
	i int := 0;
BEGIN
	FOR c IN SELECT attname FROM pg_attribute WHERE attrelid = 'rov_fh_archive'::regclass AND attnum > 1 AND atttypid = ANY (ARRAY['float8', 'float4', 'float8[]']::regtype[]) ORDER BY attnum LOOP
		EXECUTE format(CASE WHEN c ~ 'state|arr' THEN 'UPDATE rov_fh_archive SET %1$I[2] = %1$I[2] * 1.01 WHERE b = %2$s' ELSE 'UPDATE rov_fh_archive SET %1$I = %1$I * 1.01 WHERE b = %2$s' END, c, 20 + i % 8 * 20);
		i := i + 1;
	END LOOP;
END $$;
SET ROLE postgres;
INSERT INTO _strata.rollup_cover TABLE rov_cover_f EXCEPT TABLE _strata.rollup_cover;
RESET ROLE;
SELECT column_name, split_part(problem, ':', 1) AS place FROM strata.verify('rov_fh') ORDER BY 1;
-- for its owner; what is kept of rows that are gone is not compared
CREATE ROLE rov_other;
GRANT rov_other TO CURRENT_USER;
GRANT SELECT ON rov_h, rov_d TO rov_other;
SET ROLE rov_other;
SELECT * FROM strata.verify('rov_h');
RESET ROLE;
DROP MATERIALIZED VIEW rov_d;
DROP MATERIALIZED VIEW rov_h;
CREATE MATERIALIZED VIEW rov_h WITH (strata.continuous) AS SELECT time_bucket('1 hour', time) AS b, host, sum(v) AS s FROM rov GROUP BY 1, 2;
SELECT drop_chunks('rov', older_than => timestamptz '2026-01-02');
SELECT * FROM strata.verify('rov_h');
-- integers, a zone, date; a transaction's own changes
CREATE TABLE rov_i (t bigint NOT NULL, v int);
SELECT FROM create_hypertable('rov_i', 't', chunk_time_interval => 100);
INSERT INTO rov_i SELECT i, i FROM generate_series(-500, 500) i;
CREATE MATERIALIZED VIEW rov_ih WITH (strata.continuous) AS SELECT time_bucket(7, t) AS b, avg(v) AS a FROM rov_i GROUP BY 1;
BEGIN;
UPDATE rov_i SET v = v + 1;
SELECT * FROM strata.verify('rov_ih');
COMMIT;
SELECT * FROM strata.verify('rov_ih');
CALL refresh_continuous_aggregate('rov_ih', NULL, NULL);
SELECT * FROM strata.verify('rov_ih');
DROP TABLE rov, rov_i, rov_f CASCADE;
SET ROLE postgres;
DROP TABLE rov_cover, rov_cover_f;
RESET ROLE;
DROP ROLE rov_other;
