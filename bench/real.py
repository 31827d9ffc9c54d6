#!/usr/bin/env python3
"""bench/real.py --dsn DSN --data FOLDER [--duckdb] [--keep] [--only a,b]

Flights, edits of Wikipedia and readings of the air of Beijing (the CSV files of FOLDER, and the
same again at later times), loaded as users do, as field.py does.  Queries as analysts,
dashboards and programs write them; measured as in field.py, answers compared as text.
"""
import os
import re
import subprocess

import psycopg

from field import Postgres, arguments, chosen, fill, measure

# table: (columns, time, segment, length of chunks, shift, copies)
TABLES = {
    "flights": ("sched_dep timestamp, carrier text, flight int4, tailnum text, origin text, dest text, dep_time int2, sched_dep_time int2, dep_delay int2, "
                "arr_time int2, sched_arr_time int2, arr_delay int2, air_time int2, distance int4", "sched_dep", "carrier", "6 months", "364 days", 3),
    "edits": ("ts timestamptz, channel text, namespace text, page text, user_name text, comment text, is_robot bool, is_anonymous bool, is_new bool, "
              "is_minor bool, country text, city text, delta int4, added int4, deleted int4, event jsonb", "ts", "channel", "7 days", "1 day", 20),
    "air": ("ts timestamp, station text, pm25 float8, pm10 float8, so2 float8, no2 float8, co float8, o3 float8, temp float8, pres float8, dewp float8, "
            "rain float8, wd text, wspm float8", "ts", "station", "2 years", "1461 days", 3),
}
FILES = {"flights": "flights", "edits": "wiki_edits", "air": "beijing_air"}

DIMENSIONS = """CREATE TABLE {s}.airlines AS SELECT carrier, 'airline ' || carrier AS name, (ARRAY['one', 'star', 'none'])[1 + ascii(carrier) % 3] AS alliance FROM src_flights GROUP BY 1;
ALTER TABLE {s}.airlines ADD PRIMARY KEY (carrier);
CREATE TABLE {s}.airports AS SELECT dest AS faa, 'city of ' || dest AS city, (ARRAY['America/New_York', 'America/Chicago', 'America/Los_Angeles'])[1 + ascii(dest) % 3] AS tz, 'region-' || ascii(right(dest, 1)) % 5 AS region FROM (SELECT dest FROM src_flights UNION SELECT origin FROM src_flights) d;
ALTER TABLE {s}.airports ADD PRIMARY KEY (faa);
CREATE TABLE {s}.planes AS SELECT tailnum, 1985 + hashtext(tailnum) & 15 AS built, (ARRAY['BOEING', 'AIRBUS', 'EMBRAER', 'CESSNA'])[1 + (hashtext(tailnum) & 3)] AS maker, 50 + (hashtext(tailnum) & 255) AS seats FROM src_flights WHERE tailnum IS NOT NULL GROUP BY 1;
ALTER TABLE {s}.planes ADD PRIMARY KEY (tailnum);
CREATE TABLE {s}.stations AS SELECT station, (ARRAY['north', 'south', 'inner'])[1 + ascii(station) % 3] AS district, length(station) > 7 AS urban FROM src_air GROUP BY 1;
ALTER TABLE {s}.stations ADD PRIMARY KEY (station);
CREATE TABLE {s}.wikis AS SELECT channel, substring(channel from 2 for 2) AS lang, (ARRAY['west', 'east', 'other'])[1 + ascii(right(channel, 12)) % 3] AS family, count(*) > 500 AS big FROM src_edits GROUP BY 1;
ALTER TABLE {s}.wikis ADD PRIMARY KEY (channel)
"""

SMALL = ("airlines", "airports", "planes", "stations", "wikis")


def load(connection, folder):
    connection.execute("SET client_min_messages = warning; SET timezone = 'UTC'; DROP SCHEMA IF EXISTS real_strata, real_heap CASCADE")
    for table, (columns, moment, segment, chunk, shift, copies) in TABLES.items():
        connection.execute("DROP TABLE IF EXISTS src_%s; CREATE UNLOGGED TABLE src_%s (%s)" % (table, table, columns))
        with subprocess.Popen(["zstd", "-dc", os.path.join(folder, FILES[table] + ".csv.zst")], stdout=subprocess.PIPE) as rows:
            with connection.cursor().copy("COPY src_%s FROM STDIN (FORMAT csv, HEADER)" % table) as copy:
                while block := rows.stdout.read(1 << 20):
                    copy.write(block)
        others = re.sub(r" \w+(,|$)", r"\1", columns).split(", ", 1)[1]
        connection.execute("INSERT INTO src_%s SELECT %s + n * interval '%s', %s FROM src_%s, generate_series(1, %d) n" % (table, moment, shift, others, table, copies - 1))
    fill(connection, "real", {table: parts[1:4] for table, parts in TABLES.items()}, SMALL, DIMENSIONS, "{segment} || {time}::text")


