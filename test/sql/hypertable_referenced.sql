-- Foreign keys that refer to a hypertable: a chunk made for a row has of them what ATTACH PARTITION gives.
SET client_min_messages = warning;
CREATE TABLE h (gone int, t int NOT NULL, d int NOT NULL, v float8, PRIMARY KEY (t, d));
ALTER TABLE h DROP COLUMN gone;
SELECT created FROM create_hypertable('h', 't', chunk_time_interval => 10);
CREATE UNIQUE INDEX h_other ON h (d, t);
CREATE TABLE one (x text, d int, t int, CONSTRAINT one_key FOREIGN KEY (t, d) REFERENCES h ON DELETE CASCADE ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED);
CREATE TABLE two (t int, d int, FOREIGN KEY (t, d) REFERENCES h ON DELETE SET NULL (d) ON UPDATE RESTRICT);
CREATE TABLE many (t int DEFAULT 41, d int DEFAULT 7, FOREIGN KEY (d, t) REFERENCES h (d, t) MATCH FULL ON DELETE SET DEFAULT) PARTITION BY RANGE (t);
CREATE TABLE many_low PARTITION OF many FOR VALUES FROM (MINVALUE) TO (100);
CREATE TABLE many_high PARTITION OF many FOR VALUES FROM (100) TO (MAXVALUE);
INSERT INTO h VALUES (5, 1);
CREATE TABLE by_hand (LIKE h) USING strata;
ALTER TABLE h ATTACH PARTITION by_hand FOR VALUES FROM (10) TO (20);
-- what is in the catalog, with names instead of numbers
CREATE FUNCTION in_catalog(chunk regclass) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT replace(format('%s %s %s %s on %s(%s), %s(%s), index %s, %s%s%s %s %s %s, inherits %s %s %s', k.conrelid::regclass, k.contype, regexp_replace(k.conname, '\d+$', ''), p.conname,
		k.conrelid::regclass, k.conkey, k.confrelid::regclass, (SELECT array_agg(a.attname ORDER BY o) FROM unnest(k.confkey) WITH ORDINALITY u (n, o) JOIN pg_attribute a ON a.attrelid = k.confrelid AND attnum = n),
		(SELECT r.relname FROM pg_inherits i JOIN pg_class r ON r.oid = i.inhparent WHERE i.inhrelid = k.conindid),
		k.confupdtype, k.confdeltype, k.confmatchtype, k.confdelsetcols, k.condeferrable::text || k.condeferred || k.convalidated, k.conpfeqop::text || k.conppeqop::text || k.conffeqop::text,
		k.conislocal, k.coninhcount, k.connoinherit), chunk::text, 'CHUNK')
	FROM pg_constraint k LEFT JOIN pg_constraint p ON p.oid = k.conparentid WHERE k.confrelid = chunk
	UNION ALL
	SELECT replace(format('%s %s %s of %s, %s %s %s, other %s, parent %s', g.tgfoid::regproc, g.tgtype, g.tgrelid::regclass, (SELECT conrelid::regclass FROM pg_constraint WHERE oid = g.tgconstraint), g.tgisinternal, g.tgdeferrable, g.tginitdeferred,
		g.tgconstrrelid::regclass, (SELECT q.tgrelid::regclass || ' ' || q.tgfoid::regproc FROM pg_trigger q WHERE q.oid = g.tgparentid)), chunk::text, 'CHUNK')
	FROM pg_trigger g WHERE g.tgrelid = chunk
	UNION ALL
	SELECT replace(format('%s -> %s %s', d.classid::regclass, d.refclassid::regclass, d.deptype) || CASE WHEN d.refclassid = 'pg_class'::regclass THEN ' ' || d.refobjid::regclass || ' ' || d.refobjsubid ELSE '' END, chunk::text, 'CHUNK')
	FROM pg_depend d WHERE (d.classid = 'pg_constraint'::regclass AND d.objid IN (SELECT oid FROM pg_constraint WHERE confrelid = chunk))
		OR (d.classid = 'pg_trigger'::regclass AND d.objid IN (SELECT oid FROM pg_trigger WHERE tgrelid = chunk)) $$;
SELECT c.relname, count(x), count(DISTINCT x) FROM pg_class c, in_catalog(c.oid) x WHERE c.relname IN ('h_0_chunk', 'by_hand') GROUP BY 1;
SELECT 'more', x FROM (SELECT in_catalog('h_0_chunk') EXCEPT ALL SELECT in_catalog('by_hand')) x
UNION ALL SELECT 'less', x FROM (SELECT in_catalog('by_hand') EXCEPT ALL SELECT in_catalog('h_0_chunk')) x;
-- and it works
INSERT INTO h SELECT g, g % 2 FROM generate_series(20, 49) g;
INSERT INTO one SELECT 'x', t % 2, t FROM generate_series(20, 29) t;
INSERT INTO two SELECT t, t % 2 FROM generate_series(30, 39) t;
INSERT INTO many SELECT t, t % 2 FROM generate_series(40, 44) t;
UPDATE h SET t = t + 1000 WHERE t = 20;
DELETE FROM h WHERE t IN (21, 31);
DELETE FROM h WHERE t = 41;
INSERT INTO h VALUES (41, 7);
DELETE FROM h WHERE t = 41 AND d = 1;
DO $$ BEGIN	-- 18 has another code for RESTRICT
	UPDATE h SET d = 5 WHERE t = 32;
EXCEPTION WHEN foreign_key_violation OR restrict_violation THEN RAISE NOTICE 'still referenced';
END $$;
BEGIN;
INSERT INTO one VALUES ('later', 1, 777);
INSERT INTO h VALUES (777, 1);
COMMIT;
INSERT INTO two VALUES (778, 1);
SELECT * FROM one ORDER BY t;
SELECT * FROM two ORDER BY t, d;
SELECT tableoid::regclass, * FROM many ORDER BY t, d;
-- it can be detached and dropped, and goes with the key
SELECT drop_chunks('h', 20);
\set VERBOSITY sqlstate
SELECT drop_chunks('h', newer_than => 30, older_than => 40);
\set VERBOSITY default
ALTER TABLE one DROP CONSTRAINT one_key;
SELECT count(*) FROM pg_constraint WHERE conrelid = 'one'::regclass;
DROP TABLE one, two;
\set VERBOSITY sqlstate
CALL detach_chunk('h_40_chunk');
\set VERBOSITY default
DROP TABLE many;
CALL detach_chunk('h_40_chunk');
DROP TABLE h, h_40_chunk;
DROP FUNCTION in_catalog;
