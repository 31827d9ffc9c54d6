-- Documents kept by path: the same bytes come back, and what does not gain stays as it was.
SET client_min_messages = warning;

CREATE FUNCTION batch_jsonb_doc(i int) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT jsonb_build_object(
        'time', to_char(timestamp '2026-01-01' + i * interval '1.5 s', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
        'level', CASE WHEN i % 17 = 0 THEN 'error' ELSE 'info' END,
        'user', 'user_' || (i * 7919) % 97, 'ok', i % 3 = 0, 'bytes', (i * 104729) % 65536,
        'ratio', round((i % 100) / 8.0, 3), 'note', CASE WHEN i % 5 = 0 THEN 'seen ' || i || ' times' END,
        'tags', to_jsonb((ARRAY['a', 'bb', 'ccc', 'Ω'])[1 : i % 5]),
        'at', jsonb_build_object('lat', (i % 90)::numeric / 7, 'city', 'city ' || i % 11))
$$;
CREATE TABLE heap_docs AS SELECT i AS id, CASE WHEN i % 50 <> 3 THEN batch_jsonb_doc(i) END AS doc FROM generate_series(1, 3000) i;
CREATE TABLE docs (LIKE heap_docs) USING strata WITH (strata.orderby = 'id');
INSERT INTO docs SELECT * FROM heap_docs;
SELECT compress_chunk('docs');
SELECT codec, count(*), sum(nulls) AS nulls FROM strata.batch_columns('docs') WHERE column_name = 'doc' GROUP BY 1;
SELECT count(*) FROM strata.verify('docs');
-- not only equal: the same text and the same bytes
SELECT count(*) FROM heap_docs h JOIN docs s USING (id)
WHERE h.doc::text IS DISTINCT FROM s.doc::text OR jsonb_send(h.doc) IS DISTINCT FROM jsonb_send(s.doc)
   OR pg_column_size(h.doc || '{}') IS DISTINCT FROM pg_column_size(s.doc || '{}');
SELECT count(*) FROM (SELECT * FROM heap_docs EXCEPT ALL SELECT * FROM docs) d;
SELECT doc FROM docs WHERE id = 1234;
SELECT doc->>'level' AS level, count(*), sum((doc->>'bytes')::int) FROM docs GROUP BY 1 ORDER BY 1;
SELECT id, doc->'at' FROM docs ORDER BY id DESC LIMIT 2;

-- smaller than what zstd or LZ4 make of the whole
CREATE TABLE others (LIKE docs) USING strata WITH (strata.orderby = 'id', strata.codecs = 'doc zstd');
INSERT INTO others SELECT * FROM heap_docs;
SELECT compress_chunk('others');
SELECT d.bytes < 0.8 * o.bytes AS smaller
FROM (SELECT sum(bytes) AS bytes FROM strata.batch_columns('docs') WHERE column_name = 'doc') d,
     (SELECT sum(bytes) AS bytes FROM strata.batch_columns('others') WHERE column_name = 'doc') o;

-- every level
ALTER TABLE docs SET (strata.codec_level = 'archive');
SELECT compress_chunk('docs', recompress => true);
SELECT codec, count(*) FROM strata.batch_columns('docs') WHERE column_name = 'doc' GROUP BY 1;
SELECT count(*) FROM (SELECT * FROM heap_docs EXCEPT ALL SELECT * FROM docs) d;
ALTER TABLE docs SET (strata.codec_level = 'hot');
UPDATE docs SET doc = doc || '{"changed": true}' WHERE id % 100 = 0;
UPDATE heap_docs SET doc = doc || '{"changed": true}' WHERE id % 100 = 0;
SELECT compress_chunk('docs', recompress => true);
SELECT count(*) FROM (SELECT * FROM heap_docs EXCEPT ALL SELECT * FROM docs) d;
SELECT count(*) FROM strata.verify('docs');

-- numbers keep their scale, strings their bytes, scalars and empty containers are documents too
CREATE TABLE heap_odd AS
SELECT row_number() OVER () AS id, v::jsonb AS doc FROM generate_series(1, 20), unnest(ARRAY[
    '{"a": 1.10, "b": "x"}', '{"a": 1.1000, "b": "\u00e9\ud83d\ude00"}', '{"a": -0.00, "b": ""}', '{"a": 1e400, "b": null}',
    '{"a": 1e-300, "b": true}', '{"a": 12345678901234567890.123456789, "b": [1, [2, [3, {"c": {}}]], []]}', '{"a": [], "b": {}}',
    '{"": {"": ""}}', '{}', '[]', '"only a string"', '3.000', 'null', 'true', '[null, "a", 1]', '{"a": {"a": {"a": {"a": 1}}}}']) v;
INSERT INTO heap_odd SELECT 1000 + i, jsonb_object_agg('key ' || k, CASE WHEN k % 3 = 0 THEN to_jsonb(k * i) ELSE to_jsonb('value ' || k) END)
FROM generate_series(1, 40) i, generate_series(1, 30 + i) k GROUP BY i;
INSERT INTO heap_odd SELECT 2000 + i, (SELECT jsonb_agg(k * i) FROM generate_series(1, i) k) FROM generate_series(1, 70) i;
CREATE TABLE odd (LIKE heap_odd) USING strata WITH (strata.orderby = 'id', strata.codecs = 'doc jsonb');
INSERT INTO odd SELECT * FROM heap_odd;
SELECT compress_chunk('odd');
SELECT codec, count(*) FROM strata.batch_columns('odd') WHERE column_name = 'doc' GROUP BY 1;
SELECT count(*) FROM heap_odd h JOIN odd s USING (id) WHERE h.doc::text <> s.doc::text OR jsonb_send(h.doc) <> jsonb_send(s.doc);
SELECT count(*) FROM odd;
SELECT count(*) FROM strata.verify('odd');

-- nothing in common, a domain, a column that must not be compressed
CREATE DOMAIN batch_jsonb_domain AS jsonb;
CREATE TABLE mixed (id int, random jsonb, dom batch_jsonb_domain, kept jsonb, txt text) USING strata WITH (strata.orderby = 'id');
ALTER TABLE mixed ALTER kept SET STORAGE EXTERNAL;
INSERT INTO mixed SELECT i, jsonb_build_object(md5(i::text), md5((i + 1)::text)), batch_jsonb_doc(i), batch_jsonb_doc(i), 'x' || i FROM generate_series(1, 500) i;
SELECT compress_chunk('mixed');
SELECT column_name, codec = 'jsonb' AS by_path FROM strata.batch_columns('mixed') WHERE column_name IN ('random', 'dom', 'kept') ORDER BY 1;
SELECT count(*) FROM mixed WHERE dom <> batch_jsonb_doc(id) OR kept <> batch_jsonb_doc(id) OR random <> jsonb_build_object(md5(id::text), md5((id + 1)::text));
ALTER TABLE mixed SET (strata.codecs = 'txt jsonb');
-- documents that take next to nothing come back too
CREATE TABLE heap_same AS
SELECT i AS id, jsonb_build_object('i', i, 'a', (SELECT jsonb_agg(i > 500 AND k > 0) FROM generate_series(1, 1000) k)) AS doc FROM generate_series(1, 1000) i;
INSERT INTO heap_same SELECT i, jsonb_build_object('i', i, 's', repeat(CASE WHEN i = 1001 THEN 'y' ELSE 'x' END, 16000)) FROM generate_series(1001, 2000) i;
CREATE TABLE same (LIKE heap_same) USING strata WITH (strata.orderby = 'id');
INSERT INTO same SELECT * FROM heap_same;
SELECT compress_chunk('same');
SELECT codec, bool_and(bytes < 200) FROM strata.batch_columns('same') WHERE column_name = 'doc' GROUP BY 1;
SELECT count(*) FROM ((TABLE same EXCEPT ALL TABLE heap_same) UNION ALL (TABLE heap_same EXCEPT ALL TABLE same)) d;
SELECT count(*) FROM strata.verify('same');
DROP TABLE heap_same, same, heap_docs, docs, others, heap_odd, odd, mixed;
DROP DOMAIN batch_jsonb_domain;
DROP FUNCTION batch_jsonb_doc;
