-- Expressions evaluated for many rows at a time (src/expr) say what those
-- evaluated row by row do: values, errors, and what is not evaluated at all.
SET client_min_messages = error;
CREATE SCHEMA expr_compare;
SET search_path = expr_compare, public;
SET extra_float_digits = 3;
SET max_parallel_workers_per_gather = 0;
SET strata.batch_rows = 150;
CREATE TABLE s (
    gone int, ts timestamptz NOT NULL, host text, i2 int2, i4 int4, i8 int8, f4 float4, f8 float8,
    num numeric, d date, t timestamp, txt text, b bool, zero int, z float8
) USING strata;
ALTER TABLE s SET (strata.segmentby = 'host', strata.orderby = 'ts DESC');
SELECT count(*) FROM create_hypertable('s', 'ts', chunk_time_interval => interval '12 hours');
INSERT INTO s SELECT i, '2024-03-09 20:00-05'::timestamptz + i * interval '211 s',
    CASE i % 3 WHEN 2 THEN NULL ELSE 'host' || i % 3 END,
    CASE WHEN i % 11 <> 0 THEN i % 300 - 150 END,
    CASE WHEN i % 13 <> 0 THEN i * 7919 % 100003 - 50000 END,
    CASE WHEN i % 17 <> 0 THEN (i - 500)::int8 * 2305843009213693 END,
    CASE i % 50 WHEN 1 THEN 'NaN' WHEN 2 THEN NULL WHEN 3 THEN '-0' WHEN 4 THEN 'infinity' ELSE ((i % 1000 + 1) * 0.3)::float4 END,
    CASE i % 40 WHEN 1 THEN 'NaN' WHEN 2 THEN NULL WHEN 3 THEN '-0' WHEN 4 THEN '-infinity' WHEN 5 THEN 0 ELSE (i % 4001 - 700) * 0.1 END,
    CASE i % 40 WHEN 7 THEN NULL WHEN 8 THEN 'NaN' ELSE (i % 777)::numeric / 8 END,
    CASE i % 60 WHEN 5 THEN NULL WHEN 6 THEN 'infinity'::date WHEN 7 THEN '0044-03-15 BC'::date ELSE '2024-01-01'::date + i % 90 END,
    CASE i % 70 WHEN 3 THEN '-infinity'::timestamp WHEN 4 THEN NULL WHEN 5 THEN '0044-03-15 BC' WHEN 6 THEN '294276-12-31 23:59:59.999999' WHEN 7 THEN '4714-11-24 00:00:00.000002 BC' ELSE '1999-12-30'::timestamp + i * interval '10 min' END,
    CASE i % 23 WHEN 0 THEN NULL WHEN 1 THEN '' ELSE 'path/' || repeat(chr(65 + i % 5), i % 3 + 1) || '/x' END,
    CASE i % 5 WHEN 0 THEN NULL ELSE i % 3 = 0 END,
    CASE WHEN i % 400 = 7 THEN 0 ELSE i % 5 + 1 END, i % 8
    FROM generate_series(1, 1500) AS i;
ALTER TABLE s DROP COLUMN gone;
SELECT count(compress_chunk(c)) FROM show_chunks('s') AS c;
ALTER TABLE s ADD COLUMN added int DEFAULT 7;
INSERT INTO s SELECT ts + interval '50 s', host, i2, i4, i8, f4, f8, num, d, t, txt, b, zero, z, 8 FROM s WHERE i4 % 7 < 3;
DELETE FROM s WHERE i4 % 31 = 5;

