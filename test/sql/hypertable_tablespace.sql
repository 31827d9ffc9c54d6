-- Tablespaces of a hypertable: its chunks go into them in turn.
SET timezone = 'UTC';
SET datestyle = 'ISO';
SET ROLE postgres;
SET allow_in_place_tablespaces = on;
CREATE TABLESPACE hyper_turn1 LOCATION '';
CREATE TABLESPACE hyper_turn2 LOCATION '';
CREATE TABLESPACE "Hyper turn, 3" LOCATION '';
GRANT CREATE ON TABLESPACE hyper_turn1, hyper_turn2, "Hyper turn, 3" TO SESSION_USER;
RESET ROLE;
CREATE ROLE hypertable_spc_owner;
CREATE ROLE hypertable_spc_other;
GRANT hypertable_spc_owner, hypertable_spc_other TO CURRENT_USER;
GRANT CREATE ON SCHEMA public TO hypertable_spc_owner, hypertable_spc_other;
SET ROLE postgres;
GRANT CREATE ON TABLESPACE hyper_turn1, hyper_turn2, "Hyper turn, 3" TO hypertable_spc_owner;
RESET ROLE;
SET ROLE hypertable_spc_owner;
CREATE TABLE s (time timestamptz NOT NULL, dev int, v float8);
SELECT created FROM create_hypertable('s', 'time', chunk_time_interval => interval '1 day');
ALTER TABLE s SET (strata.segmentby = 'dev');
SELECT show_tablespaces('s');
SELECT attach_tablespace('hyper_turn1', 's');
SELECT attach_tablespace('hyper_turn2', 's', if_not_attached => true);
SELECT attach_tablespace('hyper_turn1', 's');
SELECT attach_tablespace('hyper_turn1', 's', if_not_attached => true);
SELECT attach_tablespace('hyper_nowhere', 's');
SELECT attach_tablespace('pg_global', 's');
SELECT attach_tablespace('hyper_turn1', 'pg_class');
SELECT attach_tablespace(NULL, 's');
SELECT attach_tablespace('hyper_turn1', NULL);
SELECT show_tablespaces('s');
SELECT tablespaces FROM strata.hypertables WHERE hypertable_name = 's';
-- chunks, their indexes and their batches
INSERT INTO s SELECT timestamptz '1969-12-30' + g * interval '1 minute', g % 3, g FROM generate_series(0, 8639) g;
SELECT count(compress_chunk(c)) FROM show_chunks('s') c;
SELECT c.chunk_name, c.chunk_tablespace, i.spcname AS index_tablespace, b.spcname AS batch_tablespace
	FROM strata.chunks c
	CROSS JOIN LATERAL (SELECT t.spcname FROM pg_index x JOIN pg_class k ON k.oid = x.indexrelid LEFT JOIN pg_tablespace t ON t.oid = k.reltablespace
		WHERE x.indrelid = c.chunk_name::text::regclass) i
	CROSS JOIN LATERAL (SELECT t.spcname FROM pg_class k LEFT JOIN pg_tablespace t ON t.oid = k.reltablespace
		WHERE k.oid = strata.batch_relation(c.chunk_name::text::regclass)) b
	WHERE hypertable_name = 's' ORDER BY range_start;
SELECT count(*), sum(v) FROM s;
-- detached: what is there stays, what comes goes elsewhere
SELECT detach_tablespace('hyper_turn1', 's');
SELECT detach_tablespace('hyper_turn1', 's');
SELECT detach_tablespace('hyper_turn1', 's', if_attached => true);
SELECT detach_tablespace('hyper_nowhere', 's', if_attached => true);
INSERT INTO s VALUES ('2026-01-01', 1, 1), ('2026-01-02', 1, 1);
SELECT chunk_name, chunk_tablespace FROM strata.chunks WHERE hypertable_name = 's' ORDER BY range_start;
SELECT attach_tablespace('Hyper turn, 3', 's');
SELECT option FROM (SELECT unnest(reloptions) AS option FROM pg_class WHERE oid = 's'::regclass) o WHERE option LIKE 'strata.tab%';
SELECT detach_tablespaces('s');
SELECT detach_tablespaces('s');
SELECT show_tablespaces('s');
INSERT INTO s VALUES ('2026-02-01', 1, 1);
SELECT chunk_tablespace FROM strata.chunks WHERE hypertable_name = 's' AND range_start = '2026-02-01';
-- one of its own counts as attached; ALTER TABLE SET TABLESPACE is the last word
CREATE TABLE o (time timestamptz NOT NULL, v float8) TABLESPACE hyper_turn1;
SELECT created FROM create_hypertable('o', 'time', chunk_time_interval => interval '1 day');
SELECT attach_tablespace('hyper_turn1', 'o');
SELECT attach_tablespace('hyper_turn2', 'o');
INSERT INTO o VALUES ('2026-01-01', 1), ('2026-01-02', 1);
SELECT chunk_tablespace FROM strata.chunks WHERE hypertable_name = 'o' ORDER BY range_start;
SELECT detach_tablespaces('o'), tablespaces FROM strata.hypertables WHERE hypertable_name = 'o';
INSERT INTO o VALUES ('2026-01-03', 1);
SELECT chunk_tablespace FROM strata.chunks WHERE hypertable_name = 'o' ORDER BY range_start;
ALTER TABLE o SET TABLESPACE hyper_turn2;
SELECT tablespaces FROM strata.hypertables WHERE hypertable_name = 'o';
INSERT INTO o VALUES ('2026-01-04', 1);
SELECT chunk_tablespace FROM strata.chunks WHERE hypertable_name = 'o' ORDER BY range_start;
-- everywhere: of those that are the user's
SELECT detach_tablespace('hyper_turn2');
SELECT detach_tablespace('hyper_nowhere');
SELECT attach_tablespace('hyper_turn1', 's'), attach_tablespace('hyper_turn1', 'o');
RESET ROLE;
SET ROLE hypertable_spc_other;
CREATE TABLE z (time timestamptz NOT NULL);
SELECT created FROM create_hypertable('z', 'time');
SELECT attach_tablespace('hyper_turn1', 'z');
SELECT attach_tablespace('hyper_turn1', 's');
SELECT detach_tablespace('hyper_turn1', 's');
SELECT detach_tablespaces('s');
SELECT detach_tablespace('hyper_turn1');
SELECT show_tablespaces('s');
-- a name that is there before its tablespace, as in a restored dump, is passed over; a right is needed when chunks are made
ALTER TABLE z SET (strata.tablespaces = 'hyper_nowhere');
INSERT INTO z VALUES ('2026-01-01');
SELECT chunk_tablespace FROM strata.chunks WHERE hypertable_name = 'z';
ALTER TABLE z SET (strata.tablespaces = 'hyper_turn1');
INSERT INTO z VALUES ('2026-02-01');
ALTER TABLE z SET (strata.tablespaces = 'a b');
RESET ROLE;
SELECT detach_tablespace('hyper_turn1');
DROP TABLE s, o, z;
SET ROLE postgres;
DROP TABLESPACE hyper_turn1;
DROP TABLESPACE hyper_turn2;
DROP TABLESPACE "Hyper turn, 3";
RESET ROLE;
REVOKE CREATE ON SCHEMA public FROM hypertable_spc_owner, hypertable_spc_other;
DROP ROLE hypertable_spc_owner, hypertable_spc_other;
