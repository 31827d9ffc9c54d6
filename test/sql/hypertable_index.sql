-- CREATE INDEX CONCURRENTLY and strata.transaction_per_chunk: an index chunk by chunk, by an owner who is no superuser.
SET client_min_messages = warning;
SET timezone = 'UTC';
SET datestyle = 'ISO';
SET ROLE postgres;
SET allow_in_place_tablespaces = on;
CREATE TABLESPACE index_space LOCATION '';
CREATE TABLESPACE index_space_2 LOCATION '';
RESET ROLE;
CREATE ROLE "index Owner";
CREATE ROLE index_stranger;
GRANT "index Owner", index_stranger TO CURRENT_USER;
CREATE SCHEMA "index App" AUTHORIZATION "index Owner";
SET search_path = "index App", public;
-- the index of a hypertable, and those of its chunks: with the same definition, part of it, valid
CREATE FUNCTION public.index_state(name text, OUT valid boolean, OUT chunks bigint, OUT attached bigint, OUT good bigint, OUT strays bigint, OUT def text) LANGUAGE sql AS $$
	SELECT i.indisvalid, (SELECT count(*) FROM pg_inherits WHERE inhparent = i.indrelid),
		(SELECT count(*) FROM pg_inherits WHERE inhparent = i.indexrelid),
		(SELECT count(*) FROM pg_inherits h JOIN pg_index c ON c.indexrelid = h.inhrelid WHERE inhparent = i.indexrelid
			AND c.indisvalid AND c.indisready AND c.indislive AND c.indisunique = i.indisunique
			AND substring(pg_get_indexdef(c.indexrelid) FROM ' USING .*') = substring(pg_get_indexdef(i.indexrelid) FROM ' USING .*')),
		(SELECT count(*) FROM pg_index c JOIN pg_class k ON k.oid = c.indexrelid JOIN pg_inherits h ON h.inhrelid = c.indrelid WHERE h.inhparent = i.indrelid AND NOT k.relispartition),
		replace(pg_get_indexdef(i.indexrelid), '"index App".', '')
	FROM pg_index i WHERE i.indexrelid = name::regclass $$;
SET ROLE "index Owner";
CREATE TABLE "M" (gone int, "T" timestamptz NOT NULL, d text, v float8, k int, n int);
ALTER TABLE "M" DROP COLUMN gone;
SELECT created FROM create_hypertable('"M"', 'T', chunk_time_interval => interval '1 day', create_default_indexes => false);
ALTER TABLE "M" SET (strata.segmentby = 'd', strata.orderby = '"T"');
INSERT INTO "M" SELECT '2026-01-01'::timestamptz + i * interval '1 minute', 'd' || i % 3, i, i, nullif(i % 4, 1) FROM generate_series(0, 4 * 1440 - 1) i;
SELECT count(compress_chunk(c)) FROM (SELECT c FROM show_chunks('"M"') c LIMIT 3) x;
-- a chunk with rows in both halves, and one whose columns stand elsewhere
INSERT INTO "M" VALUES ('2026-01-02', 'd9', 1, 1000000, 1);
CREATE TABLE other (n int, k int, "T" timestamptz NOT NULL, x int, v float8, d text) USING strata;
ALTER TABLE other DROP COLUMN x;
INSERT INTO other VALUES (1, 2000000, '2026-02-01', 5, 'x');
CALL attach_chunk('"M"', 'other', '{"T": ["2026-02-01", "2026-02-02"]}');
-- what an index may have
CREATE INDEX CONCURRENTLY ON "M" (v);
SELECT * FROM index_state('"M_v_idx"');
CREATE INDEX CONCURRENTLY ON "M" (v);
SELECT * FROM index_state('"M_v_idx1"');
CREATE INDEX CONCURRENTLY "Odd ""name""" ON "index App"."M" USING btree (lower(d) COLLATE "C" DESC NULLS LAST, ("M".k + 1), d text_pattern_ops) INCLUDE (v) WITH (fillfactor = 70) TABLESPACE pg_default WHERE "index App"."M".k > 3 AND "T" IS NOT NULL;
CREATE INDEX CONCURRENTLY "Odd ""name""" ON "index App"."M" USING btree (lower(d) COLLATE "C" DESC NULLS LAST, ("M".k + 1), d text_pattern_ops) INCLUDE (v) WITH (fillfactor = 70) WHERE "index App"."M".k > 3 AND "T" IS NOT NULL;
SELECT valid, chunks, attached, good, strays, def FROM index_state('"Odd ""name"""');
CREATE UNIQUE INDEX CONCURRENTLY u ON "M" (k, "T") NULLS NOT DISTINCT;
SELECT valid, chunks, attached, good, strays, def FROM index_state('u');
CREATE INDEX CONCURRENTLY brin ON "M" USING brin ("T" timestamptz_minmax_multi_ops(values_per_range = 16)) WITH (pages_per_range = 4);
SELECT valid, chunks, attached, good, strays, def FROM index_state('brin');
CREATE INDEX CONCURRENTLY hash ON "M" USING hash (d);
SELECT valid, chunks, attached, good, strays FROM index_state('hash');
RESET ROLE;
SET ROLE postgres;
GRANT CREATE ON TABLESPACE index_space TO "index Owner";
RESET ROLE;
SET ROLE "index Owner";
CREATE INDEX CONCURRENTLY spaced ON "M" (n) TABLESPACE index_space_2;
CREATE INDEX CONCURRENTLY spaced ON "M" (n) TABLESPACE index_space;
SET default_tablespace = index_space;
CREATE INDEX CONCURRENTLY spaced2 ON "M" (n) ;
RESET default_tablespace;
SELECT c.relkind, t.spcname, count(*) FROM pg_class c JOIN pg_tablespace t ON t.oid = c.reltablespace JOIN pg_index i ON i.indexrelid = c.oid
	WHERE i.indrelid IN (SELECT show_chunks('"M"') UNION SELECT '"M"'::regclass) GROUP BY 1, 2 ORDER BY 1;
