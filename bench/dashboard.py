"""bench/dashboard.py

Panels, cohorts, funnels, sessions, pages of a list: what nobody looked at while
strata was written.  The tables are those of analyst.py, and events(time, device,
kind, payload, tags, started, ended, note, trace), made of requests, which only
PostgreSQL has; so have queries whose SQL DuckDB does not know.
"""
from analyst import Analyst

class Dashboard(Analyst):
    """SQL of each query; times, hosts and the like are drawn anew for each run."""

    def events(self, select, hours, rest="", also=""):
        return "SELECT %s FROM events WHERE %s%s %s" % (select, self.window(hours), also, rest)

    def host(self):
        return "'%s'" % self.rng.choice(self.hosts)

    def service(self):
        return "'service-%02d'" % int(40 * self.rng.random() ** 3)

    def panels(self):
        cpu, requests = self.cpu, self.requests
        each = "GROUP BY 1 ORDER BY 1"
        return [
            ("panel-by-epoch", lambda: cpu("floor(extract(epoch FROM time) / 300) * 300 AS t, hostname, avg(usage_user)", 6, "GROUP BY 1, 2 ORDER BY 1, 2",
                                           " AND " + self.some_hosts(4))),
            ("panel-status-classes", lambda: requests("date_trunc('minute', time) AS t, floor(status / 100) AS class, count(*) / 60.0", 12, "GROUP BY 1, 2 ORDER BY 1, 2")),
            ("panel-variable", lambda: "SELECT DISTINCT service FROM requests ORDER BY 1"),
            ("panel-busiest-5", lambda: cpu("date_trunc('hour', time) AS t, hostname, max(usage_user)", 24, "GROUP BY 1, 2 ORDER BY 1, 2", " AND hostname IN (%s)" % (
                cpu("hostname", 2, "GROUP BY hostname ORDER BY avg(usage_user) DESC, 1 LIMIT 5")))),
            ("panel-of-a-moment", lambda: "SELECT count(*), max(usage_user) FROM cpu WHERE " + self.window(1 / 6)),
            ("panel-spread", lambda: cpu("time_bucket(INTERVAL '1 hour', time) AS t, hostname, max(usage_user) - min(usage_user)", 24, "GROUP BY 1, 2 ORDER BY 1, 2",
                                         " AND hostname LIKE 'host_2%'")),
            ("panel-range-of-host", lambda: "SELECT min(time), max(time), count(*) FROM cpu WHERE hostname = " + self.host()),
            ("panel-rolling-hour", lambda: "SELECT t, avg(a) OVER (ORDER BY t ROWS 11 PRECEDING) FROM (%s) AS buckets ORDER BY 1" % cpu(
                "time_bucket(INTERVAL '5 minutes', time) AS t, avg(usage_user) AS a", 24, "GROUP BY 1")),
            ("panel-week-grid", lambda: "SELECT extract(dow FROM time) AS day, extract(hour FROM time) AS hour, count(*), avg(duration) FROM requests GROUP BY 1, 2 ORDER BY 1, 2"),
            ("panel-pivot", lambda: requests("date_trunc('hour', time) AS t, sum(CASE WHEN method = 'GET' THEN 1 ELSE 0 END), sum(CASE WHEN method = 'POST' THEN bytes END), "
                                             "count(CASE WHEN status >= 500 THEN 1 END)", 48, each)),
            ("panel-filled", lambda: "SELECT g.t, count(r.time) FROM generate_series(TIMESTAMP '2016-01-01', TIMESTAMP '2016-01-03 23:00', INTERVAL '1 hour') AS g(t) "
                                     "LEFT JOIN requests AS r ON date_trunc('hour', r.time) = g.t AND r.status = 502 GROUP BY 1 ORDER BY 1"),
            ("panel-union", lambda: "SELECT 'cpu' AS what, date_trunc('hour', time) AS t, count(*) FROM cpu GROUP BY 2 "
                                    "UNION ALL SELECT 'requests', date_trunc('hour', time), count(*) FROM requests GROUP BY 2 ORDER BY 1, 2"),
            ("panel-day-before", lambda: "WITH hourly AS (SELECT date_trunc('hour', time) AS t, count(*) AS n, avg(duration) AS d FROM requests GROUP BY 1) "
                                         "SELECT a.t, a.n, b.n, a.d - b.d FROM hourly AS a LEFT JOIN hourly AS b ON a.t = b.t + INTERVAL '1 day' ORDER BY 1"),
        ]

    def people(self):
        requests = self.requests
        each = "GROUP BY 1 ORDER BY 1"
        return [
            ("users-a-day", lambda: "SELECT date_trunc('day', time) AS day, count(DISTINCT user_id), count(*) FROM requests " + each),
            ("cohorts", lambda: "WITH begun AS (SELECT user_id, min(date_trunc('day', time)) AS cohort FROM requests WHERE user_id IS NOT NULL GROUP BY 1) "
                                "SELECT cohort, date_trunc('day', r.time) AS day, count(DISTINCT r.user_id) FROM requests AS r JOIN begun USING (user_id) "
                                "GROUP BY 1, 2 ORDER BY 1, 2"),
            ("funnel", lambda: "SELECT count(a), count(CASE WHEN b > a THEN 1 END), count(CASE WHEN b > a AND c > b THEN 1 END) FROM (SELECT user_id, "
                               "min(time) FILTER (WHERE path LIKE '%/search/%') AS a, min(time) FILTER (WHERE path LIKE '%/items/%') AS b, "
                               "min(time) FILTER (WHERE path LIKE '%/orders/%') AS c FROM requests WHERE user_id IS NOT NULL GROUP BY 1) AS steps"),
            ("sessions", lambda: "SELECT user_id, count(*) FROM (SELECT user_id, time - lag(time) OVER (PARTITION BY user_id ORDER BY time) AS gap FROM requests "
                                 "WHERE user_id < 1000) AS steps WHERE gap IS NULL OR gap > INTERVAL '30 minutes' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10"),
            ("new-in-window", lambda: "SELECT count(DISTINCT user_id) FROM requests WHERE %s AND user_id NOT IN (SELECT user_id FROM requests WHERE time < '2016-01-02' "
                                      "AND user_id IS NOT NULL)" % "time >= '2016-01-03'"),
            ("who-failed-too", lambda: "SELECT count(*) FROM requests AS r WHERE status = 500 AND %s AND EXISTS (SELECT 1 FROM requests AS o WHERE o.user_id = r.user_id "
                                       "AND o.status = 404)" % self.window(12)),
            ("pairs", lambda: "SELECT count(*) FROM (SELECT DISTINCT user_id, service FROM requests WHERE %s) AS pairs" % self.window(24)),
            ("some-users", lambda: "SELECT user_id, count(*), max(time) FROM requests WHERE user_id IN (%s) GROUP BY 1 ORDER BY 1" % ", ".join(
                str(int(100000 * self.rng.random() ** 3 + 1)) for _ in range(20))),
            ("guests-who-paid", lambda: "SELECT count(*), sum(bytes) FROM requests WHERE user_id IS NULL AND price IS NOT NULL"),
            ("within-both", lambda: "SELECT count(*), avg(duration) FROM requests WHERE duration BETWEEN 20 AND 40 AND bytes BETWEEN 1000 AND 20000"),
            ("many-columns", lambda: requests("service, method, status, cached, count(*), avg(duration)", 24, "GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4")),
            ("share-of-all", lambda: "SELECT service, n, 100.0 * n / sum(n) OVER () AS share, rank() OVER (ORDER BY n DESC) FROM (%s) AS counts ORDER BY 1" % requests(
                "service, count(*) AS n", 24, "GROUP BY 1")),
            ("top-3-paths-of-each", lambda: "SELECT service, path, n FROM (SELECT service, path, n, row_number() OVER (PARTITION BY service ORDER BY n DESC, path) AS place "
                                            "FROM (%s) AS counts) AS placed WHERE place <= 3 ORDER BY 1, 3 DESC, 2" % requests("service, path, count(*) AS n", 24, "GROUP BY 1, 2")),
            ("slowest-of-each", lambda: "SELECT service, max(duration), min(duration) FROM requests WHERE NOT cached GROUP BY 1 HAVING max(duration) > 300 ORDER BY 2 DESC, 1"),
            ("path-ends", lambda: requests("count(*), avg(duration)", 48, "", " AND path LIKE '%/42'")),
            ("words", lambda: requests("upper(substr(path, 2, 6)) AS area, length(path) AS n, count(*)", 24, "GROUP BY 1, 2 ORDER BY 1, 2")),
            ("page-21", lambda: "SELECT time, path, status, duration FROM requests WHERE service = %s ORDER BY time DESC LIMIT 50 OFFSET 1000" % self.service()),
            ("next-page", lambda: "SELECT time, service, path, status FROM requests WHERE time <= '%s' AND status >= 400 ORDER BY time DESC LIMIT 50" % self.moment()),
            ("slow-page-2", lambda: requests("time, service, path, duration", 6, "ORDER BY duration DESC, time LIMIT 50 OFFSET 50", " AND status = 200")),
            ("total-and-page", lambda: "SELECT *, count(*) OVER () FROM requests WHERE status = 503 AND %s ORDER BY time DESC LIMIT 20" % self.window(24)),
        ]

    def hosts_and_rows(self):
        cpu = self.cpu
        return [
            ("gaps", lambda: "SELECT hostname, time, gap FROM (%s) AS steps WHERE gap > INTERVAL '10 seconds' ORDER BY 1, 2" % cpu(
                "hostname, time, time - lag(time) OVER (PARTITION BY hostname ORDER BY time) AS gap", 12)),
            ("silent-hosts", lambda: "SELECT hostname FROM hosts AS h WHERE NOT EXISTS (SELECT 1 FROM cpu AS c WHERE c.hostname = h.hostname AND %s "
                                     "AND usage_user > 60) ORDER BY 1" % self.window(1)),
            ("rows-of-every-host", lambda: "SELECT h.hostname, h.region, count(c.time) FROM hosts AS h LEFT JOIN cpu AS c ON c.hostname = h.hostname AND %s AND c.usage_user > 90 "
                                           "GROUP BY 1, 2 ORDER BY 1" % self.window(6)),
            ("max-of-each-host", lambda: "SELECT h.hostname, (SELECT max(c.usage_user) FROM cpu AS c WHERE c.hostname = h.hostname AND %s) FROM hosts AS h "
                                         "WHERE h.region = 'region-1' ORDER BY 1" % self.window(6)),
            ("last-3-of-a-region", lambda: "SELECT h.hostname, c.time, c.usage_user FROM hosts AS h CROSS JOIN LATERAL (SELECT time, usage_user FROM cpu AS x "
                                           "WHERE x.hostname = h.hostname ORDER BY time DESC LIMIT 3) AS c WHERE h.region = 'region-3' ORDER BY 1, 2"),
            ("latest-of-a-team", lambda: "SELECT DISTINCT ON (c.hostname) c.hostname, c.time, c.usage_user FROM cpu AS c JOIN hosts AS h USING (hostname) "
                                         "WHERE h.team = 'team-5' ORDER BY c.hostname, c.time DESC"),
            ("region-and-rack", lambda: "SELECT h.region, h.rack, max(c.usage_user), count(*) FROM cpu AS c JOIN hosts AS h USING (hostname) WHERE h.rack < 10 "
                                        "AND c.usage_idle < 20 GROUP BY 1, 2 ORDER BY 1, 2"),
            ("two-hosts-side-by-side", lambda: "SELECT count(*), max(a.usage_user - b.usage_user) FROM cpu AS a JOIN cpu AS b ON a.time = b.time "
                                               "WHERE a.hostname = %s AND b.hostname = %s AND a.%s" % (self.host(), self.host(), self.window(12).replace("AND time", "AND a.time"))),
            ("hosts-over-their-mean", lambda: "SELECT c.hostname, count(*) FROM cpu AS c JOIN (SELECT hostname, avg(usage_user) AS mean FROM cpu GROUP BY 1) AS m USING (hostname) "
                                              "WHERE c.usage_user > m.mean + 40 AND %s GROUP BY 1 ORDER BY 1" % self.window(12)),
            ("joined-tables", lambda: "SELECT a.t, a.busy, b.n FROM (SELECT date_trunc('hour', time) AS t, avg(usage_user) AS busy FROM cpu GROUP BY 1) AS a "
                                      "JOIN (SELECT date_trunc('hour', time) AS t, count(*) AS n FROM requests WHERE status >= 500 GROUP BY 1) AS b ON a.t = b.t ORDER BY 1"),
            ("rows-of-an-hour", lambda: cpu("time, usage_user, usage_system", 1, "ORDER BY time", " AND hostname = " + self.host())),
            ("above-all", lambda: cpu("hostname, time, usage_user", 2, "ORDER BY 1, 2", " AND usage_user > (SELECT avg(usage_user) + 45 FROM cpu)")),
        ]

    def postgres_only(self):
        """What DuckDB does not know, or says otherwise."""
        cpu, requests, events = self.cpu, self.requests, self.events
        each = "GROUP BY 1 ORDER BY 1"
        return [
            ("day-in-berlin", lambda: "SELECT date_trunc('day', time AT TIME ZONE 'Europe/Berlin') AS day, count(*), avg(usage_user) FROM cpu " + each),
            ("day-in-new-york", lambda: "SELECT date_trunc('day', time, 'America/New_York') AS day, service, sum(bytes) FROM requests GROUP BY 1, 2 ORDER BY 1, 2"),
            ("hour-in-berlin", lambda: "SELECT extract(hour FROM time AT TIME ZONE 'Europe/Berlin') AS hour, count(*) FILTER (WHERE status >= 500) FROM requests " + each),
            ("quantiles", lambda: requests("date_trunc('hour', time) AS t, percentile_cont(ARRAY[0.5, 0.9, 0.99]) WITHIN GROUP (ORDER BY duration)", 24, each)),
            ("last-by-array", lambda: cpu("hostname, (array_agg(usage_user ORDER BY time DESC))[1]", 1, each)),
            ("last-by-function", lambda: cpu("hostname, last(usage_user, time), first(usage_user, time)", 12, each)),
            ("slowest-row-of-each", lambda: requests("DISTINCT ON (service) service, time, path, duration", 24, "ORDER BY service, duration DESC, time")),
            ("row-comparison", lambda: "SELECT time, hostname, usage_user FROM cpu WHERE (time, hostname) < ('%s', 'host_5') ORDER BY time DESC, hostname DESC LIMIT 50" % self.moment()),
            ("width-buckets", lambda: requests("width_bucket(duration, 0, 400, 20) AS bucket, count(*)", 24, each)),
            ("json-status", lambda: events("payload->>'status' AS status, count(*)", 24, each)),
            ("json-number", lambda: events("device, avg((payload->>'ms')::float8), max((payload->>'status')::int)", 6, each)),
            ("json-contains", lambda: events("count(*)", 24, "", """ AND payload @> '{"status": 500}'""")),
            ("json-path", lambda: events("payload #>> '{where,service}' AS service, count(*) FILTER (WHERE NOT (payload->>'ok')::bool)", 12, each)),
            ("json-newest", lambda: "SELECT time, device, payload FROM events WHERE payload->>'status' = '502' ORDER BY time DESC LIMIT 20"),
            ("tag-of-many", lambda: events("count(*)", 24, "", " AND 'export' = ANY (tags)")),
            ("tags-counted", lambda: "SELECT tag, count(*) FROM events, unnest(tags) AS tag WHERE %s GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20" % self.window(6)),
            ("array-overlap", lambda: events("device, count(*)", 24, "GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10", " AND tags && ARRAY['login', 'export']")),
            ("running-at", lambda: "SELECT count(*) FROM events WHERE started <= '%s' AND ended >= '%s'" % ((self.moment(),) * 2)),
            ("how-long", lambda: events("kind, avg(ended - started), max(ended - started)", 24, each)),
            ("notes", lambda: "SELECT note, count(*), max(time) FROM events WHERE note IS NOT NULL GROUP BY 1 ORDER BY 1"),
            ("latest-note", lambda: "SELECT time, device, note FROM events WHERE note IS NOT NULL ORDER BY time DESC LIMIT 10"),
            ("device-history", lambda: "SELECT time, kind, payload->>'status', tags[2] FROM events WHERE device = 'device-%d' ORDER BY time DESC LIMIT 100" % self.rng.randrange(400)),
            ("devices-seen", lambda: "SELECT device, max(time) FROM events " + each),
            ("words-of-devices", lambda: events("split_part(device, '-', 2)::int % 10 AS shelf, count(DISTINCT device)", 24, each)),
            ("with-a-dimension", lambda: "SELECT v.name, date_trunc('hour', e.time) AS t, count(*) FROM events AS e JOIN (VALUES ('get', 'read'), ('head', 'read'), ('post', 'write'), "
                                         "('put', 'write')) AS v(kind, name) ON v.kind = e.kind WHERE %s GROUP BY 1, 2 ORDER BY 1, 2" % self.window(24)),
            ("series-of-ranges", lambda: "SELECT g.t, (SELECT count(*) FROM events AS e WHERE e.time >= g.t AND e.time < g.t + interval '1 hour' AND e.kind = 'delete') "
                                         "FROM generate_series(timestamptz '2016-01-02', '2016-01-02 23:00', '1 hour') AS g(t) ORDER BY 1"),
            ("calls-by-prefix", lambda: requests("count(*)", 24, "", " AND starts_with(path, '/api/v2')")),
            ("time-of-day", lambda: "SELECT count(*), avg(duration) FROM requests WHERE time::time BETWEEN '09:00' AND '17:00'"),
            ("to-char", lambda: "SELECT to_char(time, 'YYYY-MM-DD HH24:00') AS t, count(*), max(duration) FROM requests " + each),
            ("as-date", lambda: "SELECT time::date AS day, service, avg(duration) FROM requests GROUP BY 1, 2 ORDER BY 1, 2"),
        ]

    def all(self):
        return self.panels() + self.people() + self.hosts_and_rows() + self.postgres_only()


Dashboard.POSTGRES_ONLY = {name for name, _ in Dashboard(None, [], None, None).postgres_only()}
