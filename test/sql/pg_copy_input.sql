-- COPY FROM into a hypertable reads numbers and times by functions of ours, which
-- hand everything else on: the same values, and the same errors, as PostgreSQL's.
SET client_min_messages = warning;
SET timezone = 'Europe/Berlin';
CREATE TABLE pgc (ts timestamptz NOT NULL, n timestamp, d date, f8 float8, f4 float4, i int);
CREATE TABLE pgc_heap (LIKE pgc);
SELECT created FROM create_hypertable('pgc', 'ts', chunk_time_interval => interval '10 years');
\copy pgc from program 'printf "2026-01-01 00:00:00+00\\t2026-01-01 12:30:00.25\\t2026-02-28\\t1.5\\t-0.25\\t1\n20260301T101112Z\\tepoch\\tinfinity\\t1e300\\t1e-30\\t2\n1 Mar 2026 3:00 pm\\t2026-03-01 24:00:00\\tJ2461000\\tNaN\\t-Infinity\\t3\n2026-03-29 02:30:00\\t\\\\N\\t\\\\N\\t-0\\t0x10\\t4\n"'
\copy pgc_heap from program 'printf "2026-01-01 00:00:00+00\\t2026-01-01 12:30:00.25\\t2026-02-28\\t1.5\\t-0.25\\t1\n20260301T101112Z\\tepoch\\tinfinity\\t1e300\\t1e-30\\t2\n1 Mar 2026 3:00 pm\\t2026-03-01 24:00:00\\tJ2461000\\tNaN\\t-Infinity\\t3\n2026-03-29 02:30:00\\t\\\\N\\t\\\\N\\t-0\\t0x10\\t4\n"'
SELECT count(*), count(*) FILTER (WHERE p::text = h::text) AS same FROM pgc p JOIN pgc_heap h USING (i);
\copy pgc (ts, f8) from program 'printf "2026-02-30 00:00:00+00\\t1\n"'
\copy pgc_heap (ts, f8) from program 'printf "2026-02-30 00:00:00+00\\t1\n"'
\copy pgc (ts, f8) from program 'printf "2026-02-03 00:00:00+00\\t1e999\n"'
\copy pgc_heap (ts, f8) from program 'printf "2026-02-03 00:00:00+00\\t1e999\n"'
-- the same function is PostgreSQL's own again for everybody else, in this session too
SELECT '0x10'::float4;
SELECT '1e999'::float8;
DROP TABLE pgc, pgc_heap;