-- one transaction for each chunk
CREATE INDEX per_chunk ON "M" (k DESC) WITH (strata.transaction_per_chunk, fillfactor = 80);
SELECT valid, chunks, attached, good, strays, def FROM index_state('per_chunk');
CREATE UNIQUE INDEX per_chunk_unique ON "M" (v, k, "T") WITH (strata.transaction_per_chunk = true);
SELECT valid, chunks, attached, good, strays, def FROM index_state('per_chunk_unique');
CREATE INDEX at_once ON "M" (k DESC, v) WITH (strata.transaction_per_chunk = off);
SELECT valid, chunks, attached, good, strays, def FROM index_state('at_once');
-- chunks to come
INSERT INTO "M" VALUES ('2026-01-10', 'd9', 1, 1, 1);
SELECT chunks, array_agg(DISTINCT attached), bool_and(valid) FROM pg_index i, index_state(indexrelid::regclass::text) WHERE indrelid = '"M"'::regclass GROUP BY 1;
-- rows of both halves are found
SELECT count(*) FROM "M" WHERE k = 1000000 OR k = 17 OR k = 5000 OR k = 2000000;
SET enable_seqscan = off;
SELECT v FROM "M" WHERE lower(d) = 'd9' AND k > 3 AND k + 1 = 1000001;
RESET enable_seqscan;
INSERT INTO "M" VALUES ('2026-01-01 00:17', 'd9', 1, 17, 1);
INSERT INTO "M" VALUES ('2026-01-01 00:17', 'd9', 1, 17, 1) ON CONFLICT (k, "T") DO UPDATE SET v = -1 RETURNING k, v;
-- refused
CREATE UNIQUE INDEX CONCURRENTLY ON "M" (k);
CREATE UNIQUE INDEX ON "M" (k) WITH (strata.transaction_per_chunk);
CREATE INDEX CONCURRENTLY ON "M" (nothing);
CREATE INDEX CONCURRENTLY ON "M" (random());
CREATE INDEX CONCURRENTLY ON "M" (("M" IS NULL));
CREATE INDEX CONCURRENTLY ON "M" (k) WHERE "M" IS NOT NULL;
CREATE INDEX CONCURRENTLY u ON "M" (k);
CREATE INDEX CONCURRENTLY IF NOT EXISTS u ON "M" (k, "T");
CREATE INDEX CONCURRENTLY ON ONLY "M" (k);
CREATE INDEX ON "M" (k) WITH (strata.other);
CREATE INDEX ON "M" (k) WITH (strata.transaction_per_chunk = maybe);
CREATE INDEX ON other (k) WITH (strata.transaction_per_chunk);
CREATE INDEX ON nowhere (k) WITH (strata.transaction_per_chunk);
CREATE INDEX CONCURRENTLY ON nowhere (k);
BEGIN;
CREATE INDEX CONCURRENTLY ON "M" (k);
ROLLBACK;
BEGIN;
CREATE INDEX ON "M" (k) WITH (strata.transaction_per_chunk);
ROLLBACK;
DO $$ BEGIN EXECUTE 'CREATE INDEX CONCURRENTLY ON "M" (k)'; END $$;
SELECT 1 \; CREATE INDEX CONCURRENTLY ON "M" (k);
SET default_transaction_read_only = on;
CREATE INDEX CONCURRENTLY ON "M" (k);
RESET default_transaction_read_only;
RESET ROLE;
SET ROLE index_stranger;
CREATE INDEX CONCURRENTLY ON "index App"."M" (k);
RESET ROLE;
GRANT USAGE ON SCHEMA "index App" TO index_stranger;
SET ROLE index_stranger;
CREATE INDEX CONCURRENTLY ON "index App"."M" (k);
CREATE INDEX ON "index App"."M" (k) WITH (strata.transaction_per_chunk);
RESET ROLE;
ALTER SCHEMA "index App" OWNER TO CURRENT_USER;
GRANT USAGE ON SCHEMA "index App" TO "index Owner";
SET ROLE "index Owner";
CREATE INDEX CONCURRENTLY ON "M" (k);
RESET ROLE;
ALTER SCHEMA "index App" OWNER TO "index Owner";
SET ROLE "index Owner";
-- expressions run as the owner, who can do nothing else meanwhile
CREATE FUNCTION as_whom(x int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN IF current_user <> 'index Owner' THEN RAISE EXCEPTION 'ran as %', current_user; END IF; RETURN x; END $$;
RESET ROLE;
CREATE INDEX CONCURRENTLY by_superuser ON "M" ("index App".as_whom(k));
SELECT valid, chunks, attached, good, strays FROM index_state('by_superuser');
SELECT DISTINCT pg_get_userbyid(relowner) FROM pg_class JOIN pg_index ON indexrelid = oid WHERE indrelid IN (SELECT show_chunks('"M"') UNION SELECT '"M"'::regclass);
DROP INDEX by_superuser;
SET ROLE "index Owner";
-- a run that fails leaves an invalid index, which the same command with IF NOT EXISTS finishes
CREATE INDEX CONCURRENTLY fails ON "M" ((1 / (k - 5000)));
SELECT valid, chunks, attached, good, strays FROM index_state('fails');
CREATE INDEX CONCURRENTLY fails ON "M" ((1 / (k - 5000)));
CREATE INDEX CONCURRENTLY IF NOT EXISTS fails ON "M" ((1 / (k - 6000)));
CREATE INDEX CONCURRENTLY IF NOT EXISTS fails ON "M" ((1 / (k - 5000)));
SELECT valid, chunks, attached, good, strays FROM index_state('fails');
DELETE FROM "M" WHERE k = 5000;
CREATE INDEX CONCURRENTLY IF NOT EXISTS fails ON "M" ((1 / (k - 5000)));
SELECT valid, chunks, attached, good, strays FROM index_state('fails');
DROP INDEX fails;
-- two equal rows in one chunk; what is compressed is looked at, too
INSERT INTO "M" SELECT '2026-01-03', 'd1', 7, -1, 0 FROM generate_series(1, 1);
INSERT INTO "M" SELECT '2026-01-03', 'd1', 7, -2, 0 FROM generate_series(1, 1);
CREATE UNIQUE INDEX CONCURRENTLY twice ON "M" ("T", d, v);
CREATE UNIQUE INDEX twice2 ON "M" ("T", d, v) WITH (strata.transaction_per_chunk);
SELECT valid, chunks, attached, good, strays FROM index_state('twice');
SELECT valid, chunks, attached, good, strays FROM index_state('twice2');
DELETE FROM "M" WHERE k = -2;
-- the hypertable's is invalid, but new chunks have theirs, and the finished chunks' are kept
INSERT INTO "M" VALUES ('2026-01-20', 'd9', 1, 1, 1);
CREATE UNIQUE INDEX IF NOT EXISTS twice2 ON "M" ("T", d, v) WITH (strata.transaction_per_chunk);
SELECT valid, chunks, attached, good, strays FROM index_state('twice2');
DROP INDEX CONCURRENTLY twice2;
-- one way or the other
CREATE UNIQUE INDEX IF NOT EXISTS twice ON "M" ("T", d, v) WITH (strata.transaction_per_chunk);
SELECT valid, chunks, attached, good, strays FROM index_state('twice');
-- a valid index that a chunk has is taken, as CREATE INDEX does; one of another order is not
CREATE INDEX mine ON other (n, k);
CREATE INDEX mine_desc ON other (n DESC, k);
CREATE INDEX CONCURRENTLY taken ON "M" (n, k);
SELECT inhrelid::regclass FROM pg_inherits JOIN pg_index ON indexrelid = inhrelid WHERE inhparent = 'taken'::regclass AND indrelid = 'other'::regclass;
-- names that are taken in the schema of the extension
CREATE TABLE job (t int NOT NULL, v int);
SELECT created FROM create_hypertable('job', 't', chunk_time_interval => 10);
INSERT INTO job SELECT i, i FROM generate_series(1, 30) i;
CREATE INDEX CONCURRENTLY ON job (v);
SELECT valid, chunks, attached, good, strays, def FROM index_state('job_v_idx');
-- no chunks yet; chunks by a function of the column
CREATE TABLE empty (t int NOT NULL, v int);
SELECT created FROM create_hypertable('empty', 't', chunk_time_interval => 10);
CREATE INDEX CONCURRENTLY ON empty (v);
CREATE FUNCTION id_time(text) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT substr($1, 2)::bigint';
CREATE TABLE f (v int, "Id" text NOT NULL);
SELECT created FROM create_hypertable('f', 'Id', chunk_time_interval => 100, time_partitioning_func => 'id_time');
INSERT INTO f VALUES (1, 'c1'), (2, 'c200');
CREATE UNIQUE INDEX CONCURRENTLY fu ON f ("Id", v);
CREATE UNIQUE INDEX CONCURRENTLY ON f (v);
SELECT * FROM index_state('empty_v_idx') UNION ALL SELECT * FROM index_state('fu');
-- event triggers
RESET ROLE;
CREATE TABLE seen (event text, tag text, object text);
GRANT INSERT ON seen TO "index Owner";
CREATE FUNCTION note_event() RETURNS event_trigger LANGUAGE plpgsql AS $$
BEGIN
	IF tg_event = 'ddl_command_end' THEN
		INSERT INTO "index App".seen SELECT tg_event, command_tag, object_identity || ' ' || (SELECT indisvalid FROM pg_index WHERE indexrelid = objid) FROM pg_event_trigger_ddl_commands();
	ELSIF tg_event = 'sql_drop' THEN
		INSERT INTO "index App".seen SELECT tg_event, tg_tag, object_identity FROM pg_event_trigger_dropped_objects();
	ELSE INSERT INTO "index App".seen VALUES (tg_event, tg_tag); END IF;
END $$;
SET ROLE postgres;
CREATE EVENT TRIGGER note_start ON ddl_command_start WHEN TAG IN ('CREATE INDEX') EXECUTE FUNCTION note_event();
CREATE EVENT TRIGGER note_end ON ddl_command_end WHEN TAG IN ('CREATE INDEX') EXECUTE FUNCTION note_event();
CREATE EVENT TRIGGER note_drop ON sql_drop EXECUTE FUNCTION note_event();
RESET ROLE;
SET ROLE "index Owner";
CREATE INDEX CONCURRENTLY evented ON f (v);
RESET ROLE;
SET ROLE postgres;
DROP EVENT TRIGGER note_start; DROP EVENT TRIGGER note_end; DROP EVENT TRIGGER note_drop;
RESET ROLE;
TABLE seen;
SET ROLE "index Owner";
-- nothing of what stood in is left
RESET ROLE;
SELECT count(*) FROM pg_class WHERE relnamespace = '_strata'::regnamespace AND relname IN ('M', 'f', 'empty', 'fu', 'job_index');
SET ROLE postgres;
CREATE EXTENSION strata_timescale_compat;
RESET ROLE;
SET ROLE "index Owner";
CREATE INDEX ts ON f (v, "Id") WITH (timescaledb.transaction_per_chunk);
SELECT valid, attached, good FROM index_state('ts');
RESET ROLE;
SET ROLE postgres;
DROP EXTENSION strata_timescale_compat CASCADE;
RESET ROLE;
DROP SCHEMA "index App" CASCADE;
DROP FUNCTION public.index_state;
SET ROLE postgres;
DROP TABLESPACE index_space;
DROP TABLESPACE index_space_2;
RESET ROLE;
DROP ROLE "index Owner", index_stranger;
