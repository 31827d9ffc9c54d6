-- strata.read_archives: the newest time, and what is beside it, are the rows' where they are newer than all that is gone.
SET timezone = 'UTC';
SET client_min_messages = warning;
\set VERBOSITY terse
CREATE TABLE roen (time int NOT NULL, host text, v int);
SELECT FROM create_hypertable('roen', 'time', chunk_time_interval => 100);
INSERT INTO roen SELECT i, 'h' || i % 3, i * 7 % 100 FROM generate_series(0, 999) i;
INSERT INTO roen VALUES (150, 'only', 7), (950, 'new', NULL);
CREATE MATERIALIZED VIEW roen_v WITH (strata.continuous) AS SELECT time_bucket(10, time) AS b, count(*) AS n, sum(v) AS s FROM roen GROUP BY 1;
ALTER TABLE roen SET (strata.read_archives);
SELECT count(*) FROM drop_chunks('roen', older_than => 300);
-- answered
SELECT max(time) FROM roen;
SELECT max(time) AS m, last(v, time) AS l, last(host, time) FILTER (WHERE host <> 'new') AS h FROM roen;
SELECT max(time) + 1 AS m, 'x' FROM roen HAVING max(time) > 5;
SELECT max(time) FROM roen HAVING max(time) < 5;
SELECT max(time) FROM roen WHERE host = 'h1' AND v > 3;
SELECT max(r.time) FROM roen r JOIN (VALUES ('h1'), ('h2')) h(host) USING (host);
SELECT max(r.time) FROM (VALUES ('h1'), ('h2')) h(host) LEFT JOIN roen r USING (host);
SELECT (SELECT max(time) FROM roen r WHERE r.host = h.host) FROM (VALUES ('h1'), ('h2')) h(host);
SELECT * FROM (SELECT max(time) AS m FROM roen) a, (SELECT sum(n) AS n FROM roen_v) b;
SELECT max(time) FROM roen WHERE time < 400;
SELECT max(DISTINCT time) FROM roen;
SELECT max(time) FROM roen WHERE time < 5000 AND time > 20;
INSERT INTO roen SELECT max(time) + 1, 'h1', 5 FROM roen;
-- not known: groups that may be gone, rows before, other aggregates, no rows that are newer
SELECT host, max(time) FROM roen GROUP BY host;
SELECT max(time) FROM roen WHERE host = 'only';
SELECT max(time) FROM roen WHERE host = 'nobody';
SELECT max(time) FROM roen WHERE time < 300;
SELECT max(time) FROM roen WHERE time < 250;
SELECT max(time) FILTER (WHERE host = 'only') FROM roen;
SELECT last(v, time) FROM roen WHERE host = 'only';
SELECT min(time) FROM roen;
SELECT first(v, time) FROM roen;
SELECT max(time), max(v) FROM roen;
SELECT max(v) FROM roen;
SELECT last(time, v) FROM roen;
SELECT max(time + 0) FROM roen;
SELECT max(time) FROM roen HAVING count(v) > 5;
SELECT max(time), (SELECT count(r.v) FROM generate_series(1, 2)) FROM roen r;
SELECT max(r.time) FROM roen r JOIN roen s ON r.v = s.v + 1;
SELECT max(time) FROM (SELECT * FROM roen WHERE v > 4) r;
-- a late row within what is gone
INSERT INTO roen VALUES (150, 'only', 8);
SELECT max(time) FROM roen WHERE host = 'only';
SELECT max(time) FROM roen;
-- a plan that is kept, when more is dropped, and newer rows go
PREPARE roen_max(text) AS SELECT max(time) FROM roen WHERE host = $1;
SET plan_cache_mode = force_generic_plan;
EXECUTE roen_max('h1');
EXECUTE roen_max('only');
EXECUTE roen_max('h1');
PREPARE roen_bound(int) AS SELECT max(time) FROM roen WHERE time < $1;
EXECUTE roen_bound(700);
EXECUTE roen_bound(200);
EXECUTE roen_bound(400);
SELECT count(*) FROM drop_chunks('roen', older_than => 600);
EXECUTE roen_max('h1');
EXECUTE roen_bound(700);
EXECUTE roen_bound(600);
EXECUTE roen_bound(500);
DELETE FROM roen WHERE time >= 600;
EXECUTE roen_max('h1');
EXECUTE roen_bound(700);
-- oldest, where what is gone is newer
INSERT INTO roen VALUES (-5, 'h1', 9), (-7, 'old', NULL);
SELECT min(time), first(host, time), first(v, time) FROM roen;
SELECT min(time), max(time) FROM roen;
ALTER TABLE roen SET (strata.read_archives = false);
SELECT min(time), max(time) FROM roen;
RESET plan_cache_mode;
DROP TABLE roen CASCADE;
-- times of other types
CREATE TABLE roen (time timestamptz NOT NULL, v int);
SELECT FROM create_hypertable('roen', 'time', chunk_time_interval => interval '1 day');
INSERT INTO roen SELECT '2026-03-01'::timestamptz + i * interval '1 hour', i FROM generate_series(0, 239) i;
CREATE MATERIALIZED VIEW roen_v WITH (strata.continuous) AS SELECT time_bucket('6 hours', time) AS b, count(*) AS n FROM roen GROUP BY 1;
ALTER TABLE roen SET (strata.read_archives);
SELECT count(*) FROM drop_chunks('roen', older_than => timestamptz '2026-03-05');
SELECT max(time), last(v, time) FROM roen;
SELECT max(time) FROM roen WHERE time < timestamptz '2026-03-05 07:00' + interval '1 second';
SELECT max(time) FROM roen WHERE time < date '2026-03-05';
SELECT max(time) FROM roen WHERE time < now();
INSERT INTO roen VALUES ('infinity', 0);
SELECT max(time), last(v, time) FROM roen;
-- the function itself
SELECT _strata.from_rows(5, 7, 'roen'::regclass, 7, true), _strata.from_rows('x'::text, 6, 'roen'::regclass, 7, false), _strata.from_rows(NULL::int, 9, 0, 7, true), _strata.from_rows(1, NULL::int, NULL, 1, true);
SELECT _strata.from_rows(5, NULL::int, 0, 7, true);
SELECT _strata.from_rows(5, 6, 'roen'::regclass, 7, true);
DROP TABLE roen CASCADE;
