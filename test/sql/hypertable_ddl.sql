-- A hypertable under DDL, foreign keys in both directions, and beside a heap twin.
SET timezone = 'UTC';
SET datestyle = 'ISO';
CREATE TABLE m (time timestamptz NOT NULL, d int NOT NULL, gone text, v float8, PRIMARY KEY (d, time));
INSERT INTO m SELECT '2026-01-01'::timestamptz + g * interval '5 minutes', g % 4, 'x', g FROM generate_series(1, 4000) g;
CREATE TABLE event (id int PRIMARY KEY, d int, time timestamptz, FOREIGN KEY (d, time) REFERENCES m ON DELETE CASCADE);
INSERT INTO event SELECT g, g % 4, '2026-01-01'::timestamptz + g * interval '5 minutes' FROM generate_series(1, 1000, 100) g;
SELECT created FROM create_hypertable('m', 'time', chunk_time_interval => interval '2 days', migrate_data => true);
-- foreign keys to the hypertable hold, for rows that were there and new ones
INSERT INTO event VALUES (5000, 1, '2026-05-05');
INSERT INTO m VALUES ('2026-05-05', 1, 'x', 0);
INSERT INTO event VALUES (5000, 1, '2026-05-05');
DELETE FROM m WHERE time = '2026-05-05' OR v = 101;
SELECT count(*), min(id), max(id) FROM event;
SELECT drop_chunks('m', newer_than => '2026-04-01');
DELETE FROM event;
UPDATE m SET v = v + 1 WHERE v = 201;
DROP TABLE event;
-- the same statements on the hypertable, compressed in part, and on a heap table
CREATE TABLE twin (LIKE m INCLUDING ALL) USING heap;
INSERT INTO twin SELECT * FROM m;
ALTER TABLE m SET (strata.segmentby = 'd');
SELECT count(compress_chunk(c)) FROM show_chunks('m', older_than => '2026-01-09') c;
CREATE FUNCTION on_both(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE differences bigint;
BEGIN
	EXECUTE replace(statement, 'TABLE_NAME', 'm');
	EXECUTE replace(statement, 'TABLE_NAME', 'twin');
	SELECT count(*) INTO differences FROM ((TABLE m EXCEPT ALL TABLE twin) UNION ALL (TABLE twin EXCEPT ALL TABLE m)) x;
	RETURN CASE WHEN differences = 0 THEN 'same' ELSE differences || ' differences' END;
END $$;
SELECT on_both('ALTER TABLE TABLE_NAME DROP COLUMN gone');
SELECT on_both('ALTER TABLE TABLE_NAME ADD COLUMN added int DEFAULT 7');
SELECT on_both('INSERT INTO TABLE_NAME VALUES (''2026-01-02 00:00:01'', 1, 5, 8), (''2027-01-01'', 1, 6, 9)');
SELECT on_both('UPDATE TABLE_NAME SET added = 9 WHERE d = 2 AND time < ''2026-01-06''');
SELECT on_both('DELETE FROM TABLE_NAME WHERE v BETWEEN 300 AND 320');
SELECT on_both('ALTER TABLE TABLE_NAME ALTER COLUMN v TYPE numeric');
SELECT on_both('INSERT INTO TABLE_NAME VALUES (''2026-01-02 00:00:01'', 1, 50, 8), (''2027-02-01'', 1, 6, 9) ON CONFLICT (d, time) DO UPDATE SET v = excluded.v + 1000');
SELECT on_both('ALTER TABLE TABLE_NAME ADD CHECK (v >= 0)');
SELECT on_both('CREATE INDEX ON TABLE_NAME (v)');
SELECT on_both('ALTER TABLE TABLE_NAME RENAME v TO value');
SELECT on_both('UPDATE TABLE_NAME SET time = time + interval ''1 day'', d = 77 WHERE value = 400');
SELECT on_both('ALTER TABLE TABLE_NAME ALTER added SET NOT NULL');
SELECT on_both('INSERT INTO TABLE_NAME SELECT time + interval ''400 days'', d, value, added FROM TABLE_NAME WHERE value < 100');
SELECT count(compress_chunk(c)) > 3 FROM show_chunks('m') c;
SELECT on_both('MERGE INTO TABLE_NAME USING (VALUES (''2026-01-02''::timestamptz, 1), (''2026-01-03 00:20'', 0)) s (t, d) ON TABLE_NAME.time = s.t AND TABLE_NAME.d = s.d
	WHEN MATCHED THEN UPDATE SET value = 0 WHEN NOT MATCHED THEN INSERT VALUES (s.t, s.d, 1, 1)');
SELECT on_both('TRUNCATE TABLE_NAME');
-- chunks that come later have it all
INSERT INTO m VALUES ('2028-01-01', 1, 1, 1);
\d m_20280101_chunk
-- detach, attach, drop by hand
ALTER TABLE m DETACH PARTITION m_20280101_chunk;
SELECT count(*) FROM m;
INSERT INTO m VALUES ('2028-01-01', 1, 2, 2);
SELECT tableoid::regclass FROM m;
DROP TABLE m_20280101_chunk1;
ALTER TABLE m ATTACH PARTITION m_20280101_chunk FOR VALUES FROM ('2028-01-01') TO ('2028-01-03');
SELECT value FROM m;
-- row security and column privileges go by the hypertable
CREATE ROLE hyper_user;
GRANT hyper_user TO CURRENT_USER;
GRANT SELECT (time, d), INSERT ON m TO hyper_user;
ALTER TABLE m ENABLE ROW LEVEL SECURITY;
CREATE POLICY p ON m USING (d = 1) WITH CHECK (d < 3);
SET ROLE hyper_user;
INSERT INTO m VALUES ('2029-01-01', 2, 2, 2);
INSERT INTO m VALUES ('2029-02-01', 5, 2, 2);
SELECT time, d FROM m;
SELECT value FROM m;
RESET ROLE;
DROP OWNED BY hyper_user;
DROP ROLE hyper_user;
DROP TABLE m, twin;
DROP FUNCTION on_both;
-- unlogged
CREATE UNLOGGED TABLE u (t int NOT NULL) WITH (strata.hypertable, strata.partition_column = 't', strata.chunk_interval = '10');
INSERT INTO u VALUES (1), (11);
SELECT relname, relpersistence FROM pg_class WHERE relname LIKE 'u\_%chunk' ORDER BY 1;
DROP TABLE u;
