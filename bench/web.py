#!/usr/bin/env python3
"""bench/web.py --dsn DSN [--duckdb] [--keep] [--only a,b]

Pages seen on websites (2 M rows, texts of many values) and events of orders (1.5 M, with dimensions
that are not small), loaded as users do, as field.py does.  Queries as analysts and shops write
them; measured as in field.py, answers compared as text.
"""
import psycopg

from field import arguments, fill, measure, run_script

SOURCES = """SELECT setseed(0.42);
CREATE UNLOGGED TABLE src_hits AS
SELECT (('x' || substr(md5(n::text), 1, 15))::bit(60)::bigint) AS watch_id,
 timestamp '2026-07-01' + n * interval '1.3 s' + (n % 7) * interval '100 ms' AS event_time,
 ((20 + 800 * power(random(), 3))::int) AS counter_id,
 (('x' || substr(md5('u' || (20000 * power(random(), 2))::int::text), 1, 15))::bit(60)::bigint) AS user_id,
 (random() * 229)::int2 AS region_id,
 (random() * power(random(), 4) * 90)::int2 AS os,
 (CASE WHEN random() < 0.9 THEN 0 ELSE random() * 20 END)::int2 AS mobile_phone,
 (CASE WHEN random() < 0.92 THEN '' ELSE (ARRAY['iPad', 'iPhone', 'A500', 'GT-P7300', 'one touch'])[1 + (random() * 4.99)::int % 5] END) AS mobile_model,
 (CASE WHEN random() < 0.87 THEN '' ELSE 'how to ' || (ARRAY['buy', 'find', 'watch', 'make', 'learn'])[1 + (random() * 4.9)::int % 5] || ' ' || substr(md5(((3000 * power(random(), 3))::int)::text), 1, 8) END) AS search_phrase,
 (CASE WHEN random() < 0.87 THEN 0 ELSE (random() * 5)::int2 END)::int2 AS search_engine_id,
 'http://' || (ARRAY['news', 'shop', 'www', 'forum', 'google'])[1 + ((n / 7) % 5)::int] || '.example' || ((n / 31) % 40) || '.com/' || substr(md5(((30000 * power(random(), 3))::int)::text), 1, 10) || CASE WHEN random() < .3 THEN '?utm=' || (random() * 10)::int ELSE '' END AS url,
 (CASE WHEN random() < 0.3 THEN '' ELSE 'http://' || (ARRAY['www.', '', 'm.'])[1 + (random() * 2.99)::int % 3] || 'ref' || (random() * power(random(), 2) * 300)::int || '.org/' || substr(md5(((2000 * random())::int)::text), 1, 6) END) AS referer,
 'Title ' || substr(md5(((5000 * power(random(), 3))::int)::text), 1, 12) || CASE WHEN random() < 0.01 THEN ' Google' ELSE '' END AS title,
 (random() * 1600)::int2 AS resolution_width,
 (CASE WHEN random() < 0.1 THEN 1 ELSE 0 END)::int2 AS is_refresh,
 (CASE WHEN random() < 0.02 THEN 1 ELSE 0 END)::int2 AS is_link,
 (CASE WHEN random() < 0.01 THEN 1 ELSE 0 END)::int2 AS is_download,
 (CASE WHEN random() < 0.03 THEN 1 ELSE 0 END)::int2 AS dont_count_hits,
 (CASE WHEN random() < 0.97 THEN 0 ELSE random() * 60 END)::int2 AS adv_engine_id,
 (random() * 10 - 1)::int2 AS traffic_source_id,
 (random() * 1000)::int AS client_ip,
 (random() * power(random(), 3) * 60000)::int AS send_timing,
 (random() * 2000)::int2 AS window_width,
 (random() * 1200)::int2 AS window_height,
 (random() * 1e6)::numeric(10,2) AS price
FROM generate_series(1, 2000000) n;
CREATE UNLOGGED TABLE src_order_events AS
SELECT n AS event_id, 1 + (n / 5)::int AS order_id,
 timestamptz '2026-01-01 00:00Z' + (n / 5) * interval '18 s' + (n % 5) * interval '7 h' * random() AS event_created,
 (ARRAY['Created', 'Departed', 'Delivered', 'Delayed', 'Payed'])[1 + (n % 5)::int] AS event_type,
 (random() * 90)::int AS satisfaction, 1 + (random() * 500)::int AS processor_id,
 jsonb_build_object('terminal', (ARRAY['London', 'Berlin', 'Hamburg', 'Munich', 'Paris'])[1 + (random() * 4.99)::int % 5], 'status', CASE WHEN random() < .2 THEN '["Delayed", "Priority"]'::jsonb ELSE '["Shipped"]'::jsonb END, 'temperature', (random() * 40)::int) AS event_payload
FROM generate_series(1, 1500000) n
"""
DIMENSIONS = """CREATE TABLE {s}.customers AS SELECT n AS customer_id, 'customer ' || n AS name, (ARRAY['DE', 'FR', 'GB', 'US', 'IT', 'ES', 'CH'])[1 + n * 7919 % 7] AS country, date '1950-01-01' + n % 18000 AS birthday FROM generate_series(1, 20000) n;
ALTER TABLE {s}.customers ADD PRIMARY KEY (customer_id);
CREATE TABLE {s}.products AS SELECT n AS product_id, 'product ' || n AS name, 'category ' || n % 12 AS category, (n * 37 % 1000) / 10.0 AS price, n * 13 % 500 AS stock FROM generate_series(1, 3000) n;
ALTER TABLE {s}.products ADD PRIMARY KEY (product_id);
CREATE TABLE {s}.orders AS SELECT n AS order_id, 1 + (n::bigint * 104729 % 20000)::int AS customer_id, timestamptz '2026-01-01 00:00Z' + n * interval '18 s' AS created_at FROM generate_series(1, 300000) n;
ALTER TABLE {s}.orders ADD PRIMARY KEY (order_id);
CREATE INDEX ON {s}.orders (customer_id);
CREATE TABLE {s}.order_items AS SELECT n AS order_id, 1 + (n * k * 7919::bigint % 3000)::int AS product_id, 1 + (n * k % 9)::int AS amount, (n * k % 5) / 100.0 AS discount FROM generate_series(1, 300000) n, generate_series(1, 3) k;
CREATE INDEX ON {s}.order_items (order_id)
"""