CREATE FUNCTION run(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text;
BEGIN
    EXECUTE format('SELECT string_agg(q::text, E''\n'' ORDER BY q::text) FROM (%s) AS q', query) INTO result;
    RETURN result;
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
CREATE FUNCTION differs(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    mine text;
    theirs text;
BEGIN
    PERFORM set_config('strata.enable_vector_expressions', 'on', true);
    mine := run(query);
    PERFORM set_config('strata.enable_vector_expressions', 'off', true);
    theirs := run(query);
    RETURN CASE WHEN mine IS DISTINCT FROM theirs THEN query || ': ' || left(mine, 200) || ' / ' || left(theirs, 200) END;
END $$;
-- a function that is not the server's
CREATE FUNCTION raises(n int, m int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
    IF m = 0 THEN
        RAISE EXCEPTION 'no % in %', m, n;
    END IF;
    RETURN n / m;
END $$;
CREATE TABLE e (e text);
INSERT INTO e VALUES
    ('i2 + i2'), ('i2 * i2'), ('i2 * i2 * i2'), ('i4 + i4'), ('i4 * i4'), ('i4 * i2'), ('i2 - i4'), ('-i2'), ('abs(i4)'), ('i8 + i8'), ('i8 * i8'),
    ('i8 * 3'), ('i8 - i2'), ('i2 + i8'), ('-i8'), ('abs(i8)'), ('i4 / zero'), ('i4 % zero'), ('i8 / zero'), ('i4 % nullif(zero, 0)'), ('i4 / -1'),
    ('i4::int2'), ('i8::int4'), ('i2::int8'), ('i4::float4'), ('i8::float8'), ('f8::int4'), ('f8::int2'), ('f4::int8'), ('f8::float4'), ('f4::float8'),
    ('(i4 / 7.0::float8)::int4'), ('f4 + f4'), ('f4 * f4'), ('f4 / f4'), ('f4 - f8'), ('f8 * f4'), ('f8 + i4'), ('f8 / f8'), ('f8 / 3'), ('f8 * f8 * 1e300'),
    ('f8 * 1e-300 * 1e-300'), ('-f8'), ('abs(f4)'), ('floor(f8)'), ('ceil(f8)'), ('trunc(f8)'), ('round(f8)'), ('sqrt(f8)'), ('sqrt(abs(f8))'),
    ('f4::float8 * 1e38::float4'), ('(f4 * 1e38::float4)'), ('(f8 * 1e39)::float4'), ('(f8 * 1e-50)::float4'),
    ('f8 > f4'), ('f8 = f8'), ('f8 <> f4'), ('f4 <= f4'), ('f8 < 0'), ('f8 >= z'), ('i4 > i8'), ('i2 <> i4'), ('d < ''2024-02-01'''), ('t > ''2000-01-02'''),
    ('ts <= ''2024-03-15 00:00'''), ('d > t'), ('d - date ''2024-01-01'''), ('d + i2'), ('t - timestamp ''2000-01-01'''), ('b = (i4 > 3)'), ('b > (i2 > 0)'),
    ('i4 > 0 AND f8 > 0'), ('b OR i4 > 0'), ('NOT b'), ('b AND 1 / (i4 - i4) > 0'), ('zero = 0 OR i4 / zero > 3'), ('zero <> 0 AND i4 / zero > 3'),
    ('i4 / zero > 3 OR zero = 0'), ('b IS TRUE'), ('b IS NOT FALSE'), ('b IS UNKNOWN'), ('i4 IS NULL'), ('txt IS NOT NULL'), ('(i4 / zero) IS NULL'),
    ('i4 IS DISTINCT FROM i2'), ('nullif(i4, 7)'), ('greatest(i4, i2)'), ('coalesce(i4, i2, 0)'), ('coalesce(i4, 1 / (zero - zero))'), ('coalesce(txt, host, ''-'')'),
    ('CASE WHEN zero = 0 THEN -1 ELSE i4 / zero END'), ('CASE zero WHEN 0 THEN 0 WHEN 1 THEN i4 ELSE i4 / (zero - 1) END'), ('CASE WHEN b THEN f8 END'),
    ('CASE WHEN i4 > 100 THEN ''high'' WHEN i4 > 0 THEN ''low'' ELSE txt END'), ('CASE WHEN i4 / zero > 3 THEN 1 ELSE 2 END'),
    ('CASE i4 % 3 WHEN 0 THEN ''a'' WHEN 1 THEN ''b'' END'), ('CASE zero WHEN i2 / i4 THEN 1 ELSE 2 END'), ('i4 IN (1, 2, -47, 100, 38)'), ('i4 NOT IN (1, 2, -47, 100)'),
    ('i4 IN (1, NULL)'), ('i2 = ANY (''{}'')'), ('i8 IN (0, 1, 2305843009213693)'), ('d IN (''2024-01-05'', ''infinity'')'), ('zero IN (i2, i4)'),
    ('lower(txt)'), ('split_part(txt, ''/'', 2)'), ('split_part(txt, ''/'', zero)'), ('length(txt)'), ('length(txt) * i4'), ('txt LIKE ''%A%'' AND i4 > 0'), ('txt || host'),
    ('substr(txt, 1, zero - 1)'), ('(txt || ''1'')::int'), ('length(txt) / zero'), ('txt = ''path/A/x'''), ('upper(host) || ''!'''), ('txt ~ ''^path/[AB]'''), ('txt IN (''path/A/x'', '''')'),
    ('extract(hour FROM ts)'), ('extract(dow FROM ts)'), ('extract(isodow FROM t)'), ('extract(doy FROM t)'), ('extract(week FROM ts)'), ('extract(month FROM t)'), ('extract(quarter FROM ts)'),
    ('extract(year FROM ts)'), ('extract(minute FROM ts)'), ('extract(second FROM t)'), ('extract(epoch FROM ts)'), ('extract(hour FROM t)'), ('extract(year FROM d)'), ('extract(nonsense FROM t)'),
    ('date_part(''hour'', ts)'), ('date_part(''hour'', ts) + i4'), ('extract(hour FROM ts)::int'), ('extract(hour FROM ts) * 2 + extract(dow FROM ts)'), ('extract(hour FROM ts) > 5 AND i4 > 3'),
    ('extract(hour FROM ts) BETWEEN 8 AND 17'), ('CASE WHEN extract(hour FROM ts) < 12 THEN i4 * 2 ELSE i2 END'), ('ts::date'), ('t::date'), ('t::date - d'), ('to_char(ts, ''HH24'')'),
    ('date_trunc(''day'', ts) - ts'), ('date_trunc(''hour'', t) = t'), ('date_trunc(''dow'', t)'), ('extract(hour FROM ts - interval ''1 h'')'), ('num * 2'), ('num + i4'), ('num > 20'), ('num * num'),
    ('added * i4'), ('added'), ('added + 1'),
    ('nullif(i8, i2)'), ('nullif(f8, 0)'), ('nullif(f4, f8)'), ('nullif(txt, '''')'), ('nullif(i4 / zero, 1)'), ('i4 / nullif(zero, 0) + i2'), ('f8 IS DISTINCT FROM f4'), ('f8 IS NOT DISTINCT FROM z'),
    ('d IS DISTINCT FROM NULL'), ('txt IS DISTINCT FROM host'), ('b IS DISTINCT FROM (i4 > 0)'), ('greatest(f8, f4, z)'), ('least(f8, f4)'), ('least(i2, NULL, i8)'), ('greatest(d, ''2024-02-01'')'),
    ('least(t, ts::timestamp)'), ('greatest(num, i4)'), ('greatest(txt, host)'), ('greatest(i4 / zero, 3)'), ('least(NULL::int, NULL)'), ('greatest(-f8, f8) + i4'), ('ts + interval ''90 min'''),
    ('t + interval ''1 us'''), ('t - interval ''2 us'''), ('t - interval ''3 days'''), ('t + interval ''1 day 1 hour'''), ('t + interval ''1 month'''), ('ts - interval ''1 day'''), ('interval ''1 h'' + ts > t'),
    ('t - interval ''200000000 days'''), ('t + NULL::interval'), ('i4 BETWEEN i2 AND 40000'), ('i4 NOT BETWEEN SYMMETRIC 30000 AND i2'), ('added / (added - 7)'), ('i4 + NULL::int'), ('i4 > NULL::int AND i4 / zero > 0'), ('(i4 > 0) IS NOT TRUE'), ('ARRAY[i4, i2]'), ('row(i4, i2)'),
    ('z'), ('z + z'), ('floor(z / 3)'), ('f8 / nullif(z, 0)'), ('f4 / nullif(z::float4, 3)'), ('f8 / z'), ('z / f8'), ('(z - z) / nullif(z, 0)'), ('z * 1e300 * f8'), ('f8 * 1e305 + f8 * 1e305'),
    ('1e-200 * z * 1e-200'), ('nullif(z, 3) / z'), ('sqrt(nullif(f8, -70))'), ('nullif(i8, 0) / nullif(zero, 0)'), ('i4 % nullif(zero, 3)'), ('greatest(z, 3) - least(z, f4)'), ('coalesce(f8, z) / 2'),
    -- several nodes that may raise an error: PostgreSQL's is raised
    ('i4 / zero + (txt || ''1'')::int'), ('(txt || ''1'')::int + i4 / zero'), ('(host || zero)::int / zero'), ('length(txt) / zero + i2 * i2'), ('length(txt) * i4 / nullif(zero, 0)'),
    ('CASE WHEN i4 % 2 = 0 THEN i4 / zero ELSE (txt || zero)::int END'), ('CASE WHEN zero = 0 THEN (host || ''x'')::int ELSE substr(txt, 1, zero - 2)::int END'),
    ('length(substr(txt, 1, zero - 1)) + i4 / zero'), ('length(substr(txt, 1, i4 % 7)) + i4 / (i4 % 5) + length(host)'), ('coalesce(length(txt) + i4, i4 / zero, (host || 1)::int)'),
    ('raises(i4, zero) + length(txt)'), ('raises(i4, zero) / zero'), ('raises(zero, 1) + (host || zero)::int'), ('length(txt) + length(host) * i4::float8'),
    ('date_part(''epoch'', t - timestamp ''2000-01-01'') * f8'), ('date_trunc(host, t) > t AND i4 / zero > 1'), ('(t - timestamp ''2000-01-01'') * f8 > interval ''1 s''');
SELECT * FROM (SELECT differs(format('SELECT %s AS k, count(*), sum(i4) FROM s GROUP BY 1', e)) AS d FROM e) AS q WHERE d IS NOT NULL;
SELECT * FROM (SELECT differs(format('SELECT host, count(%s), min((%s)::text) FROM s GROUP BY 1', e, e)) AS d FROM e) AS q WHERE d IS NOT NULL;
SELECT * FROM (SELECT differs(format('SELECT zero, count(*) FILTER (WHERE (%s)::text > ''1''), count(*) FILTER (WHERE (%s) IS NULL) FROM s GROUP BY 1', e, e)) AS d FROM e) AS q WHERE d IS NOT NULL;
SELECT * FROM (SELECT differs(format('SELECT count(*) FILTER (WHERE zero <> 0 AND i4 > 0 AND (%s) IS NOT NULL), sum(i4) FROM s WHERE zero > 1', e)) AS d FROM e) AS q WHERE d IS NOT NULL;
SELECT * FROM (SELECT differs(format('SELECT sum(%s), avg(%s), max(%s) FROM s WHERE zero <> 0 AND i4 > 0', e, e, e)) AS d FROM e) AS q WHERE d IS NOT NULL;
-- arguments that are computed for the rows only that FILTER lets pass
SELECT * FROM (SELECT differs(format('SELECT host, count(%s) FILTER (WHERE zero <> 0 AND i4 > 0), max((%s)::text) FILTER (WHERE zero = 2), last((%s)::text, ts) FILTER (WHERE i2 > 0) FROM s GROUP BY 1', e, e, e)) AS d FROM e) AS q WHERE d IS NOT NULL;
SELECT * FROM (SELECT differs(format('SELECT sum(%s) FILTER (WHERE zero <> 0), min(%s) FILTER (WHERE zero > 9), avg(%s) FILTER (WHERE i4 > i2) FROM s', e, e, e)) AS d FROM e) AS q WHERE d IS NOT NULL;
-- conditions: their order, and rows that the one before let not pass
SELECT * FROM (SELECT differs(format('SELECT count(*) FILTER (WHERE %s AND i4 / zero > 3) FROM s', c)) AS d
    FROM unnest('{zero <> 0,zero = 0,b,i4 > NULL::int,zero > 1 AND b,txt = ''path/A/x''}'::text[]) AS c) AS q WHERE d IS NOT NULL;
-- FILTER is one expression: its AND goes on behind a null, as PostgreSQL's does
SELECT c FROM unnest('{i2 > 0 AND i4 / zero > 3,host > ''a'' AND i4 / zero > 3 AND i2 > 0,i4 > i2 AND i4 / zero > 3,i2 > 0 AND zero <> 0 AND i4 / zero > 3,i2 > 0 AND raises(i4\, zero) > 0,
        host > ''a'' AND (txt || zero)::int > i4,i4 > i2 AND (i2 > 0 AND i4 / zero > 3),i2 > 0 AND i4 > 0 AND txt LIKE ''%A%'',(i2 > 0 OR host > ''a'') AND 7 / zero > 1 AND (txt || 1)::int > 0}'::text[]) AS c
    WHERE run(format('SELECT host, count(*) FILTER (WHERE %s), sum(i4) FROM s WHERE zero > 0 OR i2 IS NULL GROUP BY 1', c)) IS DISTINCT FROM
        run(format('SELECT host, count(*) FILTER (WHERE %s), sum(i4) FROM (SELECT * FROM s OFFSET 0) AS s WHERE zero > 0 OR i2 IS NULL GROUP BY 1', c));
-- conditions of columns and constants, for FILTER and CASE: nulls, NaN, zeros of both signs, constants that the column cannot have
CREATE TABLE c (c text);
INSERT INTO c SELECT format(f, o) FROM unnest('{=,<>,<,<=,>,>=}'::text[]) AS o, (VALUES
    ('i2 %s 100'), ('i2 %s 40000'), ('100 %s i2'), ('-40000 %s i2'), ('i4 %s -5000'), ('i4 %s 3000000000'), ('0 %s i4'), ('i8 %s 0::int8'), ('i8 %s 7::int2'), ('f4 %s 0'),
    ('f4 %s 0.3::float4'), ('f4 %s 0.3'), ('-0.0::float8 %s f4'), ('f4 %s ''NaN'''), ('f4 %s ''infinity'''), ('f8 %s 0'), ('f8 %s ''NaN'''), ('f8 %s ''-infinity'''),
    ('''infinity'' %s f8'), ('12.5::float8 %s f8'), ('f8 %s 30::float4'), ('d %s ''2024-02-01'''), ('t %s ''2000-01-02'''), ('b %s true'), ('added %s 7')) AS v (f);
INSERT INTO c VALUES ('i4 IS NULL'), ('txt IS NOT NULL'), ('host IS NULL'), ('added IS NULL'), ('f8 IS NOT NULL AND i4 IS NULL'), ('i4 > 0 AND f8 < 30'), ('i4 > 0 OR i2 IS NULL OR f4 > 7'),
    ('i4 > 0 AND (i2 < 0 OR i8 IS NULL) AND f8 <> 0'), ('txt = ''path/A/x'''), ('txt <> ''path/A/x'''), ('host = ''host1'''), ('txt LIKE ''%A%'''), ('txt NOT LIKE ''%/x'''), ('txt LIKE ''%A%'' AND i4 > 0'),
    ('coalesce(txt, ''-'') = ''-'''), ('NOT (i4 > 0)'), ('NOT b'), ('b'), ('b IS NOT TRUE'), ('i4 > 0 AND b'), ('i4 > NULL::int'), ('NULL'), ('true'), ('num > 20'), ('i4 IN (1, 2, -47, 100)'),
    ('length(txt) > 7'), ('extract(hour FROM ts) > 5'), ('zero <> 0 AND i4 / zero > 3'), ('i4 / zero > 3'), ('(txt || zero)::int > 0');
SELECT * FROM (SELECT differs(replace('SELECT host, count(*) FILTER (WHERE %), sum(i8) FILTER (WHERE %), avg(f8) FILTER (WHERE %), min(f4) FILTER (WHERE %), max(i2) FILTER (WHERE %),
    bool_or(b) FILTER (WHERE %), stddev(f8) FILTER (WHERE %), sum(num) FILTER (WHERE %) FROM s GROUP BY 1', '%', c)) AS d FROM c) AS q WHERE d IS NOT NULL;
SELECT * FROM (SELECT differs(replace('SELECT count(CASE WHEN % THEN 1 END), sum(CASE WHEN % THEN i8 END), avg(CASE WHEN % THEN f4 END), max(CASE WHEN % THEN f8 END), min(CASE WHEN % THEN f8 END) FILTER (WHERE i2 > 0),
    sum(CASE WHEN % THEN 1 ELSE 0 END), sum(CASE WHEN % THEN num END), sum(CASE WHEN % THEN i4 + 1 END), sum(CASE WHEN % THEN f8 ELSE 0 END), variance(CASE WHEN % THEN f4 END) FROM s WHERE i4 > -30000', '%', c)) AS d
    FROM c) AS q WHERE d IS NOT NULL;
SELECT * FROM (SELECT differs(replace('SELECT CASE WHEN % THEN ''yes'' ELSE ''no'' END, CASE WHEN i4 > 0 THEN NULL WHEN % THEN ''a'' WHEN zero = 2 THEN ''b'' END, count(*), sum(i4),
    count(DISTINCT CASE WHEN % THEN 3::int2 WHEN b THEN 4 END), sum(CASE WHEN % THEN 0.5::float4 WHEN i2 > 5 THEN 2 END) FROM s GROUP BY 1, 2', '%', c)) AS d FROM c) AS q WHERE d IS NOT NULL;
SELECT * FROM (SELECT differs(replace('SELECT count(CASE WHEN % THEN 1 END) FROM s', '%', c)) AS d FROM c) AS q WHERE d IS NOT NULL;
SELECT * FROM (SELECT differs(format('SELECT count(CASE WHEN %s THEN %s END), count(%s) FILTER (WHERE %s) FROM s', c, e, e, c)) AS d FROM c, e
    WHERE length(c) % 13 = length(e) % 13 AND length(c) > 9) AS q WHERE d IS NOT NULL;
-- quals of the scan: what the first ones leave, errors of rows that are left, and rows that are not
SELECT * FROM (SELECT differs(format('SELECT count(*), sum(i4), min(ts) FROM s WHERE (%s)::text > ''1''', e)) AS d FROM e) AS q WHERE d IS NOT NULL;
SELECT * FROM (SELECT differs(format('SELECT zero, count(*) FROM s WHERE zero <> 0 AND (%s) IS NOT NULL AND i4 > i2 GROUP BY 1', e)) AS d FROM e) AS q WHERE d IS NOT NULL;
SELECT * FROM (SELECT differs(format('SELECT count(*), sum(i4) FROM s WHERE %s', c)) AS d
    FROM unnest('{i4 > i2,f8 > f4,i4 / zero > i2,i4 > i2 AND i4 / zero > i2,zero > i2 - i2 AND i4 / zero > i2,"i4 * 1000 < i8 AND txt LIKE ''%A%''",
        (txt || zero)::int > i4,i4 + i2 > 0 AND (txt || zero)::int > i4,i4 / zero > i2 AND (txt || zero)::int > i4,b AND i4 > i2,i4 > i2 OR f8 > f4,extract(hour FROM ts) > i2 % 24,
        extract(hour FROM ts) IN (3,4),NOT (i4 > i2),(i4 > i2) IS NULL,i2 > NULL::int2 AND i4 / (zero - zero) > i2}'::text[]) AS c) AS q WHERE d IS NOT NULL;
-- lengths and first characters, of one byte and of more
CREATE TABLE w (ts timestamptz NOT NULL, u text, y bytea) USING strata;
ALTER TABLE w SET (strata.orderby = 'ts');
INSERT INTO w SELECT '2024-03-01'::timestamptz + i * interval '1 s', CASE WHEN i % 19 <> 0 THEN u END, CASE WHEN i % 17 <> 0 THEN decode(md5((i % 9)::text), 'hex') || '\xff80'::bytea END
    FROM generate_series(1, 1200) AS i, LATERAL (SELECT CASE WHEN i > 600 THEN 'plain-' || i % 7 || '-and-longer-than-what-is-looked-at'
        ELSE (ARRAY['äöü-' || i % 5, 'aäöü' || repeat('€', i % 7), 'x', '', 'abcd€fghijklmnop' || i % 6, '日本語のテキスト' || i % 3, repeat('ab€', 50)])[i % 7 + 1] END AS u) AS t;
SELECT compress_chunk('w');
INSERT INTO w SELECT ts + interval '1 day', u, y FROM w WHERE extract(second FROM ts) < 20;
INSERT INTO w VALUES ('2024-03-09', repeat('é', 9000), repeat('long', 5000)::bytea);
SELECT * FROM (SELECT differs(format('SELECT %s AS k, count(*), min(%s), sum(length(u)) FILTER (WHERE (%s) IS NOT NULL) FROM w GROUP BY 1', f, f, f)) AS d
    FROM unnest('{length(u),octet_length(u),octet_length(y),length(y),char_length(u) + octet_length(y),"substr(u, 2, 3)","upper(left(u, 5))","substr(u, 1, 0)","left(u, 60)","left(u, 70)","encode(substr(y, 1, 2), ''hex'')","upper(substr(u, 2, 6)) || length(u)",
        "CASE WHEN u = ''x'' THEN 1 WHEN left(u, 1) = ''a'' THEN 2 END","u <> ''aäöü''","length(u) > 8 AND left(u, 3) <> ''äöü''"}'::text[]) AS f) AS q WHERE d IS NOT NULL;
-- hours, days and years where zones change their offset
CREATE TABLE times (ts timestamptz, t timestamp, n int) USING strata;
ALTER TABLE times SET (strata.orderby = 'ts');
INSERT INTO times SELECT p, p AT TIME ZONE 'UTC', row_number() OVER () FROM (
    SELECT generate_series('2024-03-01'::timestamptz, '2024-04-15', '29 min') AS p
    UNION ALL SELECT generate_series('2011-12-25'::timestamptz, '2012-01-05', '31 min')
    UNION ALL SELECT generate_series('1883-11-01'::timestamptz, '1883-12-01', '47 min')
    UNION ALL SELECT generate_series('1937-06-25'::timestamptz, '1937-07-05', '7 min')
    UNION ALL SELECT generate_series('2036-01-01'::timestamptz, '2040-01-01', '9 days')
    UNION ALL SELECT generate_series('0010-01-01 BC'::timestamptz, '0008-01-01 BC', '9 days')
    UNION ALL SELECT unnest('{infinity,-infinity,"4000-01-02 BC","290000-01-01"}'::timestamptz[])) AS p;
SELECT compress_chunk('times');
INSERT INTO times VALUES (NULL, NULL, NULL), ('2024-11-03 01:30-04', '2024-11-03 01:30', 1);
CREATE FUNCTION zones() RETURNS TABLE (result text) LANGUAGE plpgsql AS $$
DECLARE
    zone text;
BEGIN
    FOREACH zone IN ARRAY '{UTC,America/New_York,America/St_Johns,Australia/Lord_Howe,Pacific/Apia,Asia/Kathmandu,Europe/Amsterdam,Africa/Casablanca,<+0330>-3:30}'::text[] LOOP
        PERFORM set_config('timezone', zone, true);
        RETURN QUERY SELECT differs(format(replace('SELECT %s AS k, count(*), sum(n) FROM times GROUP BY 1', '%s', f), u))
            FROM unnest('{"extract(%s FROM ts)","extract(%s FROM t)","extract(%s FROM ts) + n * 0","extract(%s FROM ts)::text","date_trunc(''%s'', ts)::text"}'::text[]) AS f,
                 unnest('{minute,hour,day,dow,isodow,doy,week,month,quarter,year,isoyear,decade,timezone}'::text[]) AS u;
        RETURN QUERY SELECT differs('SELECT ts::date AS k, t::date, count(*) FROM times GROUP BY 1, 2');
    END LOOP;
END $$;
SELECT * FROM zones() AS result WHERE result IS NOT NULL;
-- the comparison is one: vectors answer, and errors are met
SELECT run('SELECT sum(i4 / zero) FROM s'), run('SELECT sum(i4 * 1000000) FROM s'), run('SELECT sum(sqrt(f8)) FROM s'),
    run('SELECT sum(i4 / zero) FILTER (WHERE zero <> 0) > 0 FROM s'), run('SELECT sum(i4 / zero) FILTER (WHERE i4 > 0) FROM s');
DROP SCHEMA expr_compare CASCADE;
