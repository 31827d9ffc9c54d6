-- Unique keys where chunks go by a function of the column: kept, made later, refused.
SET client_min_messages = warning;
CREATE FUNCTION id_time(text) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT substr($1, 2)::bigint';
CREATE TABLE f (v int, "Id" text NOT NULL);
SELECT created FROM create_hypertable('f', 'Id', chunk_time_interval => 100, time_partitioning_func => 'id_time');
INSERT INTO f VALUES (1, 'c1'), (2, 'c200');
ALTER TABLE f ADD PRIMARY KEY ("Id"), ADD UNIQUE (v, "Id");
CREATE UNIQUE INDEX ON f ("Id", v) INCLUDE (v);
INSERT INTO f VALUES (3, 'c300');
INSERT INTO f VALUES (3, 'c300');
INSERT INTO f VALUES (4, 'c1') ON CONFLICT ("Id") DO UPDATE SET v = excluded.v;
SELECT tableoid::regclass, * FROM f ORDER BY 2;
\d f_300_chunk
-- without the column, or with other notions of equality
CREATE UNIQUE INDEX ON f (v);
ALTER TABLE f ADD UNIQUE (v);
CREATE UNIQUE INDEX ON f (lower("Id"));
CREATE UNIQUE INDEX ON f ("Id" COLLATE "C");
ALTER TABLE f ADD COLUMN w int UNIQUE;
-- PostgreSQL's own partitioned tables are as ever
CREATE TABLE p (id text) PARTITION BY RANGE (id_time(id));
ALTER TABLE p ADD UNIQUE (id);
DROP TABLE p;
-- the true key is back when something else looks: an event trigger
INSERT INTO f VALUES (5, 'c250');
CREATE FUNCTION look() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING '% rows', (SELECT count(*) FROM f WHERE "Id" > 'c2' AND id_time("Id") > 210); END $$;
SET ROLE postgres;
CREATE EVENT TRIGGER look ON ddl_command_start EXECUTE FUNCTION look();
RESET ROLE;
CREATE UNIQUE INDEX again ON f ("Id");
SET ROLE postgres;
DROP EVENT TRIGGER look;
CREATE EVENT TRIGGER look ON ddl_command_end EXECUTE FUNCTION look();
RESET ROLE;
CREATE UNIQUE INDEX again ON f ("Id");
SET ROLE postgres;
DROP EVENT TRIGGER look;
RESET ROLE;
SELECT count(*) FROM f WHERE id_time("Id") = 250;
-- equal, and not the same: 1.0 and 1.00
CREATE FUNCTION digits(numeric) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT length($1::text)';
CREATE TABLE n (id numeric PRIMARY KEY);
SELECT created FROM create_hypertable('n', 'id', chunk_time_interval => 1, time_partitioning_func => 'digits');
ALTER TABLE n DROP CONSTRAINT n_pkey;
SELECT created FROM create_hypertable('n', 'id', chunk_time_interval => 1, time_partitioning_func => 'digits');
ALTER TABLE n ADD UNIQUE (id);
DROP TABLE f, n;
DROP FUNCTION look, id_time, digits;
