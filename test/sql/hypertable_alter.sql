-- What is changed on a hypertable, and what its chunks have of it.
CREATE ROLE hyper_alter_one;
CREATE ROLE hyper_alter_two;
CREATE ROLE hyper_alter_reader;
GRANT hyper_alter_one, hyper_alter_two, hyper_alter_reader TO CURRENT_USER;
GRANT hyper_alter_two TO hyper_alter_one;
GRANT CREATE ON SCHEMA public TO hyper_alter_one, hyper_alter_two;
CREATE SCHEMA hyper_there;
GRANT ALL ON SCHEMA hyper_there TO hyper_alter_one, hyper_alter_two;
SET ROLE postgres;
SET allow_in_place_tablespaces = on;
CREATE TABLESPACE hyper_alter_space LOCATION '';
GRANT CREATE ON TABLESPACE hyper_alter_space TO hyper_alter_two;
RESET ROLE;
SET ROLE hyper_alter_one;
CREATE TABLE o (t int NOT NULL, d int, v float8);
SELECT created FROM create_hypertable('o', 't', chunk_time_interval => 1000);
INSERT INTO o SELECT g, g % 5, g FROM generate_series(0, 1999) g;
SELECT compress_chunk('o_0_chunk');
CREATE FUNCTION state(OUT name text, OUT owner name, OUT tablespace name) RETURNS SETOF record LANGUAGE sql AS $$
	SELECT t.relid::regclass::text, pg_get_userbyid(c.relowner), s.spcname
	FROM pg_partition_tree((SELECT oid FROM pg_class WHERE relname IN ('o', 'renamed') AND relkind = 'p')) t
	JOIN pg_class c ON c.oid = t.relid LEFT JOIN pg_tablespace s ON s.oid = c.reltablespace ORDER BY c.relname $$;
-- owner: chunks follow, later ones too, and the new owner can work with them
ALTER TABLE ONLY o OWNER TO hyper_alter_two;
SELECT * FROM state();
ALTER TABLE ONLY o OWNER TO hyper_alter_one;
ALTER TABLE o OWNER TO hyper_alter_two;
SET ROLE hyper_alter_two;
INSERT INTO o VALUES (2500, 1, 1);
SELECT * FROM state();
SELECT compress_chunk('o_1000_chunk');
SELECT decompress_chunk('o_0_chunk');
SELECT count(*), sum(v) FROM o;
RESET ROLE;
ALTER TABLE o OWNER TO hyper_alter_one;
SET ROLE hyper_alter_one;
-- several commands at once, and nothing of them
BEGIN;
ALTER TABLE o ADD COLUMN n int DEFAULT 3, OWNER TO hyper_alter_two;
SELECT * FROM state();
ROLLBACK;
ALTER TABLE IF EXISTS nothing_here OWNER TO hyper_alter_two;
RESET ROLE;
ALTER TABLE o OWNER TO hyper_alter_two;
-- tablespace
ALTER TABLE o SET TABLESPACE hyper_alter_space;
SELECT * FROM state();
INSERT INTO o VALUES (3500, 1, 1);
SELECT count(*) FROM state() WHERE tablespace = 'hyper_alter_space';
SELECT count(*), sum(v) FROM o;
ALTER TABLE o SET TABLESPACE pg_default;
-- schema
CREATE TABLE hyper_there.o_0_chunk ();
ALTER TABLE o SET SCHEMA hyper_there;
DROP TABLE hyper_there.o_0_chunk;
ALTER TABLE o SET SCHEMA hyper_there;
INSERT INTO hyper_there.o VALUES (4500, 1, 1);
SELECT * FROM state();
ALTER TABLE hyper_there.o SET SCHEMA public;
-- names
ALTER TABLE o RENAME TO renamed;
ALTER TABLE renamed RENAME COLUMN v TO value;
INSERT INTO renamed VALUES (5500, 1, 1);
SELECT * FROM state();
SELECT count(*), sum(value) FROM renamed;
-- columns: type, default, storage, statistics; on old chunks and new ones
ALTER TABLE renamed ALTER d TYPE bigint, ALTER d SET DEFAULT 9, ALTER d SET STATISTICS 7, ALTER value SET NOT NULL, ADD COLUMN note text COMPRESSION pglz;
ALTER TABLE renamed ALTER note SET STORAGE external;
INSERT INTO renamed (t, value) VALUES (1, 1), (6500, 1);
SELECT count(*), min(d) FROM renamed WHERE value = 1 AND t IN (1, 6500);
SELECT DISTINCT a.attname, a.atttypid::regtype, a.attnotnull, a.attstorage, a.attcompression, pg_get_expr(x.adbin, x.adrelid)
FROM pg_attribute a LEFT JOIN pg_attrdef x ON x.adrelid = a.attrelid AND x.adnum = a.attnum
WHERE attrelid IN (SELECT show_chunks('renamed')) AND attnum > 0 AND NOT attisdropped ORDER BY 1;
-- triggers fire for rows of all chunks, once; disabled they do not
CREATE TABLE log (what text);
CREATE FUNCTION log_it() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN INSERT INTO log VALUES (TG_OP || ' ' || TG_LEVEL); RETURN NEW; END $$;
CREATE TRIGGER rows AFTER INSERT OR UPDATE ON renamed FOR EACH ROW EXECUTE FUNCTION log_it();
CREATE TRIGGER statements AFTER INSERT OR UPDATE ON renamed FOR EACH STATEMENT EXECUTE FUNCTION log_it();
INSERT INTO renamed (t, value) VALUES (2, 1), (7500, 1);
UPDATE renamed SET value = 2 WHERE t IN (2, 7500);
ALTER TABLE renamed DISABLE TRIGGER rows;
INSERT INTO renamed (t, value) VALUES (3, 1), (8500, 1);
SELECT what, count(*) FROM log GROUP BY 1 ORDER BY 1;
-- privileges and row security of the hypertable count, not those of chunks
GRANT SELECT, INSERT ON renamed TO hyper_alter_reader;
SET ROLE hyper_alter_reader;
SELECT count(*) FROM renamed WHERE t < 3;
INSERT INTO renamed (t, value) VALUES (9500, 1);
UPDATE renamed SET value = 0;
SELECT count(*) FROM o_0_chunk;
RESET ROLE;
ALTER TABLE renamed ENABLE ROW LEVEL SECURITY;
CREATE POLICY few ON renamed USING (t < 2) WITH CHECK (t < 100000);
SET ROLE hyper_alter_reader;
SELECT count(*) FROM renamed;
INSERT INTO renamed (t, value) VALUES (10500, 1);
INSERT INTO renamed (t, value) VALUES (100000, 1);
RESET ROLE;
REVOKE INSERT ON renamed FROM hyper_alter_reader;
SET ROLE hyper_alter_reader;
INSERT INTO renamed (t, value) VALUES (1, 1);
RESET ROLE;
-- an event trigger that does it
CREATE FUNCTION own() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
	IF tg_tag = 'COMMENT' THEN ALTER TABLE renamed SET TABLESPACE hyper_alter_space; END IF; END $$;
