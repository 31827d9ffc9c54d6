#!/usr/bin/env bash
# bench/dedup.sh
#	  What strata_dedup saves and costs beside heap, in turns on one private
#	  server; ratios to heap, least of ROUNDS=5.
#
#	  ORDERS=30000 orders of 1,000 customers (addresses, names, cards), items that
#	  repeat little, accounts, an inventory that does not repeat: bytes and log
#	  after INSERT ... SELECT and COPY, bytes after VACUUM FULL and in batches of
#	  strata; log of a million rows, and of a page that is converted; scans of all
#	  columns, count(*), look-ups and ranges by key, updates, single rows;
#	  pgbench's TPC-B, SCALE=20, in turns.
. "$(dirname "${BASH_SOURCE[0]}")/../tools/lib.sh"
. "$ROOT/bench/server.sh"

bash "$ROOT/tools/install_deps.sh"
ORDERS=${ORDERS:-30000} ROUNDS=${ROUNDS:-5} SCALE=${SCALE:-20} SECONDS_EACH=${SECONDS_EACH:-20}
start_bench_server bench-dedup "shared_buffers = 512MB
max_wal_size = 8GB
autovacuum = off"

sql <<SQL
SELECT setseed(0.42);
CREATE SCHEMA src; CREATE SCHEMA h; CREATE SCHEMA d;
CREATE TABLE src.customer AS SELECT u, 'user' || u AS userid,
	   (ARRAY['James','Mary','Robert','Patricia','John','Jennifer','Michael','Linda','Kirk','Jack','Ava','Oliver'])[1 + (random() * 11)::int] AS first,
	   (ARRAY['Smith','Johnson','Williams','Brown','Jones','Garcia','Miller','Davis','Lopez','Wilson','Kirk','Lee'])[1 + (random() * 11)::int] AS last,
	   (1 + (random() * 998)::int) || ' ' || (ARRAY['San Antonio Road','Main Street','Oak Avenue','Maple Drive'])[1 + (random() * 3)::int] AS addr,
	   (ARRAY['New York','Los Angeles','Chicago','Houston','Phoenix','Palo Alto','Seattle','Boston'])[1 + (random() * 7)::int] AS city,
	   '999 9999 9999 ' || lpad(u::text, 4, '0') AS card, (ARRAY['Visa','MasterCard','American Express'])[1 + u % 3] AS kind
  FROM generate_series(1, 1000) u;
CREATE TABLE src.orders AS SELECT o AS orderid, c.userid, date '2026-01-01' + o / 100 AS day, c.addr AS shipaddr, c.city AS shipcity, 'USA'::text AS shipcountry,
	   c.addr AS billaddr, c.city AS billcity, 'USA'::text AS billcountry, 'UPS'::text AS courier, (random() * 200)::numeric(10, 2) AS total,
	   c.first AS billfirst, c.last AS billlast, c.first AS shipfirst, c.last AS shiplast, c.card, c.kind, 'CA'::text AS locale
  FROM (SELECT o, 1 + (random() * random() * 999)::int AS u FROM generate_series(1, $ORDERS) o) x JOIN src.customer c USING (u) ORDER BY o;
CREATE TABLE src.item AS SELECT 'EST-' || i AS itemid, 'FI-SW-' || i / 30 AS productid, (random() * 100)::numeric(10, 2) AS price, 1 AS supplier, 'P'::text AS status,
	   (ARRAY['Large','Small','Toothless','Spotted','Adult Female'])[1 + (random() * 4)::int] AS attr FROM generate_series(1, 20000) i;
CREATE TABLE src.inventory AS SELECT 'EST-' || i AS itemid, 10000 - (random() * 100)::int AS qty FROM generate_series(1, 20000) i;
CREATE TABLE src.account AS SELECT userid, userid || '@example.com' AS email, first, last, 'OK'::text AS status, addr, city, 'CA'::text AS state, 'USA'::text AS country, '555-' || u AS phone FROM src.customer, generate_series(1, 2);
CREATE TABLE timing (what text, am text, ms float8, bytes bigint, wal bigint);
CREATE PROCEDURE measure(what text, command text) LANGUAGE plpgsql AS \$\$
DECLARE
	am text;
	t timestamptz;
	l pg_lsn;
