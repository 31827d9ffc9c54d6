"""bench/analyst.py

What dashboards and analysts ask, and nobody tuned for: expressions, CASE,
distinct counts, percentiles, joins, windows, text, and changes of rows.  Tables:
cpu as in queries.py; hosts(hostname, region, team, rack), one row a host; and
requests(time, service, path, method, status, duration, bytes, user_id, cached,
price), of which service is the segment.  PostgreSQL and DuckDB understand all of
it.  Statements that change rows are rolled back; see engines.py.
"""
from queries import METRICS, Shapes


class Analyst(Shapes):
    """SQL of each query; times and hosts are drawn anew for each run."""

    def cpu(self, select, hours, rest="", also=""):
        return "SELECT %s FROM cpu WHERE %s%s %s" % (select, self.window(hours), also, rest)

    def requests(self, select, hours, rest="", also=""):
        return "SELECT %s FROM requests WHERE %s%s %s" % (select, self.window(hours), also, rest)

    def user(self):
        return "user_id = %d" % int(100000 * self.rng.random() ** 3 + 1)

    def week_before(self):
        """Two windows side by side, as "compared with before" panels ask."""
        return "%s UNION ALL %s ORDER BY 1, 2" % (
            self.cpu("'now' AS what, hostname, avg(usage_user)", 6, "GROUP BY 2", " AND hostname LIKE 'host_1%'"),
            self.cpu("'before' AS what, hostname, avg(usage_user)", 6, "GROUP BY 2", " AND hostname LIKE 'host_1%'"))

    def all(self):
        """[(name, function making SQL)], in the order of the report; changes last."""
        cpu, requests = self.cpu, self.requests
        each = "GROUP BY 1 ORDER BY 1"
        return [
            # expressions
            ("sum-of-two-by-5m", lambda: cpu("time_bucket(INTERVAL '5 minutes', time) AS t, avg(usage_user + usage_system)", 12, each)),
            ("busy-of-some-hosts", lambda: cpu("time_bucket(INTERVAL '1 minute', time) AS t, hostname, avg(100 - usage_idle)", 1,
                                               "GROUP BY 1, 2 ORDER BY 1, 2", " AND hostname LIKE 'host_1%'")),
            ("case-classes", lambda: cpu("CASE WHEN usage_user < 20 THEN 'low' WHEN usage_user < 80 THEN 'middle' ELSE 'high' END AS class, "
                                         "count(*), avg(usage_system)", 24, each)),
            ("hour-of-day", lambda: "SELECT extract(hour FROM time) AS hour, avg(usage_user), max(usage_system) FROM cpu " + each),
            ("heat-map", lambda: cpu("time_bucket(INTERVAL '1 hour', time) AS t, floor(usage_user / 10) * 10 AS bucket, count(*)", 24,
                                     "GROUP BY 1, 2 ORDER BY 1, 2")),
            ("histogram", lambda: "SELECT floor(usage_user / 5) AS bucket, count(*) FROM cpu " + each),
            ("any-of-three", lambda: "SELECT count(*) FROM cpu WHERE (usage_user > 95 OR usage_system > 95 OR usage_iowait > 95) AND NOT hostname = 'host_1'"),
            ("one-against-another", lambda: cpu("hostname, count(*)", 24, each, " AND usage_user > usage_system + 50")),
            ("share-of-high", lambda: cpu("date_trunc('hour', time) AS hour, 100.0 * count(*) FILTER (WHERE usage_user > 90) / count(*)", 48, each)),
            # aggregates
            ("stddev-by-host", lambda: cpu("hostname, stddev(usage_user), variance(usage_system)", 12, each)),
            ("corr-by-host", lambda: cpu("hostname, corr(usage_user, usage_system), regr_slope(usage_user, usage_system)", 12, each)),
            ("p95-by-host", lambda: cpu("hostname, percentile_cont(0.95) WITHIN GROUP (ORDER BY usage_user)", 12, each)),
            ("median-by-hour", lambda: cpu("date_trunc('hour', time) AS hour, percentile_disc(0.5) WITHIN GROUP (ORDER BY usage_user)", 24, each)),
            ("number-of-hosts", lambda: "SELECT count(DISTINCT hostname) FROM cpu"),
            ("hosts-by-hour", lambda: cpu("date_trunc('hour', time) AS hour, count(DISTINCT hostname)", 24, each)),
            ("having-busy", lambda: cpu("hostname, avg(usage_user)", 24, "GROUP BY 1 HAVING avg(usage_user) > 50 ORDER BY 2 DESC, 1 LIMIT 10")),
            ("max-of-hourly", lambda: "SELECT hostname, max(a) FROM (SELECT hostname, date_trunc('hour', time) AS hour, avg(usage_user) AS a FROM cpu "
                                      "GROUP BY 1, 2) AS hourly GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10"),
            ("first-and-last-time", lambda: "SELECT min(time), max(time) FROM cpu"),
            # order, windows
            ("highest-20", lambda: cpu("time, hostname, usage_user, usage_system", 12, "ORDER BY usage_user DESC, usage_system DESC, hostname, time LIMIT 20")),
            ("latest-100", lambda: "SELECT * FROM cpu ORDER BY time DESC, hostname LIMIT 100"),
            ("export-an-hour", lambda: cpu("*", 1, "ORDER BY hostname, time")),
            ("largest-step", lambda: "SELECT hostname, max(abs(step)) FROM (%s) AS steps GROUP BY 1 ORDER BY 1" % cpu(
                "hostname, usage_user - lag(usage_user) OVER (PARTITION BY hostname ORDER BY time) AS step", 4)),
            ("moving-average", lambda: cpu("time, avg(usage_user) OVER (ORDER BY time ROWS 11 PRECEDING)", 12, "ORDER BY 1", " AND " + self.some_hosts(1))),
            ("latest-3-of-each", lambda: "SELECT * FROM (%s) AS numbered WHERE n <= 3 ORDER BY 1, 2" % cpu(
                "hostname, time, usage_user, row_number() OVER (PARTITION BY hostname ORDER BY time DESC) AS n", 2)),
            # joins
            ("by-region", lambda: "SELECT h.region, date_trunc('hour', c.time) AS hour, avg(c.usage_user), max(c.usage_system) FROM cpu AS c "
                                  "JOIN hosts AS h USING (hostname) WHERE %s GROUP BY 1, 2 ORDER BY 1, 2" % self.window(12)),
            ("one-team", lambda: "SELECT date_trunc('hour', c.time) AS hour, count(*), avg(c.usage_user) FROM cpu AS c "
                                 "JOIN hosts AS h ON h.hostname = c.hostname WHERE h.team = 'team-3' AND %s GROUP BY 1 ORDER BY 1" % self.window(12)),
            ("in-a-region", lambda: cpu("max(usage_user), min(usage_idle)", 12, "", " AND hostname IN (SELECT hostname FROM hosts WHERE region = 'region-2')")),
            ("hosts-that-were-full", lambda: "SELECT h.hostname, h.rack FROM hosts AS h WHERE EXISTS (SELECT 1 FROM cpu AS c WHERE c.hostname = h.hostname "
                                             "AND c.usage_user > 98 AND %s) ORDER BY 1" % self.window(12)),
            ("rollup-of-places", lambda: "SELECT h.region, h.rack, avg(c.usage_user) FROM cpu AS c JOIN hosts AS h USING (hostname) WHERE %s "
                                         "GROUP BY ROLLUP (h.region, h.rack) ORDER BY 1, 2" % self.window(6)),
            ("now-and-before", self.week_before),
            # requests
            ("errors-by-method", lambda: "SELECT method, count(*), count(*) FILTER (WHERE status >= 500), avg(duration) FROM requests " + each),
            ("error-rate-by-5m", lambda: requests("time_bucket(INTERVAL '5 minutes', time) AS t, 100.0 * sum(CASE WHEN status >= 500 THEN 1 ELSE 0 END) / count(*)", 24, each)),
            ("p50-p95-p99", lambda: requests("service, percentile_cont(0.5) WITHIN GROUP (ORDER BY duration), percentile_cont(0.95) WITHIN GROUP (ORDER BY duration), "
                                             "percentile_cont(0.99) WITHIN GROUP (ORDER BY duration)", 12, each)),
            ("paths-by-number", lambda: requests("path, count(*), avg(duration)", 24, "GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10")),
            ("path-begins", lambda: requests("date_trunc('hour', time) AS hour, count(*)", 48, each, " AND path LIKE '/api/v1/users/%'")),
            ("path-contains", lambda: requests("service, count(*), sum(bytes)", 48, each, " AND path LIKE '%export%'")),
            ("path-part", lambda: requests("split_part(path, '/', 4) AS area, count(*), max(duration)", 24, each)),
            ("methods-and-codes", lambda: requests("status, lower(method), count(*)", 48, "GROUP BY 1, 2 ORDER BY 1, 2",
                                                   " AND method IN ('PUT', 'DELETE', 'POST') AND status IN (404, 500, 503)")),
            ("users-by-hour", lambda: requests("date_trunc('hour', time) AS hour, count(DISTINCT user_id)", 24, each)),
            ("guests-and-users", lambda: requests("CASE WHEN user_id IS NULL THEN 'guest' ELSE 'user' END AS who, count(*), sum(bytes), avg(coalesce(price, 0))", 48, each)),
            ("sales-by-service", lambda: "SELECT service, count(price), sum(price), avg(price) FROM requests WHERE price IS NOT NULL " + each),
            ("best-customers", lambda: requests("user_id, count(*), sum(price)", 48, "GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10", " AND user_id IS NOT NULL")),
            ("cached-ever", lambda: requests("service, bool_or(cached), bool_and(status < 500), count(*) FILTER (WHERE cached)", 24, each)),
            ("methods-of-each", lambda: requests("service, string_agg(DISTINCT method, ',' ORDER BY method), mode() WITHIN GROUP (ORDER BY status)", 6, each)),
            ("one-user", lambda: "SELECT time, service, path, status FROM requests WHERE %s ORDER BY time DESC LIMIT 50" % self.user()),
            ("latest-errors", lambda: "SELECT * FROM requests WHERE status = 500 ORDER BY time DESC LIMIT 20"),
            ("slowest-10", lambda: requests("time, service, path, duration", 24, "ORDER BY duration DESC, time LIMIT 10")),
            ("since-an-hour", lambda: "SELECT service, count(*), max(duration) FROM requests "
                                      "WHERE time > (SELECT max(time) FROM requests) - INTERVAL '1 hour' " + each),
            # changes
            ("update-host-hour", lambda: "UPDATE cpu SET usage_nice = usage_nice + 1 WHERE %s AND %s" % (self.some_hosts(1), self.window(1))),
            ("update-one", lambda: "UPDATE cpu SET usage_user = 50 WHERE %s AND time = '%s'" % (self.some_hosts(1), self.moment())),
            ("update-by-code", lambda: "UPDATE requests SET price = 0 WHERE status = 500 AND %s" % self.window(3)),
            ("delete-host", lambda: "DELETE FROM cpu WHERE " + self.some_hosts(1)),
            ("delete-3-hours", lambda: "DELETE FROM cpu WHERE " + self.window(3)),
            ("insert-an-hour", lambda: "INSERT INTO cpu SELECT time + INTERVAL '5 seconds', hostname, %s FROM cpu WHERE %s" % (
                ", ".join(METRICS), self.window(1))),
        ]
