-- A table that becomes a partitioned one where it stands has the row in
-- pg_class that one has which PostgreSQL made, and so have its indexes.
SET client_min_messages = warning;
CREATE TABLE pgc (ts int NOT NULL, v text, PRIMARY KEY (ts)) WITH (fillfactor = 70);
CREATE INDEX pgc_v ON pgc (v);
INSERT INTO pgc SELECT i, repeat('x', i) FROM generate_series(1, 300) i;
VACUUM ANALYZE pgc;
CREATE VIEW pgc_view AS SELECT ts, v FROM pgc;
SELECT 'pgc'::regclass::oid AS before, 'pgc_v'::regclass::oid AS index_before \gset
SELECT created FROM create_hypertable('pgc', 'ts', chunk_time_interval => 100, migrate_data => true);
SELECT 'pgc'::regclass::oid = :before AS same, 'pgc_v'::regclass::oid = :index_before AS same_index;
CREATE TABLE pgc_own (ts int NOT NULL, v text, PRIMARY KEY (ts)) PARTITION BY RANGE (ts);
CREATE INDEX pgc_own_v ON pgc_own (v);
CREATE TABLE pgc_own_1 PARTITION OF pgc_own FOR VALUES FROM (1) TO (1000);
SELECT replace(relname, '_own', '') AS of, count(*) AS relations, count(DISTINCT (relkind, relfilenode, reltoastrelid, relpages, relallvisible, relfrozenxid::text,
        relminmxid::text, relpersistence, relispartition, relhassubclass, reltablespace, relrewrite, relpartbound IS NULL)) AS kinds
    FROM pg_class WHERE relname IN ('pgc', 'pgc_own', 'pgc_pkey', 'pgc_own_pkey', 'pgc_v', 'pgc_own_v') GROUP BY 1 ORDER BY 1;
SELECT relkind, relam = 0 AS no_method, reltuples FROM pg_class WHERE relname IN ('pgc', 'pgc_own') ORDER BY relname;
SELECT count(*) FROM pgc_view;
-- a partition's bounds, the mark of new chunks, and privileges
GRANT SELECT ON pgc TO PUBLIC;
SELECT relpersistence, relkind FROM pg_class WHERE relname LIKE 'pgc%' AND relname NOT LIKE 'pgc_own%' AND relkind IN ('p', 'I') ORDER BY relname;
ALTER TABLE pgc SET UNLOGGED;
SELECT relpersistence, relkind FROM pg_class WHERE relname LIKE 'pgc%' AND relname NOT LIKE 'pgc_own%' AND relkind IN ('p', 'I') ORDER BY relname;
SELECT count(*), sum(length(v)) FROM pgc;
DROP VIEW pgc_view;
DROP TABLE pgc, pgc_own;
SELECT count(*) FROM pg_class WHERE relname LIKE 'pgc%';