HUNDRED = ", ".join(str(n) for n in range(1, 1000, 10))
YEAR = "sched_dep >= '2014-01-01' AND sched_dep < '2015-01-01'"
QUERIES = [
    # flights
    ("f-ontime-month", "SELECT date_trunc('month', sched_dep)::date m, carrier, count(*), round(100.0 * avg((arr_delay <= 15)::int), 1) FROM flights WHERE arr_delay IS NOT NULL GROUP BY 1, 2 ORDER BY 1, 2"),
    ("f-top3-dest", "SELECT * FROM (SELECT origin, dest, count(*) n, row_number() OVER (PARTITION BY origin ORDER BY count(*) DESC, dest) rn FROM flights GROUP BY 1, 2) x WHERE rn <= 3 ORDER BY 1, 4"),
    ("f-cancelled", "SELECT carrier, count(*), count(*) FILTER (WHERE dep_time IS NULL) gone, round(100.0 * count(*) FILTER (WHERE dep_time IS NULL) / count(*), 2) FROM flights GROUP BY 1 ORDER BY 4 DESC, 1"),
    ("f-delay-case", "SELECT CASE WHEN arr_delay IS NULL THEN 'unknown' WHEN arr_delay <= 0 THEN 'early' WHEN arr_delay <= 15 THEN 'ok' WHEN arr_delay BETWEEN 16 AND 60 THEN 'late' ELSE 'very late' END c, origin, count(*) FROM flights GROUP BY 1, 2 ORDER BY 1, 2"),
    ("f-ntile", "SELECT q, min(arr_delay), max(arr_delay), count(*) FROM (SELECT arr_delay, ntile(10) OVER (ORDER BY arr_delay) q FROM flights WHERE arr_delay IS NOT NULL AND " + YEAR + ") x GROUP BY 1 ORDER BY 1"),
    ("f-cume", "SELECT carrier, flight, round(cd::numeric, 4) FROM (SELECT carrier, flight, avg(arr_delay) a, cume_dist() OVER (PARTITION BY carrier ORDER BY avg(arr_delay)) cd FROM flights GROUP BY 1, 2) x WHERE cd > 0.99 ORDER BY 1, 2"),
    ("f-running-day", "SELECT d, n, sum(n) OVER (ORDER BY d) FROM (SELECT sched_dep::date d, count(*) n FROM flights WHERE carrier = 'UA' GROUP BY 1) x ORDER BY 1"),
    ("f-ma7", "SELECT sched_dep::date d, count(*), avg(count(*)) OVER (ORDER BY sched_dep::date ROWS BETWEEN 6 PRECEDING AND CURRENT ROW) FROM flights GROUP BY 1 ORDER BY 1"),
    ("f-week-on-week", "SELECT a.carrier, a.n, b.n, round(100.0 * (a.n - b.n) / nullif(b.n, 0), 1) FROM (SELECT carrier, count(*) n FROM flights WHERE sched_dep >= '2014-06-08' AND sched_dep < '2014-06-15' GROUP BY 1) a FULL JOIN (SELECT carrier, count(*) n FROM flights WHERE sched_dep >= '2014-06-01' AND sched_dep < '2014-06-08' GROUP BY 1) b USING (carrier) ORDER BY 1"),
    ("f-union-periods", "SELECT 'this' p, origin, count(*), avg(dep_delay) FROM flights WHERE sched_dep >= '2014-07-01' AND sched_dep < '2014-08-01' GROUP BY 2 UNION ALL SELECT 'last', origin, count(*), avg(dep_delay) FROM flights WHERE sched_dep >= '2014-06-01' AND sched_dep < '2014-07-01' GROUP BY 2 ORDER BY 1, 2"),
    ("f-lateral-3", "SELECT a.carrier, f.* FROM airlines a CROSS JOIN LATERAL (SELECT sched_dep, flight, dest, arr_delay FROM flights f WHERE f.carrier = a.carrier AND f.arr_delay > 60 ORDER BY sched_dep DESC, flight LIMIT 3) f ORDER BY 1, 2 DESC, 3"),
    ("f-calendar", "SELECT d::date, count(f.flight) FROM generate_series(timestamp '2014-01-01', timestamp '2014-12-31', interval '1 day') d LEFT JOIN flights f ON f.sched_dep >= d AND f.sched_dep < d + interval '1 day' AND f.dest = 'LEX' GROUP BY 1 ORDER BY 1"),
    ("f-calendar-agg", "SELECT d::date, coalesce(n, 0) FROM generate_series(timestamp '2014-01-01', timestamp '2014-12-31', interval '1 day') d LEFT JOIN (SELECT date_trunc('day', sched_dep) dd, count(*) n FROM flights WHERE dest = 'LEX' AND " + YEAR + " GROUP BY 1) x ON x.dd = d ORDER BY 1"),
    ("f-star", "SELECT l.alliance, p.region, t.maker, count(*), avg(f.arr_delay) FROM flights f JOIN airlines l ON l.carrier = f.carrier JOIN airports p ON p.faa = f.dest JOIN planes t ON t.tailnum = f.tailnum GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"),
    ("f-star-filter", "SELECT p.city, count(*), sum(f.distance) FROM flights f JOIN airports p ON p.faa = f.dest JOIN planes t USING (tailnum) WHERE p.region = 'region-1' AND t.maker = 'CESSNA' AND " + YEAR + " GROUP BY 1 ORDER BY 2 DESC, 1"),
    ("f-seat-miles", "SELECT l.name, date_trunc('quarter', f.sched_dep) q, sum(t.seats * f.distance) FROM flights f JOIN planes t ON t.tailnum = f.tailnum JOIN airlines l USING (carrier) GROUP BY 1, 2 ORDER BY 1, 2"),
    ("f-left-dim", "SELECT coalesce(t.maker, 'unknown') m, count(*), count(t.tailnum) FROM flights f LEFT JOIN planes t ON t.tailnum = f.tailnum GROUP BY 1 ORDER BY 1"),
    ("f-in-100", "SELECT origin, count(*), avg(air_time) FROM flights WHERE flight IN (" + HUNDRED + ") GROUP BY 1 ORDER BY 1"),
    ("f-any-tails", "SELECT tailnum, count(*), max(sched_dep) FROM flights WHERE tailnum = ANY('{N14228,N24211,N619AA,N804JB,N668DN,N39463,N516JB,N829AS,N593JB,N3ALAA}'::text[]) GROUP BY 1 ORDER BY 1"),
    ("f-row-in", "SELECT carrier, flight, count(*), avg(arr_delay) FROM flights WHERE (carrier, flight) IN (('UA', 15), ('AA', 1), ('B6', 91), ('DL', 2159)) GROUP BY 1, 2 ORDER BY 1, 2"),
    ("f-keyset", "SELECT sched_dep, carrier, flight FROM flights WHERE (sched_dep, carrier, flight) < ('2014-08-01 12:00', 'DL', 100) ORDER BY sched_dep DESC, carrier DESC, flight DESC LIMIT 50"),
    ("f-offset", "SELECT sched_dep, carrier, flight, dest, arr_delay FROM flights WHERE origin = 'LGA' ORDER BY sched_dep DESC, carrier, flight OFFSET 400 LIMIT 50"),
    ("f-or-ranges", "SELECT count(*), avg(dep_delay) FROM flights WHERE (sched_dep BETWEEN '2013-12-20' AND '2014-01-05') OR (sched_dep BETWEEN '2014-12-20' AND '2015-01-05') OR (dep_delay > 300)"),
    ("f-is-distinct", "SELECT carrier, count(*) FROM flights WHERE dep_delay IS DISTINCT FROM arr_delay GROUP BY 1 ORDER BY 1"),
    ("f-order-expr", "SELECT sched_dep, carrier, flight, arr_delay - dep_delay AS lost FROM flights ORDER BY arr_delay - dep_delay DESC NULLS LAST, sched_dep, carrier, flight LIMIT 20"),
    ("f-plane-last", "SELECT DISTINCT ON (tailnum) tailnum, sched_dep, origin, dest FROM flights WHERE tailnum IS NOT NULL ORDER BY tailnum, sched_dep DESC, flight, carrier"),
    ("f-distinct-two", "SELECT carrier, count(DISTINCT (origin, dest)) FROM flights GROUP BY 1 ORDER BY 1"),
    ("f-distinct-routes", "SELECT count(*) FROM (SELECT DISTINCT origin, dest, carrier FROM flights) x"),
    ("f-distinct-more", "SELECT date_trunc('month', sched_dep) m, count(DISTINCT tailnum), count(DISTINCT dest), count(DISTINCT flight) FROM flights GROUP BY 1 ORDER BY 1"),
    ("f-grouping-sets", "SELECT carrier, origin, extract(year FROM sched_dep) y, count(*), sum(distance), grouping(carrier, origin) FROM flights GROUP BY GROUPING SETS ((carrier, extract(year FROM sched_dep)), (origin), ()) ORDER BY 1, 2, 3"),
    ("f-mode", "SELECT carrier, mode() WITHIN GROUP (ORDER BY dest) FROM flights GROUP BY 1 ORDER BY 1"),
    ("f-corr", "SELECT carrier, round(corr(dep_delay, arr_delay)::numeric, 6), round(regr_slope(arr_delay, distance)::numeric, 8) FROM flights GROUP BY 1 ORDER BY 1"),
    ("f-string-agg", "SELECT carrier, origin, string_agg(DISTINCT dest, ',' ORDER BY dest) FROM flights GROUP BY 1, 2 ORDER BY 1, 2"),
    ("f-array-agg", "SELECT tailnum, array_agg(arr_delay ORDER BY sched_dep, flight) FROM flights WHERE carrier = 'HA' GROUP BY 1 ORDER BY 1"),
    ("f-jsonb-agg", "SELECT jsonb_agg(jsonb_build_object('c', carrier, 'f', flight, 'd', arr_delay) ORDER BY sched_dep, carrier, flight) FROM flights WHERE sched_dep >= '2014-03-03' AND sched_dep < '2014-03-04' AND origin = 'JFK'"),
    ("f-except", "SELECT tailnum FROM flights WHERE sched_dep >= '2014-02-01' AND sched_dep < '2014-03-01' EXCEPT SELECT tailnum FROM flights WHERE sched_dep >= '2014-03-01' AND sched_dep < '2014-04-01' ORDER BY 1"),
    ("f-intersect", "SELECT dest FROM flights WHERE carrier = 'UA' INTERSECT SELECT dest FROM flights WHERE carrier = 'DL' ORDER BY 1"),
    ("f-scalar-sub", "SELECT a.carrier, (SELECT max(arr_delay) FROM flights f WHERE f.carrier = a.carrier), (SELECT count(*) FROM flights f WHERE f.carrier = a.carrier AND dep_delay > 60) FROM airlines a ORDER BY 1"),
    ("f-worse-than-mean", "SELECT f.carrier, count(*) FROM flights f JOIN (SELECT carrier, avg(arr_delay) m FROM flights GROUP BY 1) a ON a.carrier = f.carrier WHERE f.arr_delay > a.m * 2 + 30 GROUP BY 1 ORDER BY 1"),
    ("f-turnaround", "SELECT origin, count(*), avg(gap) FROM (SELECT origin, sched_dep - lag(sched_dep) OVER (PARTITION BY tailnum ORDER BY sched_dep, flight) gap FROM flights WHERE tailnum IS NOT NULL AND " + YEAR + ") x WHERE gap < interval '1 day' GROUP BY 1 ORDER BY 1"),
    ("f-speed", "SELECT carrier, avg(distance / nullif(air_time, 0)::float8 * 60) FROM flights GROUP BY 1 ORDER BY 1"),
    ("f-greatest", "SELECT carrier, sum(greatest(dep_delay, 0)), sum(least(arr_delay, dep_delay)), avg(coalesce(arr_delay, 0)) FROM flights GROUP BY 1 ORDER BY 1"),
    ("f-hhmm", "SELECT lpad((dep_time / 100)::text, 2, '0') || ':' || lpad((dep_time % 100 / 30 * 30)::text, 2, '0') slot, count(*) FROM flights WHERE dep_time IS NOT NULL GROUP BY 1 ORDER BY 1"),
    ("f-to-char-dow", "SELECT to_char(sched_dep, 'Dy') d, avg(dep_delay) FROM flights GROUP BY 1 ORDER BY 1"),
    ("f-weekday-hour", "SELECT extract(isodow FROM sched_dep) d, extract(hour FROM sched_dep) h, count(*), avg(dep_delay) FROM flights GROUP BY 1, 2 ORDER BY 1, 2"),
    ("f-epoch", "SELECT carrier, round(avg(extract(epoch FROM sched_dep - date_trunc('day', sched_dep))), 2) FROM flights GROUP BY 1 ORDER BY 1"),
    ("f-interval-sum", "SELECT carrier, sum(air_time * interval '1 minute') FROM flights GROUP BY 1 ORDER BY 1"),
    ("f-arrives", "SELECT date_trunc('hour', sched_dep + air_time * interval '1 minute') h, count(*) FROM flights WHERE dest = 'ORD' AND " + YEAR + " GROUP BY 1 ORDER BY 1"),
    ("f-retention", "WITH first AS (SELECT tailnum, date_trunc('month', min(sched_dep)) m FROM flights WHERE tailnum IS NOT NULL GROUP BY 1) SELECT first.m, (extract(year FROM age(date_trunc('month', f.sched_dep), first.m)) * 12 + extract(month FROM age(date_trunc('month', f.sched_dep), first.m)))::int k, count(DISTINCT f.tailnum) FROM first JOIN flights f USING (tailnum) WHERE f.sched_dep < '2013-07-01' GROUP BY 1, 2 ORDER BY 1, 2"),
    ("f-having", "SELECT dest, carrier, count(*), avg(arr_delay) FROM flights GROUP BY 1, 2 HAVING count(*) > 1000 AND avg(arr_delay) > 10 ORDER BY 4 DESC"),
    ("f-width-bucket", "SELECT width_bucket(dep_delay, 0, 120, 12) b, count(*) FROM flights WHERE dep_delay IS NOT NULL GROUP BY 1 ORDER BY 1"),
    ("f-left-right", "SELECT left(tailnum, 2) l, right(tailnum, 2) r, count(*) FROM flights WHERE tailnum LIKE 'N%' GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 20"),
    ("f-concat", "SELECT concat_ws('-', origin, dest) route, count(*), avg(air_time) FROM flights GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20"),
    ("f-carrier-flight", "SELECT carrier || flight AS name, count(*) FROM flights GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20"),
    ("f-pivot", "SELECT carrier, sum(CASE WHEN origin = 'JFK' THEN 1 ELSE 0 END) jfk, sum(CASE WHEN origin = 'LGA' THEN 1 ELSE 0 END) lga, sum(CASE WHEN origin = 'EWR' THEN distance END) ewr FROM flights GROUP BY 1 ORDER BY 1"),
    ("f-share", "SELECT carrier, count(*), round(100.0 * count(*) / sum(count(*)) OVER (), 2) FROM flights GROUP BY 1 ORDER BY 2 DESC, 1"),
    ("f-first-last", "SELECT carrier, first(flight, sched_dep + flight * interval '1 ms'), last(dest, sched_dep + flight * interval '1 ms') FROM flights GROUP BY 1 ORDER BY 1"),
    ("f-one-plane", "SELECT * FROM flights WHERE tailnum = 'N14228' ORDER BY sched_dep DESC, flight LIMIT 25"),
    ("f-one-flight", "SELECT * FROM flights WHERE carrier = 'UA' AND flight = 15 AND sched_dep::date = '2014-05-05' ORDER BY sched_dep"),
    ("f-prepared", ["DEALLOCATE ALL; SET plan_cache_mode = force_generic_plan; PREPARE f (text, timestamp, timestamp) AS SELECT date_trunc('day', sched_dep) d, count(*), avg(arr_delay), max(arr_delay) FROM flights WHERE carrier = $1 AND sched_dep >= $2 AND sched_dep < $3 GROUP BY 1 ORDER BY 1"] + ["EXECUTE f ('%s', '2014-0%d-01', '2014-0%d-01')" % (c, m, m + 1) for c, m in (("UA", 1), ("AA", 3), ("B6", 5), ("DL", 7))] + ["RESET plan_cache_mode"]),
    ("f-prepared-or", ["DEALLOCATE ALL; SET plan_cache_mode = force_generic_plan; PREPARE f (text, text, int) AS SELECT origin, count(*) FROM flights WHERE ($1 IS NULL OR carrier = $1) AND ($2 IS NULL OR dest = $2) AND arr_delay > $3 GROUP BY 1 ORDER BY 1", "EXECUTE f ('UA', NULL, 30)", "EXECUTE f (NULL, 'LAX', 60)", "EXECUTE f (NULL, NULL, 120)", "RESET plan_cache_mode"]),
    ("f-codeshare", "SELECT a.carrier, b.carrier, count(*) FROM flights a JOIN flights b ON a.origin = b.origin AND a.dest = b.dest AND a.sched_dep = b.sched_dep AND a.carrier < b.carrier WHERE a.sched_dep >= '2014-06-01' AND a.sched_dep < '2014-09-01' GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 20"),
    ("f-longest-by", "SELECT dest, (array_agg(carrier ORDER BY air_time DESC NULLS LAST, carrier))[1] FROM flights WHERE " + YEAR + " GROUP BY 1 ORDER BY 1"),
    # the air
    ("a-ohlc", "SELECT station, date_trunc('day', ts) d, first(pm25, ts), max(pm25), min(pm25), last(pm25, ts) FROM air WHERE ts >= '2015-01-01' AND ts < '2016-01-01' GROUP BY 1, 2 ORDER BY 1, 2"),
    ("a-ma24", "SELECT station, ts, avg(pm25) OVER (PARTITION BY station ORDER BY ts ROWS BETWEEN 23 PRECEDING AND CURRENT ROW) FROM air WHERE ts >= '2015-01-01' AND ts < '2016-01-01'"),
    ("a-range-frame", "SELECT ts, max(o3) OVER (ORDER BY ts RANGE BETWEEN interval '8 hours' PRECEDING AND CURRENT ROW) FROM air WHERE station = 'Dongsi' AND ts >= '2015-01-01' AND ts < '2016-01-01' ORDER BY 1"),
    ("a-winter-hours", "SELECT extract(hour FROM ts) h, avg(pm25), avg(o3) FROM air WHERE extract(month FROM ts) IN (12, 1, 2) GROUP BY 1 ORDER BY 1"),
    ("a-aqi", "SELECT station, CASE WHEN pm25 < 12 THEN 'good' WHEN pm25 < 35.4 THEN 'moderate' WHEN pm25 < 55.4 THEN 'sensitive' WHEN pm25 >= 55.4 THEN 'bad' END q, count(*), 100.0 * count(*) / sum(count(*)) OVER (PARTITION BY station) FROM air GROUP BY 1, 2 ORDER BY 1, 2"),
    ("a-rose", "SELECT wd, width_bucket(wspm, 0, 10, 5) s, count(*) FROM air GROUP BY 1, 2 ORDER BY 1, 2"),
    ("a-corr", "SELECT station, round(corr(pm25, pm10)::numeric, 6), round(corr(temp, o3)::numeric, 6), round(covar_samp(temp, dewp)::numeric, 4) FROM air GROUP BY 1 ORDER BY 1"),
    ("a-bad-days", "SELECT station, date_part('year', d) y, count(*) FROM (SELECT station, ts::date d, avg(pm25) p FROM air GROUP BY 1, 2) x WHERE p > 75 GROUP BY 1, 2 ORDER BY 1, 2"),
    ("a-missing", "SELECT station, count(*) - count(pm25), count(*) - count(co), sum(num_nulls(pm25, pm10, so2, no2, co, o3)) FROM air GROUP BY 1 ORDER BY 1"),
    ("a-two-stations", "SELECT date_trunc('month', a.ts) m, avg(a.pm25 - b.pm25), corr(a.pm25, b.pm25) FROM air a JOIN air b ON a.ts = b.ts WHERE a.station = 'Dongsi' AND b.station = 'Huairou' GROUP BY 1 ORDER BY 1"),
    ("a-against-city", "SELECT a.station, avg(a.pm25 - c.m) FROM air a JOIN (SELECT ts, avg(pm25) m FROM air GROUP BY 1) c ON c.ts = a.ts GROUP BY 1 ORDER BY 1"),
    ("a-season", "SELECT CASE extract(quarter FROM ts) WHEN 1 THEN 'winter' WHEN 2 THEN 'spring' WHEN 3 THEN 'summer' ELSE 'autumn' END s, avg(temp), max(temp), min(temp) FROM air GROUP BY 1 ORDER BY 1"),
    ("a-zone", "SELECT (ts AT TIME ZONE 'Asia/Shanghai' AT TIME ZONE 'Europe/London')::date d, avg(temp) FROM air WHERE ts AT TIME ZONE 'Asia/Shanghai' >= '2015-01-01 00:00+00' AND ts AT TIME ZONE 'Asia/Shanghai' < '2015-04-01 00:00+00' GROUP BY 1 ORDER BY 1"),
    ("a-islands", "SELECT station, min(ts), max(ts), count(*) FROM (SELECT station, ts, ts - row_number() OVER (PARTITION BY station ORDER BY ts) * interval '1 hour' g FROM air WHERE pm25 > 300) x GROUP BY station, g HAVING count(*) > 24 ORDER BY 4 DESC, 1, 2"),
    ("a-median-iqr", "SELECT station, percentile_cont(0.5) WITHIN GROUP (ORDER BY pm25), percentile_cont(0.75) WITHIN GROUP (ORDER BY pm25) - percentile_cont(0.25) WITHIN GROUP (ORDER BY pm25) FROM air WHERE ts >= '2015-01-01' AND ts < '2017-01-01' GROUP BY 1 ORDER BY 1"),
    ("a-worst-hour", "SELECT DISTINCT ON (station) station, ts, pm25 FROM air WHERE pm25 IS NOT NULL ORDER BY station, pm25 DESC, ts"),
    ("a-day-rank", "SELECT * FROM (SELECT ts::date d, station, avg(pm10) p, rank() OVER (PARTITION BY ts::date ORDER BY avg(pm10) DESC NULLS LAST) r FROM air WHERE ts >= '2016-01-01' AND ts < '2017-01-01' GROUP BY 1, 2) x WHERE r = 1 ORDER BY 1, 2"),
    ("a-humidity", "SELECT station, avg(100 * exp(17.625 * dewp / (243.04 + dewp)) / exp(17.625 * temp / (243.04 + temp))) FROM air GROUP BY 1 ORDER BY 1"),
    ("a-feels", "SELECT date_trunc('month', ts) m, avg(13.12 + 0.6215 * temp - 11.37 * power(wspm * 3.6, 0.16) + 0.3965 * temp * power(wspm * 3.6, 0.16)) FROM air WHERE temp < 10 AND wspm > 1.3 GROUP BY 1 ORDER BY 1"),
    ("a-round-10", "SELECT round(pm25 / 10) * 10 b, count(*) FROM air WHERE pm25 IS NOT NULL GROUP BY 1 ORDER BY 1"),
    ("a-trunc-numeric", "SELECT round(temp::numeric, 0) t, count(*) FROM air GROUP BY 1 ORDER BY 1"),
    ("a-rollup", "SELECT station, extract(year FROM ts) y, avg(pm25), count(*) FROM air GROUP BY ROLLUP (1, 2) ORDER BY 1, 2"),
    ("a-to-char", "SELECT to_char(ts, 'YYYY-MM') m, avg(temp), sum(rain) FROM air WHERE station IN ('Dongsi', 'Tiantan', 'Gucheng') GROUP BY 1 ORDER BY 1"),
    ("a-span", "SELECT station, age(max(ts), min(ts)), max(ts) - min(ts), count(DISTINCT ts::date) FROM air GROUP BY 1 ORDER BY 1"),
    ("a-district", "SELECT s.district, s.urban, date_trunc('month', a.ts) m, avg(a.pm25), max(a.o3) FROM air a JOIN stations s USING (station) GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"),
    ("a-unpivot", "SELECT v.what, count(v.x), avg(v.x), max(v.x) FROM air a CROSS JOIN LATERAL (VALUES ('pm25', a.pm25), ('pm10', a.pm10), ('so2', a.so2), ('no2', a.no2)) AS v(what, x) GROUP BY 1 ORDER BY 1"),
    ("a-bool-aggs", "SELECT station, bool_or(pm25 > 900), bool_and(temp > -30), every(wspm < 20), count(*) FILTER (WHERE rain > 0 AND wspm > 5) FROM air GROUP BY 1 ORDER BY 1"),
    ("a-not-between", "SELECT count(*), avg(o3) FROM air WHERE temp NOT BETWEEN -5 AND 30 AND (wd IN ('N', 'NNW', 'NNE') OR wspm >= 4) AND NOT (rain > 0)"),
    ("a-z-score", "SELECT a.station, count(*) FROM air a JOIN (SELECT station, avg(pm25) m, stddev_samp(pm25) s FROM air GROUP BY 1) z USING (station) WHERE (a.pm25 - z.m) / nullif(z.s, 0) > 3 GROUP BY 1 ORDER BY 1"),
    ("a-hour-to-hour", "SELECT station, max(abs(pm25 - p)) FROM (SELECT station, pm25, lag(pm25) OVER (PARTITION BY station ORDER BY ts) p FROM air) x GROUP BY 1 ORDER BY 1"),
    ("a-above-own", "SELECT station, ts, pm25 FROM air a WHERE ts >= '2015-12-01' AND ts < '2016-01-01' AND pm25 > (SELECT 4 * avg(pm25) FROM air b WHERE b.station = a.station AND b.ts >= '2015-11-01' AND b.ts < '2015-12-01') ORDER BY 1, 2"),
    ("a-dew-rows", "SELECT ts, station, temp, dewp, round((temp - dewp)::numeric, 1) spread FROM air WHERE temp - dewp < 0.5 AND ts >= '2016-01-01' ORDER BY ts, station LIMIT 200"),
    ("a-minmax-norm", "SELECT station, avg((pm25 - lo) / nullif(hi - lo, 0)) FROM (SELECT station, pm25, min(pm25) OVER (PARTITION BY station) lo, max(pm25) OVER (PARTITION BY station) hi FROM air WHERE ts >= '2016-01-01' AND ts < '2018-01-01') x GROUP BY 1 ORDER BY 1"),
    # edits
    ("e-pages", "SELECT page, count(*), sum(delta) FROM edits WHERE namespace = 'Main' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20"),
    ("e-countries", "SELECT country, city, count(*), sum(added) FROM edits WHERE is_anonymous AND country IS NOT NULL GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 30"),
    ("e-users", "SELECT channel, count(DISTINCT user_name), count(DISTINCT page) FROM edits GROUP BY 1 ORDER BY 2 DESC, 1"),
    ("e-robots", "SELECT channel, avg(is_robot::int), count(*) FILTER (WHERE is_new), count(*) FILTER (WHERE is_minor AND NOT is_robot) FROM edits GROUP BY 1 ORDER BY 2 DESC, 1"),
    ("e-paris-hour", "SELECT date_trunc('hour', ts AT TIME ZONE 'Europe/Paris') h, count(*) FROM edits WHERE channel = '#fr.wikipedia' GROUP BY 1 ORDER BY 1"),
    ("e-paris-day", "SELECT channel, count(*) FROM edits WHERE (ts AT TIME ZONE 'Europe/Paris')::date = '2015-09-15' GROUP BY 1 ORDER BY 2 DESC, 1"),
    ("e-hh24", "SELECT to_char(ts, 'HH24') h, count(*), avg(abs(delta)) FROM edits GROUP BY 1 ORDER BY 1"),
    ("e-lang", "SELECT substring(channel FROM 2 FOR 2) lang, count(*), sum(greatest(delta, 0)) FROM edits GROUP BY 1 ORDER BY 2 DESC, 1"),
    ("e-ip-net", "SELECT split_part(user_name, '.', 1) || '.*' net, count(*) FROM edits WHERE is_anonymous AND position('.' IN user_name) > 0 GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20"),
    ("e-title-words", "SELECT w, count(*) FROM (SELECT unnest(string_to_array(page, ' ')) w FROM edits WHERE channel = '#en.wikipedia' AND namespace = 'Main') x GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20"),
    ("e-json-city", "SELECT event->>'cityName' c, count(*), sum((event->>'added')::int) FROM edits WHERE event->>'cityName' IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20"),
    ("e-json-contains", "SELECT channel, count(*) FROM edits WHERE event @> '{\"isRobot\": true, \"namespace\": \"Main\"}' GROUP BY 1 ORDER BY 1"),
    ("e-json-bool", "SELECT (event->>'isNew')::boolean n, count(*), avg((event->>'delta')::numeric) FROM edits GROUP BY 1 ORDER BY 1"),
    ("e-new-pages", "SELECT ts, channel, page, user_name FROM edits WHERE is_new AND NOT is_robot AND namespace = 'Main' ORDER BY ts DESC, channel, page LIMIT 50"),
    ("e-edit-wars", "SELECT channel, page, count(*), count(DISTINCT user_name) FROM edits WHERE NOT is_robot GROUP BY 1, 2 HAVING count(DISTINCT user_name) >= 4 ORDER BY 3 DESC, 1, 2 LIMIT 50"),
    ("e-pairs", "SELECT count(DISTINCT (channel, user_name)) FROM edits"),
    ("e-reverts", "SELECT channel, count(*) FROM edits WHERE lower(comment) LIKE '%revert%' OR comment ILIKE 'undid%' GROUP BY 1 ORDER BY 2 DESC, 1"),
    ("e-comment-len", "SELECT CASE WHEN comment = '' OR comment IS NULL THEN 'none' WHEN length(comment) < 20 THEN 'short' ELSE 'long' END k, count(*), avg(length(comment)) FROM edits GROUP BY 1 ORDER BY 1"),
    ("e-sections", "SELECT substring(comment FROM 4 FOR position('*/' IN comment) - 5) s, count(*) FROM edits WHERE comment LIKE '/* %' AND position('*/' IN comment) > 5 GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20"),
    ("e-day-on-day", "SELECT a.h, a.n, b.n FROM (SELECT date_trunc('hour', ts) h, count(*) n FROM edits WHERE ts >= '2015-09-20' AND ts < '2015-09-21' GROUP BY 1) a LEFT JOIN (SELECT date_trunc('hour', ts) + interval '1 day' h, count(*) n FROM edits WHERE ts >= '2015-09-19' AND ts < '2015-09-20' GROUP BY 1) b USING (h) ORDER BY 1"),
    ("e-wiki-dims", "SELECT w.family, w.big, e.namespace, count(*), sum(e.added) FROM edits e JOIN wikis w ON w.channel = e.channel WHERE w.lang <> 'en' GROUP BY 1, 2, 3 ORDER BY 4 DESC, 1, 2, 3 LIMIT 40"),
    ("e-in-100", "SELECT user_name, count(*), sum(delta) FROM edits WHERE user_name IN (" + ", ".join("'%s'" % u for u in "Lsjbot ThitxongkhoiAWB PereBot Xqbot ClueBot BattyBot Yobot Addbot SineBot Citation Cydebot AvicBot".split()) + ", " + ", ".join("'u%s'" % n for n in range(88)) + ") GROUP BY 1 ORDER BY 1"),
    ("e-keyset", "SELECT ts, channel, page FROM edits WHERE (ts, channel, page) < ('2015-09-18 12:00+00', '#en.wikipedia', 'M') ORDER BY ts DESC, channel DESC, page DESC LIMIT 50"),
    ("e-recent", "SELECT * FROM edits WHERE channel = '#de.wikipedia' ORDER BY ts DESC, page, user_name, delta LIMIT 50"),
    ("e-user-recent", "SELECT ts, page, delta FROM edits WHERE user_name = 'Lsjbot' ORDER BY ts DESC, page, delta LIMIT 50"),
    ("e-replace", "SELECT replace(upper(namespace), ' ', '_') n, count(*) FROM edits GROUP BY 1 ORDER BY 2 DESC, 1"),
    ("e-concat", "SELECT concat(channel, ' / ', namespace) k, count(*) FROM edits GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20"),
    ("e-cities", "SELECT country, string_agg(DISTINCT city, ', ' ORDER BY city) FROM edits WHERE city IS NOT NULL GROUP BY 1 ORDER BY 1"),
    ("e-object", "SELECT channel, jsonb_object_agg(namespace, n) FROM (SELECT channel, namespace, count(*) n FROM edits GROUP BY 1, 2) x GROUP BY 1 ORDER BY 1"),
    ("e-log-size", "SELECT floor(log(greatest(abs(delta), 1)::float8)) l, count(*) FROM edits GROUP BY 1 ORDER BY 1"),
    ("e-minutes", "SELECT m, count(e.ts) FROM generate_series(timestamptz '2015-09-15 00:00Z', '2015-09-15 23:59Z', '1 minute') m LEFT JOIN edits e ON date_trunc('minute', e.ts) = m AND e.channel = '#ja.wikipedia' GROUP BY 1 ORDER BY 1"),
    ("e-top-users", "SELECT * FROM (SELECT channel, user_name, count(*) n, dense_rank() OVER (PARTITION BY channel ORDER BY count(*) DESC) r FROM edits GROUP BY 1, 2) x WHERE r <= 3 ORDER BY 1, 4, 2"),
    ("e-gone-users", "SELECT count(*) FROM (SELECT user_name FROM edits WHERE ts >= '2015-09-13' AND ts < '2015-09-14' EXCEPT SELECT user_name FROM edits WHERE ts >= '2015-09-14' AND ts < '2015-09-14 12:00') x"),
    ("e-both-wikis", "SELECT count(*) FROM (SELECT user_name FROM edits WHERE channel = '#en.wikipedia' INTERSECT SELECT user_name FROM edits WHERE channel = '#de.wikipedia') x"),
    ("e-null-city", "SELECT coalesce(country, '?') c, count(*), count(city) FROM edits GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20"),
    ("e-user-first", "SELECT DISTINCT ON (user_name) user_name, ts, page FROM edits WHERE NOT is_robot ORDER BY user_name, ts, page"),
    ("e-cohort", "WITH c AS (SELECT user_name, min(ts)::date d FROM edits GROUP BY 1) SELECT c.d, e.ts::date - c.d k, count(DISTINCT e.user_name) FROM c JOIN edits e USING (user_name) WHERE NOT e.is_robot GROUP BY 1, 2 ORDER BY 1, 2"),
    ("e-sessions", "SELECT count(*) FROM (SELECT ts - lag(ts) OVER (PARTITION BY user_name ORDER BY ts) g FROM edits WHERE NOT is_robot) x WHERE g IS NULL OR g > interval '30 minutes'"),
    ("e-largest", "SELECT ts, channel, page, delta FROM edits ORDER BY abs(delta) DESC, ts, page LIMIT 20"),
    ("e-share-anon", "SELECT ts::date d, round(100.0 * sum(CASE WHEN is_anonymous THEN 1 ELSE 0 END) / count(*), 2) FROM edits GROUP BY 1 ORDER BY 1"),
    ("e-page-search", "SELECT page, count(*) FROM edits WHERE page ILIKE '%football%' OR page LIKE '%Film%' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20"),
    ("e-user-kind", "SELECT CASE WHEN is_robot THEN 'robot' WHEN is_anonymous THEN 'anonymous' WHEN user_name ILIKE '%bot' THEN 'bot?' ELSE 'user' END k, date_trunc('day', ts) d, count(*) FROM edits GROUP BY 1, 2 ORDER BY 1, 2"),
    ("e-net-page", "SELECT page FROM edits GROUP BY page HAVING sum(added) - sum(deleted) < -5000 AND max(ts) > '2015-09-20' ORDER BY 1"),
    ("e-self-pairs", "SELECT count(*) FROM edits a JOIN edits b ON a.page = b.page AND a.channel = b.channel AND b.ts > a.ts AND b.ts <= a.ts + interval '10 minutes' AND b.user_name <> a.user_name WHERE a.ts >= '2015-09-15' AND a.ts < '2015-09-16'"),
    # changes, rolled back
    ("c-update", ["BEGIN", "UPDATE flights SET arr_delay = arr_delay + 1 WHERE carrier = 'HA' AND sched_dep >= '2014-01-01' AND sched_dep < '2014-03-01'", "SELECT carrier, sum(arr_delay) FROM flights WHERE " + YEAR + " GROUP BY 1 ORDER BY 1", "ROLLBACK"]),
    ("c-delete", ["BEGIN", "DELETE FROM air WHERE station = 'Dongsi' AND ts >= '2015-05-01' AND ts < '2015-06-01'", "SELECT station, count(*) FROM air WHERE ts >= '2015-01-01' AND ts < '2016-01-01' GROUP BY 1 ORDER BY 1", "ROLLBACK"]),
    ("c-update-user", ["BEGIN", "UPDATE edits SET user_name = 'removed' WHERE user_name = 'Xqbot'", "SELECT count(*) FROM edits WHERE user_name = 'removed'", "ROLLBACK"]),
]


