# A PostgreSQL of the official image with strata in it:
#
#	docker build --build-arg PG_MAJOR=17 -t strata:17 .
#	docker run -e POSTGRES_PASSWORD=secret -p 5432:5432 strata:17
#
# tools/package.sh runs these steps on a bare system, without Docker.
ARG PG_MAJOR=17
FROM postgres:${PG_MAJOR} AS build
ARG PG_MAJOR
RUN apt-get update && \
    apt-get install -y --no-install-recommends gcc make libc6-dev liblz4-dev libzstd-dev postgresql-server-dev-${PG_MAJOR}
COPY . /build
RUN make -C /build -s -j2 PG_CONFIG=/usr/lib/postgresql/${PG_MAJOR}/bin/pg_config && \
    make -C /build -s PG_CONFIG=/usr/lib/postgresql/${PG_MAJOR}/bin/pg_config DESTDIR=/installed install

FROM postgres:${PG_MAJOR}
RUN apt-get update && \
    apt-get install -y --no-install-recommends liblz4-1 libzstd1 && \
    rm -rf /var/lib/apt/lists/*
COPY --from=build /installed /
RUN echo "shared_preload_libraries = 'strata'" >>/usr/share/postgresql/postgresql.conf.sample && \
    echo "CREATE EXTENSION strata;" >/docker-entrypoint-initdb.d/10_strata.sql