SET ROLE postgres;
CREATE EVENT TRIGGER own ON ddl_command_end EXECUTE FUNCTION own();
RESET ROLE;
COMMENT ON TABLE renamed IS 'a comment';
SET ROLE postgres;
DROP EVENT TRIGGER own;
RESET ROLE;
SELECT count(DISTINCT tablespace) FROM state();
-- a chunk that has partitions itself: they follow, too
SET ROLE hyper_alter_one;
CREATE TABLE deep (t int NOT NULL, d int NOT NULL, v text, PRIMARY KEY (t, d));
SELECT created FROM create_hypertable('deep', 't', chunk_time_interval => 10);
CREATE TABLE deep_part (LIKE deep) PARTITION BY LIST (d);
CREATE TABLE deep_leaf PARTITION OF deep_part FOR VALUES IN (1) USING strata;
ALTER TABLE deep ATTACH PARTITION deep_part FOR VALUES FROM (0) TO (10);
INSERT INTO deep VALUES (1, 1, 'x'), (11, 1, 'y');
ALTER TABLE deep REPLICA IDENTITY USING INDEX deep_pkey;
ALTER TABLE deep ALTER v SET (n_distinct = 5);
ALTER TABLE deep OWNER TO hyper_alter_two;
SET ROLE hyper_alter_two;
ALTER TABLE deep SET TABLESPACE hyper_alter_space;
ALTER INDEX deep_pkey SET TABLESPACE hyper_alter_space;
ALTER TABLE deep SET SCHEMA hyper_there;
SELECT relid::regclass, c.relowner::regrole, c.relreplident, (SELECT spcname FROM pg_tablespace s WHERE s.oid = c.reltablespace) AS space,
	(SELECT spcname FROM pg_tablespace s JOIN pg_class x ON x.reltablespace = s.oid JOIN pg_index i ON i.indexrelid = x.oid WHERE i.indrelid = c.oid) AS index_space,
	(SELECT string_agg(o, ' ') FROM pg_attribute a, unnest(a.attoptions) o WHERE a.attrelid = c.oid AND a.attname = 'v' AND o LIKE 'n_distinct%') AS options FROM pg_partition_tree('hyper_there.deep') JOIN pg_class c ON c.oid = relid ORDER BY 1;
SELECT t.tableoid::regclass, t.* FROM hyper_there.deep t ORDER BY t;
DROP TABLE hyper_there.deep;
RESET ROLE;
DROP TABLE renamed, log;
DROP FUNCTION state, log_it, own;
SET ROLE postgres;
DROP TABLESPACE hyper_alter_space;
RESET ROLE;
DROP SCHEMA hyper_there;
REVOKE ALL ON SCHEMA public FROM hyper_alter_one, hyper_alter_two;
DROP ROLE hyper_alter_one;
DROP ROLE hyper_alter_two;
DROP ROLE hyper_alter_reader;