BEGIN
	FOREACH am IN ARRAY ARRAY['h', 'd'] LOOP
		l := pg_current_wal_insert_lsn();
		t := clock_timestamp();
		EXECUTE replace(command, '@', am);
		INSERT INTO timing VALUES (what, am, extract(epoch FROM clock_timestamp() - t) * 1000, NULL, pg_current_wal_insert_lsn() - l);
		COMMIT;
	END LOOP;
END \$\$;
SQL
for table in orders item account inventory; do
    sql -c "COPY src.$table TO '$work/$table'"
    for round in 1 2 3; do
        sql <<SQL
SET client_min_messages = error; DROP TABLE IF EXISTS h.$table, d.$table;
CREATE TABLE h.$table (LIKE src.$table) USING heap;
CREATE TABLE d.$table (LIKE src.$table) USING strata_dedup;
CHECKPOINT;
CALL measure('INSERT ... SELECT, $table', 'INSERT INTO @.$table SELECT * FROM src.$table');
TRUNCATE h.$table; TRUNCATE d.$table; CHECKPOINT;
CALL measure('COPY, $table', 'COPY @.$table FROM ''$work/$table''');
SQL
    done
    sql -c "INSERT INTO timing SELECT 'COPY, $table', am, NULL, pg_relation_size((am || '.$table')::regclass) FROM (VALUES ('h'), ('d')) x(am)"
    sql -c "VACUUM FULL h.$table" -c "VACUUM FULL d.$table"
    sql -c "INSERT INTO timing SELECT 'size after VACUUM FULL, $table', am, NULL, pg_relation_size((am || '.$table')::regclass) FROM (VALUES ('h'), ('d')) x(am)"
    sql -c 'SET client_min_messages = error' -c "CREATE TABLE s (LIKE src.$table) USING strata" -c "INSERT INTO s SELECT * FROM src.$table" -c "SELECT compress_chunk('s')" -c 'VACUUM s' >/dev/null
    sql -c "INSERT INTO timing VALUES ('size in batches, $table', 'd', NULL, (SELECT pg_total_relation_size('s') + coalesce(pg_total_relation_size(strata.batch_relation('s')), 0))),
        ('size in batches, $table', 'h', NULL, pg_relation_size('h.$table'))" -c 'DROP TABLE s'
done
# a million orders; and full pages of a heap's that VACUUM converts
times=$(((1000000 + ORDERS - 1) / ORDERS))
sql <<SQL
CREATE TABLE h.million (LIKE src.orders) USING heap; CREATE TABLE d.million (LIKE src.orders) USING strata_dedup;
CALL measure('COPY of $((times * ORDERS)) orders', 'DO \$x\$ BEGIN FOR i IN 1 .. $times LOOP COPY @.million FROM ''$work/orders''; END LOOP; END \$x\$');
INSERT INTO timing SELECT 'COPY of $((times * ORDERS)) orders', am, NULL, pg_relation_size((am || '.million')::regclass) FROM (VALUES ('h'), ('d')) x(am);
TRUNCATE h.million; TRUNCATE d.million;
CALL measure('INSERT ... SELECT of $((times * ORDERS)) orders', 'INSERT INTO @.million SELECT o.* FROM src.orders o, generate_series(1, $times)');
SELECT format('%s orders: %s MB of log by %s, %s', $((times * ORDERS)), round(wal / 1e6), what, am) FROM timing WHERE what LIKE '%of $((times * ORDERS)) orders' AND wal IS NOT NULL;
DROP TABLE h.million, d.million;
CREATE TABLE h.pages (LIKE src.orders) USING heap; CREATE TABLE d.pages (LIKE src.orders) USING strata_dedup;
SET strata.enable_deduplication = off;
INSERT INTO h.pages SELECT * FROM src.orders; INSERT INTO d.pages SELECT * FROM src.orders;
RESET strata.enable_deduplication;
SELECT pg_current_wal_insert_lsn() AS a \gset
VACUUM h.pages;
SELECT pg_current_wal_insert_lsn() AS b \gset
VACUUM d.pages;
SELECT format('VACUUM: %s bytes of log for each of %s pages converted', round((pg_current_wal_insert_lsn() - :'b' - (:'b'::pg_lsn - :'a'::pg_lsn)) / pages_with_symbols), pages_with_symbols) FROM strata.dedup_stats('d.pages');
SQL
sql <<SQL
ALTER TABLE h.orders ADD PRIMARY KEY (orderid); ALTER TABLE d.orders ADD PRIMARY KEY (orderid);
VACUUM ANALYZE h.orders; VACUUM ANALYZE d.orders;
SET max_parallel_workers_per_gather = 0;
SELECT count(*) FROM h.orders; SELECT count(*) FROM d.orders;
SQL
for ((round = 0; round < ROUNDS; round++)); do
    sql <<SQL
