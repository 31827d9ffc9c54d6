-- Floats of 15 to 17 digits in zstd: which levels take it, and that every bit comes back.
SET client_min_messages = error;
CREATE SCHEMA codec_float_zstd;
SET search_path = codec_float_zstd, public;
SET extra_float_digits = 3;
CREATE TABLE plain (ts timestamptz NOT NULL, device int, adc float8, quotient float8, adc4 float4, odd float8);
INSERT INTO plain SELECT '2024-01-01'::timestamptz + i * interval '30 s', i % 2, (20000 + i * 7919 % 61 + i / 40) * 165.0::float8 / 65535 - 40,
        CASE WHEN i % 19 <> 0 THEN (i * 7919 % 301)::float8 / (1 + i * 104729 % 299) END, ((20000 + i * 7919 % 61) * 165.0::float8 / 65535)::float4,
        CASE i % 7 WHEN 0 THEN 'NaN' WHEN 1 THEN '-0' WHEN 2 THEN 'infinity' WHEN 3 THEN '-infinity' WHEN 4 THEN 5e-324 ELSE i / 7.0::float8 END
    FROM generate_series(1, 6000) AS i;
CREATE TABLE t (LIKE plain) USING strata WITH (strata.segmentby = 'device', strata.orderby = 'ts');
SELECT count(*) FROM create_hypertable('t', 'ts', chunk_time_interval => interval '12 hours');
INSERT INTO t SELECT * FROM plain WHERE extract(second FROM ts) = 0 OR device = 0;
CREATE FUNCTION pack(level text, codecs text) RETURNS TABLE (column_name name, zstd boolean) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('ALTER TABLE t SET (strata.codec_level = %L, strata.codecs = %L)', level, codecs);
    PERFORM compress_chunk(c, recompress => true) FROM show_chunks('t') AS c;
    RETURN QUERY SELECT b.column_name, bool_or(codec = 'zstd') FROM strata.batch_columns('t') AS b WHERE b.column_name IN ('adc', 'quotient', 'adc4', 'odd') GROUP BY 1 ORDER BY 1;
END $$;
SELECT count(compress_chunk(c)) FROM show_chunks('t') AS c;
INSERT INTO t SELECT * FROM plain AS p WHERE NOT (extract(second FROM ts) = 0 OR device = 0);
CREATE VIEW differs AS SELECT count(*) FROM (SELECT t::text FROM t EXCEPT ALL SELECT plain::text FROM plain UNION ALL (SELECT plain::text FROM plain EXCEPT ALL SELECT t::text FROM t)) AS d;
SELECT * FROM differs;
SELECT * FROM pack('hot', '');
SELECT * FROM differs;
SELECT * FROM pack('balanced', '');
SELECT * FROM differs;
SELECT * FROM pack('archive', '');
SELECT * FROM differs;
SELECT * FROM pack('hot', 'adc zstd, quotient zstd, adc4 zstd, odd zstd');
SELECT * FROM differs;
-- parts of batches, aggregates, rows found by their values, changes
SELECT count(*), sum(adc) BETWEEN 0 AND 1e9, min(quotient), max(odd) FROM t WHERE ts BETWEEN '2024-01-01 05:00' AND '2024-01-01 05:31';
SELECT (SELECT max(adc) FROM t) = (SELECT max(adc) FROM plain), (SELECT count(*) FROM t WHERE adc = 10.355535210192418) = (SELECT count(*) FROM plain WHERE adc = 10.355535210192418),
    (SELECT sum(adc4::numeric) FROM t WHERE quotient > 2) = (SELECT sum(adc4::numeric) FROM plain WHERE quotient > 2);
UPDATE t SET quotient = -1 WHERE ts = '2024-01-01 10:00:30';
UPDATE plain SET quotient = -1 WHERE ts = '2024-01-01 10:00:30';
DELETE FROM t WHERE adc < 10.4 AND device = 1;
DELETE FROM plain WHERE adc < 10.4 AND device = 1;
SELECT * FROM differs;
SELECT count(*) FROM strata.verify('t');
DROP SCHEMA codec_float_zstd CASCADE;
