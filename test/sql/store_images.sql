-- Segment values that are equal and not identical: each image has batches of its own, and they are full.
CREATE COLLATION store_blind (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TYPE store_pair AS (a numeric, b text);
-- Rows come shuffled, so that they go through the sort; 4 images of 2 values, 2000 rows each.
CREATE FUNCTION try(type text, images text[], extra text DEFAULT '') RETURNS TABLE (type_name text, segments bigint, batches bigint, overlapping bigint, rows_lost bigint) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE TABLE i (s %s %s, n int, v int) USING strata', type, extra);
	ALTER TABLE i SET (strata.segmentby = 's', strata.orderby = 'n');
	EXECUTE format('INSERT INTO i SELECT ($1)[1 + k %% 4]::%s, k, k FROM generate_series(0, 7999) k ORDER BY (k * 7919) %% 8000', type) USING images;
	CREATE TEMP TABLE h AS SELECT s::text AS s, n, v FROM i;
	SET LOCAL maintenance_work_mem = '1MB';
	PERFORM compress_chunk('i');
	type_name := type;
	SELECT count(DISTINCT b.segment), count(*) INTO segments, batches FROM strata.batches('i') b;
	SELECT count(*) INTO overlapping FROM strata.batches('i') a JOIN strata.batches('i') b
		ON a.segment = b.segment AND a.first_row < b.first_row AND a.min_orderby::int <= b.max_orderby::int AND b.min_orderby::int <= a.max_orderby::int;
	SELECT count(*) INTO rows_lost FROM (SELECT s, n, v FROM h EXCEPT ALL SELECT s::text, n, v FROM i) x;
	RETURN NEXT;
	-- half as many again in each, late and shuffled, merged with what there is
	EXECUTE format('INSERT INTO i SELECT ($1)[1 + k %% 4]::%s, k, k FROM generate_series(0, 3999) k ORDER BY (k * 3989) %% 4000', type) USING images;
	TRUNCATE h;
	INSERT INTO h SELECT s::text, n, v FROM i;
	PERFORM compress_chunk('i', recompress => true);
	type_name := type || ', merged';
	SELECT count(DISTINCT b.segment), count(*) INTO segments, batches FROM strata.batches('i') b;
	SELECT count(*) INTO overlapping FROM strata.batches('i') a JOIN strata.batches('i') b
		ON a.segment = b.segment AND a.first_row < b.first_row AND a.min_orderby::int < b.max_orderby::int AND b.min_orderby::int < a.max_orderby::int;
	SELECT count(*) INTO rows_lost FROM (SELECT s, n, v FROM h EXCEPT ALL SELECT s::text, n, v FROM i) x;
	RETURN NEXT;
	DROP TABLE i, h;
END $$;
SET client_min_messages = warning;
SELECT * FROM try('numeric', '{1.0,1.00,2,2.000}');
SELECT * FROM try('float8', '{0,-0,1,2}');
SELECT * FROM try('text', '{abc,ABC,def,dEf}', 'COLLATE store_blind');
SELECT * FROM try('interval', '{1 day,24:00,30 days,1 mon}');
SELECT * FROM try('jsonb', '{"{\"a\": 1.0}","{\"a\": 1.00}",1,1.0}');
SELECT * FROM try('numeric[]', '{"{1.0}","{1.00}","{2}","{2.0}"}');
SELECT * FROM try('store_pair', '{"(1.0,a)","(1.00,a)","(2,a)","(2.0,a)"}');
SELECT * FROM try('numrange', '{"[1.0,2)","[1.00,2)","[3,4)","[3.0,4)"}');
SELECT * FROM try('int', '{1,2,3,4}');
SELECT * FROM try('char(5)', '{a,"a ",b,"b  "}');
DROP FUNCTION try(text, text[], text);
DROP TYPE store_pair;
DROP COLLATION store_blind;