SET max_parallel_workers_per_gather = 0;
CALL measure('count(*)', 'SELECT count(*) FROM @.orders');
CALL measure('scan, all columns', 'SELECT count(userid), max(day), count(shipaddr), count(total), max(locale) FROM @.orders');
CALL measure('scan, one column in front', 'SELECT count(*) FROM @.orders WHERE userid = ''nobody''');
CALL measure('10,000 look-ups by key', 'DO \$x\$ DECLARE r record; BEGIN FOR i IN 1 .. 10000 LOOP SELECT * INTO r FROM @.orders WHERE orderid = 1 + i * 7919 % $ORDERS; END LOOP; END \$x\$');
CALL measure('1,000 ranges of 100 rows by key', 'DO \$x\$ DECLARE r record; BEGIN FOR i IN 1 .. 1000 LOOP SELECT count(shipaddr), max(locale), sum(total) INTO r FROM @.orders WHERE orderid BETWEEN 1 + i * 7919 % $ORDERS AND 100 + i * 7919 % $ORDERS; END LOOP; END \$x\$');
CALL measure('5,000 rows, one by one', 'DO \$x\$ BEGIN FOR i IN 1 .. 5000 LOOP INSERT INTO @.orders VALUES (1000000 * ($round + 1) + i, ''user'' || i % 50, ''2026-01-01'', i % 50 || '' Main Street'', ''New York'', ''USA'', i % 50 || '' Main Street'', ''New York'', ''USA'', ''UPS'', 1, ''James'', ''Smith'', ''James'', ''Smith'', ''999 9999 9999'', ''Visa'', ''CA''); END LOOP; END \$x\$');
CALL measure('update of 2,000 rows', 'UPDATE @.orders SET total = total + 1 WHERE orderid % 15 = $round');
SQL
done
pgbench=$("$("$ROOT/tools/server" pg_config)" --bindir)/pgbench
for am in heap strata_dedup; do
    sql -c "CREATE DATABASE tpcb_$am"
    PGDATABASE=tpcb_$am sql -c 'CREATE EXTENSION strata'
    PGOPTIONS="-c default_table_access_method=$am" "$pgbench" -i -q -s "$SCALE" "tpcb_$am" >/dev/null 2>&1
done
for ((round = 0; round < 3; round++)); do
    for am in heap strata_dedup; do
        tps=$("$pgbench" -n -c 2 -T "$SECONDS_EACH" "tpcb_$am" 2>/dev/null | sed -n 's/^tps = \([0-9.]*\).*/\1/p')
        sql -c "INSERT INTO timing VALUES ('pgbench TPC-B', '${am:0:1}', 1000 / ${tps:-0.001})"
    done
done
sql -c "UPDATE timing SET am = 'd' WHERE am = 's'" -c "\pset format aligned" -c "
SELECT what, round(min(ms) FILTER (WHERE am = 'h')::numeric, 1) AS heap_ms, round((min(ms) FILTER (WHERE am = 'd') / min(ms) FILTER (WHERE am = 'h'))::numeric, 2) AS time,
	   round((max(bytes) FILTER (WHERE am = 'd')::numeric / max(bytes) FILTER (WHERE am = 'h')), 2) AS size,
	   round((min(wal) FILTER (WHERE am = 'd')::numeric / nullif(min(wal) FILTER (WHERE am = 'h'), 0)), 2) AS wal
FROM timing GROUP BY what ORDER BY what"