# table: (time, segment, length of chunks)
TABLES = {"hits": ("event_time", "counter_id", "3 days"), "order_events": ("event_created", "event_type", "7 days")}
SMALL = ("customers", "products", "orders", "order_items")

FORTNIGHT = "event_time >= '2026-07-10' AND event_time < '2026-07-24'"
QUERIES = [
    ("h-count", "SELECT count(*) FROM hits"),
    ("h-adv", "SELECT count(*) FROM hits WHERE adv_engine_id <> 0"),
    ("h-sums", "SELECT sum(adv_engine_id), count(*), avg(resolution_width) FROM hits"),
    ("h-avg-user", "SELECT avg(user_id) FROM hits"),
    ("h-users", "SELECT count(DISTINCT user_id) FROM hits"),
    ("h-phrases", "SELECT count(DISTINCT search_phrase) FROM hits"),
    ("h-minmax", "SELECT min(event_time::date), max(event_time::date) FROM hits"),
    ("h-adv-group", "SELECT adv_engine_id, count(*) FROM hits WHERE adv_engine_id <> 0 GROUP BY 1 ORDER BY 2 DESC, 1"),
    ("h-region-users", "SELECT region_id, count(DISTINCT user_id) u FROM hits GROUP BY 1 ORDER BY u DESC, 1 LIMIT 10"),
    ("h-region-all", "SELECT region_id, sum(adv_engine_id), count(*) c, avg(resolution_width), count(DISTINCT user_id) FROM hits GROUP BY 1 ORDER BY c DESC, 1 LIMIT 10"),
    ("h-model-users", "SELECT mobile_model, count(DISTINCT user_id) u FROM hits WHERE mobile_model <> '' GROUP BY 1 ORDER BY u DESC, 1 LIMIT 10"),
    ("h-phone-model", "SELECT mobile_phone, mobile_model, count(DISTINCT user_id) u FROM hits WHERE mobile_model <> '' GROUP BY 1, 2 ORDER BY u DESC, 1, 2 LIMIT 10"),
    ("h-phrase-top", "SELECT search_phrase, count(*) c FROM hits WHERE search_phrase <> '' GROUP BY 1 ORDER BY c DESC, 1 LIMIT 10"),
    ("h-phrase-users", "SELECT search_phrase, count(DISTINCT user_id) u FROM hits WHERE search_phrase <> '' GROUP BY 1 ORDER BY u DESC, 1 LIMIT 10"),
    ("h-engine-phrase", "SELECT search_engine_id, search_phrase, count(*) c FROM hits WHERE search_phrase <> '' GROUP BY 1, 2 ORDER BY c DESC, 1, 2 LIMIT 10"),
    ("h-user-top", "SELECT user_id, count(*) FROM hits GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10"),
    ("h-user-phrase", "SELECT user_id, search_phrase, count(*) FROM hits GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 10"),
    ("h-user-minute", "SELECT user_id, extract(minute FROM event_time) m, search_phrase, count(*) FROM hits GROUP BY 1, 2, 3 ORDER BY 4 DESC, 1, 2, 3 LIMIT 10"),
    ("h-one-user", "SELECT user_id FROM hits WHERE user_id = 435090932899640449"),
    ("h-url-google", "SELECT count(*) FROM hits WHERE url LIKE '%google%'"),
    ("h-phrase-google", "SELECT search_phrase, min(url), count(*) c FROM hits WHERE url LIKE '%google%' AND search_phrase <> '' GROUP BY 1 ORDER BY c DESC, 1 LIMIT 10"),
    ("h-title-google", "SELECT search_phrase, min(url), min(title), count(*) c, count(DISTINCT user_id) FROM hits WHERE title LIKE '%Google%' AND url NOT LIKE '%.google.%' AND search_phrase <> '' GROUP BY 1 ORDER BY c DESC, 1 LIMIT 10"),
    ("h-all-google", "SELECT * FROM hits WHERE url LIKE '%google%utm=7%' ORDER BY event_time, watch_id LIMIT 10"),
    ("h-phrase-bytime", "SELECT search_phrase FROM hits WHERE search_phrase <> '' ORDER BY event_time, watch_id LIMIT 10"),
    ("h-phrase-order", "SELECT search_phrase FROM hits WHERE search_phrase <> '' ORDER BY search_phrase LIMIT 10"),
    ("h-phrase-both", "SELECT search_phrase FROM hits WHERE search_phrase <> '' ORDER BY event_time, search_phrase LIMIT 10"),
    ("h-url-length", "SELECT counter_id, avg(length(url)) l, count(*) c FROM hits WHERE url <> '' GROUP BY 1 HAVING count(*) > 5000 ORDER BY l DESC, 1 LIMIT 25"),
    ("h-referer-host", "SELECT regexp_replace(referer, '^https?://(?:www\\.)?([^/]+)/.*$', '\\1') AS k, avg(length(referer)) l, count(*) c, min(referer) FROM hits WHERE referer <> '' GROUP BY 1 HAVING count(*) > 5000 ORDER BY l DESC, 1 LIMIT 25"),
    ("h-wide-sums", "SELECT " + ", ".join("sum(resolution_width + %d)" % n for n in range(30)) + " FROM hits"),
    ("h-engine-ip", "SELECT search_engine_id, client_ip, count(*) c, sum(is_refresh), avg(resolution_width) FROM hits WHERE search_phrase <> '' GROUP BY 1, 2 ORDER BY c DESC, 1, 2 LIMIT 10"),
    ("h-watch-ip", "SELECT watch_id, client_ip, count(*) c, sum(is_refresh), avg(resolution_width) FROM hits WHERE search_phrase <> '' GROUP BY 1, 2 ORDER BY c DESC, 1, 2 LIMIT 10"),
    ("h-watch-all", "SELECT watch_id, client_ip, count(*) c, sum(is_refresh), avg(resolution_width) FROM hits GROUP BY 1, 2 ORDER BY c DESC, 1, 2 LIMIT 10"),
    ("h-url-top", "SELECT url, count(*) c FROM hits GROUP BY 1 ORDER BY c DESC, 1 LIMIT 10"),
    ("h-one-url", "SELECT 1, url, count(*) c FROM hits GROUP BY 1, 2 ORDER BY c DESC, 2 LIMIT 10"),
    ("h-ip-minus", "SELECT client_ip, client_ip - 1, client_ip - 2, client_ip - 3, count(*) c FROM hits GROUP BY 1, 2, 3, 4 ORDER BY c DESC, 1 LIMIT 10"),
    ("h-site-url", "SELECT url, count(*) v FROM hits WHERE counter_id = 62 AND " + FORTNIGHT + " AND dont_count_hits = 0 AND is_refresh = 0 AND url <> '' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10"),
    ("h-site-title", "SELECT title, count(*) v FROM hits WHERE counter_id = 62 AND " + FORTNIGHT + " AND dont_count_hits = 0 AND is_refresh = 0 AND title <> '' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10"),
    ("h-site-links", "SELECT url, count(*) v FROM hits WHERE counter_id = 20 AND " + FORTNIGHT + " AND is_refresh = 0 AND is_link <> 0 AND is_download = 0 GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10 OFFSET 20"),
    ("h-site-traffic", "SELECT traffic_source_id, search_engine_id, adv_engine_id, CASE WHEN (search_engine_id = 0 AND adv_engine_id = 0) THEN referer ELSE '' END AS src, url AS dst, count(*) v FROM hits WHERE counter_id = 20 AND " + FORTNIGHT + " AND is_refresh = 0 GROUP BY 1, 2, 3, 4, 5 ORDER BY 6 DESC, 1, 2, 3, 4, 5 LIMIT 10 OFFSET 20"),
    ("h-site-window", "SELECT window_width, window_height, count(*) v FROM hits WHERE counter_id = 20 AND " + FORTNIGHT + " AND is_refresh = 0 GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 10 OFFSET 100"),
    ("h-site-minute", "SELECT date_trunc('minute', event_time) m, count(*) v FROM hits WHERE counter_id = 20 AND event_time >= '2026-07-14' AND event_time < '2026-07-16' AND is_refresh = 0 GROUP BY 1 ORDER BY 1 LIMIT 10 OFFSET 100"),
    ("h-day-users", "SELECT event_time::date d, count(DISTINCT user_id), count(*) FROM hits GROUP BY 1 ORDER BY 1"),
    ("h-bounce", "SELECT count(*) FILTER (WHERE n = 1), count(*), avg(n) FROM (SELECT user_id, event_time::date, count(*) n FROM hits WHERE counter_id < 40 GROUP BY 1, 2) x"),
    ("h-retention", "WITH f AS (SELECT user_id, min(event_time::date) d FROM hits GROUP BY 1) SELECT f.d, h.event_time::date - f.d AS age, count(DISTINCT h.user_id) FROM hits h JOIN f USING (user_id) WHERE f.d < '2026-07-05' GROUP BY 1, 2 ORDER BY 1, 2"),
    ("h-sessions", "SELECT count(*), avg(n) FROM (SELECT user_id, s, count(*) n FROM (SELECT user_id, sum(b) OVER (PARTITION BY user_id ORDER BY event_time, watch_id) s FROM (SELECT user_id, event_time, watch_id, CASE WHEN event_time - lag(event_time) OVER (PARTITION BY user_id ORDER BY event_time, watch_id) < interval '30 min' THEN 0 ELSE 1 END b FROM hits WHERE counter_id < 60) a) b GROUP BY 1, 2) c"),
    ("h-domain", "SELECT split_part(url, '/', 3) d, count(*) FROM hits GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20"),
    ("h-domain-sub", "SELECT substring(url from 'http://([^/]+)/') d, count(*) FROM hits WHERE " + FORTNIGHT + " GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20"),
    ("h-utm", "SELECT split_part(url, '?utm=', 2) u, count(*) FROM hits WHERE url LIKE '%?utm=%' GROUP BY 1 ORDER BY 1"),
    ("h-p95", "SELECT region_id, percentile_cont(0.95) WITHIN GROUP (ORDER BY send_timing) FROM hits GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10"),
    ("h-p3", "SELECT counter_id, percentile_cont(ARRAY[.5, .9, .99]) WITHIN GROUP (ORDER BY send_timing) FROM hits WHERE counter_id < 50 GROUP BY 1 ORDER BY 1"),
    ("h-weekday-hour", "SELECT extract(isodow FROM event_time), extract(hour FROM event_time), count(*) FROM hits GROUP BY 1, 2 ORDER BY 1, 2"),
    ("h-rank-sites", "SELECT * FROM (SELECT event_time::date d, counter_id, count(*) n, rank() OVER (PARTITION BY event_time::date ORDER BY count(*) DESC) r FROM hits GROUP BY 1, 2) x WHERE r <= 3 ORDER BY 1, 4, 2"),
    ("h-share", "SELECT os, count(*), round(100.0 * count(*) / sum(count(*)) OVER (), 2) FROM hits GROUP BY 1 ORDER BY 2 DESC, 1"),
    ("h-price", "SELECT counter_id % 10, sum(price), avg(price), min(price), max(price), stddev(price) FROM hits GROUP BY 1 ORDER BY 1"),
    ("h-price-bucket", "SELECT width_bucket(price, 0, 1000000, 20), count(*) FROM hits GROUP BY 1 ORDER BY 1"),
    ("h-price-round", "SELECT round(price / 1000) * 1000, count(*) FROM hits WHERE counter_id < 100 GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20"),
    ("h-running", "SELECT d, n, sum(n) OVER (ORDER BY d) FROM (SELECT date_trunc('day', event_time) d, count(*) n FROM hits GROUP BY 1) x ORDER BY 1"),
    ("h-new-users", "SELECT d, count(*) FROM (SELECT user_id, min(event_time)::date d FROM hits GROUP BY 1) x GROUP BY 1 ORDER BY 1"),
    ("h-exists-later", "SELECT count(DISTINCT a.user_id) FROM hits a WHERE a.event_time < '2026-07-02' AND EXISTS (SELECT 1 FROM hits b WHERE b.user_id = a.user_id AND b.event_time >= '2026-07-20')"),
    ("h-last-pages", "SELECT DISTINCT ON (counter_id) counter_id, event_time, url FROM hits ORDER BY counter_id, event_time DESC, watch_id"),
    ("h-user-history", "SELECT event_time, url, title FROM hits WHERE user_id = (SELECT user_id FROM hits ORDER BY watch_id LIMIT 1) ORDER BY event_time DESC LIMIT 50"),
    ("h-in-users", "SELECT counter_id, count(*) FROM hits WHERE user_id IN (SELECT user_id FROM hits WHERE counter_id = 20 AND event_time >= '2026-07-20' AND search_phrase <> '') GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10"),
    ("h-pages-per-session", "SELECT date_trunc('hour', event_time), count(*)::float8 / count(DISTINCT user_id) FROM hits WHERE " + FORTNIGHT + " GROUP BY 1 ORDER BY 1"),
    ("h-concat", "SELECT os || '-' || mobile_phone k, count(*) FROM hits GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20"),
    ("h-case-width", "SELECT CASE WHEN resolution_width < 400 THEN 'phone' WHEN resolution_width < 1000 THEN 'tablet' ELSE 'desktop' END, count(*), count(DISTINCT user_id), avg(send_timing) FROM hits GROUP BY 1 ORDER BY 1"),
    ("h-funnel", "SELECT count(*) FILTER (WHERE a IS NOT NULL), count(*) FILTER (WHERE b > a), count(*) FILTER (WHERE c > b AND b > a) FROM (SELECT user_id, min(event_time) FILTER (WHERE url LIKE 'http://news%') a, min(event_time) FILTER (WHERE url LIKE 'http://shop%') b, min(event_time) FILTER (WHERE search_phrase <> '') c FROM hits GROUP BY 1) x"),
    ("h-cube", "SELECT os, search_engine_id, is_refresh, count(*), sum(send_timing) FROM hits GROUP BY CUBE (1, 2, 3) ORDER BY 1, 2, 3"),
    ("h-rollup", "SELECT counter_id, region_id, count(*) FROM hits WHERE counter_id < 60 GROUP BY ROLLUP (1, 2) ORDER BY 1, 2"),
    ("h-agg-array", "SELECT counter_id, array_agg(DISTINCT os ORDER BY os) FROM hits WHERE counter_id < 100 GROUP BY 1 ORDER BY 1"),
    ("h-corr", "SELECT corr(window_width, window_height), regr_slope(send_timing, resolution_width), covar_pop(window_width, send_timing) FROM hits"),
    ("o-count-type", "SELECT event_type, count(*) FROM order_events GROUP BY 1 ORDER BY 1"),
    ("o-delayed", "SELECT count(*) FROM order_events WHERE event_created >= '2026-02-01' AND event_created < '2026-03-01' AND event_type = 'Delayed'"),
    ("o-terminal-day", "SELECT date_trunc('day', event_created) d, event_payload->>'terminal' t, count(*) FROM order_events WHERE event_created >= '2026-02-01' AND event_created < '2026-03-01' AND event_type IN ('Created', 'Departed', 'Delivered') GROUP BY 1, 2 ORDER BY 1, 2"),
    ("o-status-has", "SELECT count(*) FROM order_events WHERE event_created >= '2026-02-01' AND event_payload->'status' ? 'Delayed'"),
    ("o-status-contains", "SELECT event_payload->>'terminal', count(*) FROM order_events WHERE event_payload @> '{\"status\": [\"Delayed\", \"Priority\"]}' AND event_created >= '2026-02-01' GROUP BY 1 ORDER BY 1"),
    ("o-temperature", "SELECT date_trunc('month', event_created), avg((event_payload->>'temperature')::int) FROM order_events GROUP BY 1 ORDER BY 1"),
    ("o-last-event", "SELECT * FROM order_events WHERE order_id = 112233 ORDER BY event_created DESC LIMIT 1"),
    ("o-order-events", "SELECT event_type, event_created FROM order_events WHERE order_id = 4711 ORDER BY 2"),
    ("o-satisfaction", "SELECT processor_id, avg(satisfaction), count(*) FROM order_events WHERE event_type = 'Delivered' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10"),
    ("o-processor-day", "SELECT date_trunc('week', event_created) w, processor_id, count(*) c FROM order_events GROUP BY 1, 2 ORDER BY c DESC, 1, 2 LIMIT 10"),
    ("o-undelivered", "SELECT count(*) FROM orders o WHERE created_at >= '2026-02-01' AND created_at < '2026-02-08' AND NOT EXISTS (SELECT 1 FROM order_events e WHERE e.order_id = o.order_id AND e.event_type = 'Delivered' AND e.event_created >= '2026-02-01')"),
    ("o-customers", "SELECT c.customer_id, c.name, count(*) n FROM customers c JOIN orders o USING (customer_id) JOIN order_events e USING (order_id) WHERE e.event_type = 'Delayed' AND e.event_created >= '2026-02-01' AND e.event_created < '2026-02-15' GROUP BY 1, 2 ORDER BY n DESC, 1 LIMIT 10"),
    ("o-country", "SELECT c.country, count(*), avg(e.satisfaction) FROM order_events e JOIN orders o USING (order_id) JOIN customers c USING (customer_id) WHERE e.event_type = 'Delivered' GROUP BY 1 ORDER BY 1"),
    ("o-revenue", "SELECT p.category, sum(i.amount * p.price * (1 - i.discount)) FROM order_events e JOIN order_items i USING (order_id) JOIN products p USING (product_id) WHERE e.event_type = 'Payed' AND e.event_created >= '2026-02-01' AND e.event_created < '2026-02-08' GROUP BY 1 ORDER BY 2 DESC"),
    ("o-top-products", "SELECT p.product_id, p.name, sum(i.amount) a FROM order_events e JOIN order_items i USING (order_id) JOIN products p USING (product_id) WHERE e.event_type = 'Delivered' AND e.event_created >= '2026-02-01' AND e.event_created < '2026-02-15' GROUP BY 1, 2 ORDER BY a DESC, 1 LIMIT 10"),
    ("o-customer-orders", "SELECT o.order_id, e.event_type, e.event_created FROM orders o JOIN order_events e USING (order_id) WHERE o.customer_id = 124 ORDER BY 3 DESC, 1 LIMIT 20"),
    ("o-lead-time", "SELECT date_trunc('day', o.created_at) d, avg(e.event_created - o.created_at), max(e.event_created - o.created_at) FROM orders o JOIN order_events e USING (order_id) WHERE e.event_type = 'Delivered' AND o.created_at >= '2026-02-01' AND o.created_at < '2026-02-15' AND e.event_created >= '2026-02-01' GROUP BY 1 ORDER BY 1"),
    ("o-state-now", "SELECT event_type, count(*) FROM (SELECT DISTINCT ON (order_id) order_id, event_type FROM order_events WHERE event_created >= '2026-02-20' ORDER BY order_id, event_created DESC) x GROUP BY 1 ORDER BY 1"),
    ("o-lateral", "SELECT o.order_id, l.event_type, l.event_created FROM (SELECT order_id FROM orders WHERE customer_id = 77 ORDER BY 1 LIMIT 20) o CROSS JOIN LATERAL (SELECT event_type, event_created FROM order_events e WHERE e.order_id = o.order_id ORDER BY event_created DESC LIMIT 1) l ORDER BY 1"),
    ("o-between", "SELECT a.order_id, b.event_created - a.event_created FROM order_events a JOIN order_events b USING (order_id) WHERE a.event_type = 'Created' AND b.event_type = 'Delivered' AND a.event_created >= '2026-02-01' AND a.event_created < '2026-02-03' AND b.event_created >= '2026-02-01' ORDER BY 2 DESC, 1 LIMIT 10"),
    ("o-year-month", "SELECT extract(year FROM event_created), extract(month FROM event_created), event_type, count(*) FROM order_events GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"),
    ("o-pivot", "SELECT time_bucket('1 day', event_created) d, sum((event_type = 'Created')::int), sum((event_type = 'Delayed')::int), sum(CASE event_type WHEN 'Payed' THEN 1 ELSE 0 END) FROM order_events GROUP BY 1 ORDER BY 1"),
    ("o-json-keys", "SELECT event_payload->>'terminal' t, event_payload->'status'->>0 s, count(*) FROM order_events GROUP BY 1, 2 ORDER BY 1, 2"),
    ("o-json-num", "SELECT count(*) FROM order_events WHERE (event_payload->>'temperature')::numeric > 35"),
]


def load(connection):
    connection.execute("SET client_min_messages = warning; SET timezone = 'UTC'; DROP SCHEMA IF EXISTS web_strata, web_heap CASCADE; "
                       "DROP TABLE IF EXISTS src_hits, src_order_events")
    run_script(connection, SOURCES)
    fill(connection, "web", TABLES, SMALL, DIMENSIONS, "{segment} || {time}::text")


def for_duckdb(query):
    return query.replace("time_bucket('", "time_bucket(INTERVAL '").replace("substring(url from 'http://([^/]+)/')", "regexp_extract(url, 'http://([^/]+)/', 1)")


def main():
    options = arguments(__doc__).parse_args()
    if not options.keep:
        with psycopg.connect(options.dsn, autocommit=True) as connection:
            load(connection)
    measure(options, "web", (*TABLES, *SMALL), {}, QUERIES, for_duckdb)


if __name__ == "__main__":
    main()
