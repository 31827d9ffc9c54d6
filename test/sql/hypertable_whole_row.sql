-- What no chunk could have is refused when somebody wants it, not when the next row comes.
SET client_min_messages = warning;
CREATE TABLE w (id int, note text, ts timestamptz NOT NULL);
SELECT FROM create_hypertable('w', 'ts');
CREATE FUNCTION of_row(w) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT $1.id';
CREATE INDEX wi ON w ((w IS NOT NULL));
CREATE INDEX wi ON w (of_row(w));
CREATE INDEX wi ON w (id) WHERE w IS NOT NULL;
CREATE UNIQUE INDEX wi ON w (ts, of_row(w));
ALTER TABLE w ADD CONSTRAINT wc CHECK (w IS NOT NULL);
ALTER TABLE w ADD COLUMN more int CONSTRAINT wc CHECK (of_row(w) > 0);
DO $$ BEGIN EXECUTE 'CREATE INDEX wi ON w (of_row(w))'; END $$;
BEGIN;
INSERT INTO w VALUES (1, 'a', '2026-01-01');
SAVEPOINT s;
ALTER TABLE w ADD CONSTRAINT wc CHECK (w IS NOT NULL);
ROLLBACK TO s;
INSERT INTO w VALUES (1, 'a', '2027-01-01');
COMMIT;
-- (later versions have a DETAIL)
\set VERBOSITY terse
CREATE INDEX wi ON w (of_row(w));
\set VERBOSITY default
-- a table that has one does not become a hypertable
CREATE TABLE v (id int, ts timestamptz NOT NULL);
CREATE INDEX vi ON v ((v IS NULL));
SELECT FROM create_hypertable('v', 'ts');
DROP INDEX vi;
ALTER TABLE v ADD CONSTRAINT vc CHECK (v IS NOT NULL);
SELECT FROM create_hypertable('v', 'ts');
ALTER TABLE v DROP CONSTRAINT vc;
SELECT FROM create_hypertable('v', 'ts');
INSERT INTO v VALUES (1, '2026-01-01');
-- all other kinds of indexes, on chunks that are there and new ones, over rows in both halves
CREATE INDEX i1 ON w USING brin (ts);
CREATE INDEX i2 ON w USING hash (note);
CREATE INDEX i3 ON w USING spgist (note);
CREATE INDEX i4 ON w USING gin (to_tsvector('simple', note));
CREATE INDEX i5 ON w USING gist (tstzrange(ts, ts, '[]'));
CREATE UNIQUE INDEX i6 ON w (ts, id) INCLUDE (note);
CREATE INDEX i7 ON w (lower(note) COLLATE "C" text_pattern_ops DESC NULLS LAST) WHERE id > 5;
CREATE INDEX i8 ON w ((id % 7), (note || id));
CREATE TRIGGER tr BEFORE UPDATE ON w FOR EACH ROW WHEN (OLD IS DISTINCT FROM NEW) EXECUTE FUNCTION suppress_redundant_updates_trigger();
INSERT INTO w SELECT g, 'n' || g, timestamptz '2028-01-01' + g * interval '1 s' FROM generate_series(1, 3000) g;
SELECT compress_chunk('w');
INSERT INTO w SELECT g, 'n' || g, timestamptz '2028-01-01' + g * interval '1 s' FROM generate_series(3001, 4000) g;
INSERT INTO w SELECT g, 'n' || g, timestamptz '2029-01-01' + g * interval '1 s' FROM generate_series(1, 1000) g;
INSERT INTO w VALUES (7, 'twice', '2028-01-01 00:00:07');
SET enable_seqscan = off;
SELECT count(*) FILTER (WHERE note = 'n7'), count(*) FILTER (WHERE lower(note) = 'n77'), count(*) FILTER (WHERE id % 7 = 3 AND note || id = 'n1010') FROM w;
SELECT count(*) FROM w WHERE note = 'n7';
SELECT count(*) FROM w WHERE note ^@ 'n99';
SELECT count(*) FROM w WHERE to_tsvector('simple', note) @@ 'n500';
SELECT count(*) FROM w WHERE tstzrange(ts, ts, '[]') && '["2028-01-01 00:00:07","2028-01-01 00:00:08"]';
SELECT count(*) FROM w WHERE ts = '2028-01-01 00:00:07';
SELECT count(*) FROM w WHERE lower(note) = 'n77' AND id > 5;
SELECT count(*) FROM w WHERE id % 7 = 3 AND note || id = 'n1010';
UPDATE w SET note = note WHERE id = 10;
DROP TABLE w CASCADE;
DROP TABLE v;
