-- What is looked at to find a value does not grow with the table: entries of
-- the companion's indexes that were read.
SET strata.batch_rows = 20;
CREATE TABLE sp_many (ts timestamptz NOT NULL, seg int, v int) USING strata WITH (strata.orderby = 'ts');
INSERT INTO sp_many SELECT timestamptz '2026-01-01 00:00Z' + i * interval '1 s', i % 2, i FROM generate_series(1, 8000) i;
SELECT compress_chunk('sp_many');
VACUUM ANALYZE sp_many;
CREATE FUNCTION sp_entries(q text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  indexes oid[] := ARRAY(SELECT indexrelid FROM pg_index WHERE indrelid = strata.batch_relation('sp_many'));
  before bigint := (SELECT sum(pg_stat_get_xact_tuples_returned(i)) FROM unnest(indexes) i);
BEGIN
  EXECUTE q;
  RETURN (SELECT sum(pg_stat_get_xact_tuples_returned(i)) FROM unnest(indexes) i) - before;
END $$;
SELECT count(*) FROM strata.batches('sp_many');
SELECT sp_entries($$ SELECT * FROM sp_many WHERE ts = '2026-01-01 00:10:07Z' $$) <= 5 AS few_of_one,
  sp_entries($$ SELECT * FROM sp_many WHERE ts >= '2026-01-01 00:10Z' AND ts < '2026-01-01 00:11Z' $$) <= 10 AS few_of_a_minute,
  sp_entries($$ SELECT * FROM sp_many WHERE ts <= '2026-01-01 01:00Z' ORDER BY ts DESC LIMIT 5 $$) <= 5 AS few_of_latest_before,
  sp_entries($$ SELECT * FROM sp_many WHERE ts >= '2026-01-01 01:00Z' ORDER BY ts LIMIT 5 $$) <= 5 AS few_of_first_after;