def for_duckdb(query):
    query = re.sub(r"\bfirst\((\w+), ", r"arg_min(\1, ", query)
    query = re.sub(r"\blast\((\w+), ", r"arg_max(\1, ", query)
    query = re.sub(r"to_char\((\w+), 'YYYY-MM'\)", r"strftime(\1, '%Y-%m')", query)
    query = re.sub(r"to_char\((\w+), 'HH24'\)", r"strftime(\1, '%H')", query)
    query = re.sub(r"to_char\((\w+), 'Dy'\)", r"strftime(\1, '%a')", query)
    query = query.replace("position('.' IN user_name)", "instr(user_name, '.')").replace("position('*/' IN comment)", "instr(comment, '*/')")
    return query.replace("event @> ", "json_contains(event, ").replace("\"Main\"}'", "\"Main\"}')") if "@>" in query else query


def main():
    parser = arguments(__doc__)
    parser.add_argument("--data", default="")
    parser.add_argument("--explain", action="store_true", help="plans of strata, in place of times")
    options = parser.parse_args()
    if not options.keep:
        with psycopg.connect(options.dsn, autocommit=True) as connection:
            load(connection, options.data)
    if options.explain:
        strata = Postgres(options.dsn, "real_strata")
        for name, query in chosen(QUERIES, options):
            print("-- " + name + "\n" + "\n".join(row[0] for row in strata.ask("EXPLAIN (ANALYZE, COSTS off) " + query)[1]))
        return
    measure(options, "real", (*TABLES, *SMALL), {table: parts[0] for table, parts in TABLES.items()}, QUERIES, for_duckdb)


if __name__ == "__main__":
    main()
