"""bench/queries.py

The query shapes of TSBS's "devops" use case, and a few of our own, on a table
of ten CPU metrics called cpu.  date_trunc stands for time_bucket.
"""
import datetime

METRICS = ["usage_user", "usage_system", "usage_idle", "usage_nice", "usage_iowait", "usage_irq", "usage_softirq",
           "usage_steal", "usage_guest", "usage_guest_nice"]

# for the question how time grows with the table
SCALING = ["single-groupby-1-1-12", "double-groupby-1", "groupby-orderby-limit", "high-cpu-1", "lastpoint-distinct-on"]


class Shapes:
    """SQL of each shape; hosts and times are drawn."""

    def __init__(self, rng, hosts, first, last):
        self.rng, self.hosts, self.first, self.last = rng, hosts, first, last

    def window(self, hours):
        """A random window, as a condition on time."""
        slack = (self.last - self.first).total_seconds() - hours * 3600
        start = self.first + datetime.timedelta(seconds=int(self.rng.uniform(0, max(0, slack))))
        return "time >= '%s' AND time < '%s'" % (start, start + datetime.timedelta(hours=hours))

    def some_hosts(self, number):
        return "hostname IN (%s)" % ", ".join("'%s'" % h for h in self.rng.sample(self.hosts, min(number, len(self.hosts))))

    def single_groupby(self, metrics, hosts, hours):
        return "SELECT date_trunc('minute', time) AS minute, %s FROM cpu WHERE %s AND %s GROUP BY 1 ORDER BY 1" % (
            ", ".join("max(%s)" % m for m in METRICS[:metrics]), self.some_hosts(hosts), self.window(hours))

    def cpu_max_all(self, hosts):
        return "SELECT date_trunc('hour', time) AS hour, %s FROM cpu WHERE %s AND %s GROUP BY 1 ORDER BY 1" % (
            ", ".join("max(%s)" % m for m in METRICS), self.some_hosts(hosts), self.window(8))

    def double_groupby(self, metrics):
        return "SELECT date_trunc('hour', time) AS hour, hostname, %s FROM cpu WHERE %s GROUP BY 1, 2 ORDER BY 1, 2" % (
            ", ".join("avg(%s)" % m for m in METRICS[:metrics]), self.window(12))

    def groupby_orderby_limit(self):
        end = self.window(1).split("'")[3]
        return ("SELECT date_trunc('minute', time) AS minute, max(usage_user) FROM cpu WHERE time < '%s' "
                "GROUP BY 1 ORDER BY 1 DESC LIMIT 5" % end)

    def high_cpu(self, hosts):
        where = "usage_user > 90.0 AND %s" % self.window(12)
        return "SELECT * FROM cpu WHERE %s%s" % (where, " AND " + self.some_hosts(hosts) if hosts else "")

    def moment(self):
        """When every host has a row."""
        start = self.window(0).split("'")[1]
        return start[:18] + "0" + start[19:]

    def point(self):
        return "SELECT * FROM cpu WHERE %s AND time = '%s'" % (self.some_hosts(1), self.moment())

    def all(self):
        """[(name, function making SQL)], in the order of the report."""
        return [
            ("single-groupby-1-1-1", lambda: self.single_groupby(1, 1, 1)),
            ("single-groupby-1-1-12", lambda: self.single_groupby(1, 1, 12)),
            ("single-groupby-1-8-1", lambda: self.single_groupby(1, 8, 1)),
            ("single-groupby-5-1-1", lambda: self.single_groupby(5, 1, 1)),
            ("single-groupby-5-1-12", lambda: self.single_groupby(5, 1, 12)),
            ("single-groupby-5-8-1", lambda: self.single_groupby(5, 8, 1)),
            ("cpu-max-all-1", lambda: self.cpu_max_all(1)),
            ("cpu-max-all-8", lambda: self.cpu_max_all(8)),
            ("double-groupby-1", lambda: self.double_groupby(1)),
            ("double-groupby-5", lambda: self.double_groupby(5)),
            ("double-groupby-all", lambda: self.double_groupby(10)),
            ("groupby-orderby-limit", self.groupby_orderby_limit),
            ("high-cpu-1", lambda: self.high_cpu(1)),
            ("high-cpu-all", lambda: self.high_cpu(0)),
            ("lastpoint-lateral", lambda: (
                "SELECT h.hostname, c.* FROM hosts AS h CROSS JOIN LATERAL (SELECT time, usage_user, usage_system "
                "FROM cpu AS x WHERE x.hostname = h.hostname ORDER BY time DESC LIMIT 1) AS c ORDER BY 1")),
            ("lastpoint-distinct-on", lambda: "SELECT DISTINCT ON (hostname) * FROM cpu ORDER BY hostname, time DESC"),
            ("latest-10-of-host", lambda: (
                "SELECT * FROM cpu WHERE %s ORDER BY time DESC LIMIT 10" % self.some_hosts(1))),
            ("point-lookup", self.point),
            ("count", lambda: "SELECT count(*) FROM cpu"),
            ("count-avg-all-rows", lambda: "SELECT count(*), avg(usage_user) FROM cpu"),
            ("filter-two-metrics", lambda: "SELECT count(*) FROM cpu WHERE usage_user > 95 AND usage_system < 5"),
            ("hourly-rollup", lambda: (
                "SELECT date_trunc('hour', time) AS hour, hostname, avg(usage_user), max(usage_system), count(*) "
                "FROM cpu GROUP BY 1, 2 ORDER BY 1, 2")),
        ]
