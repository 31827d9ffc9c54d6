# pg_strata: a hybrid row/columnar compressed table access method.
#
#	make && make install PG_CONFIG=/path/to/pg_config     as any PGXS extension
#	make demo          install what is missing, build, load, compress, compare
#	make test          everything, on a private server; "N passed, N failed"
#	make help          the other targets
#
# Options: WERROR=1 (warnings are errors), ASSERT=1 (Asserts on, also against
# a server built without them), SEED=, STEPS=, TORTURE=1 where a target says so.

EXTENSION = strata strata_timescale_compat
EXTVERSION = 0.1.0
MODULE_big = strata
PG_CONFIG ?= pg_config

OBJS = $(patsubst %.c,%.o,$(sort $(wildcard src/*.c src/*/*.c src/*/*/*.c)))

# The install script is the parts in sql/ in the order of their names; upgrade
# scripts (sql/strata--A--B.sql) are installed as they are.  It runs with
# search_path pinned, so that nobody's operators get into views and functions;
# what it makes without a schema goes into the schema CREATE EXTENSION was given,
# and calls of that in its own texts say @extschema@.
EXTSCHEMA = s/^((CREATE|COMMENT ON|REVOKE ALL ON|GRANT EXECUTE ON) (FUNCTION|PROCEDURE|AGGREGATE)) ([a-z_0-9]+)\(/\1 @extschema@.\4(/
UPGRADES = $(wildcard sql/strata--*--*.sql)
SQL_PARTS = $(sort $(filter-out $(UPGRADES),$(wildcard sql/*.sql)))
DATA = $(UPGRADES) $(wildcard sql/compat/*.sql)
DATA_built = strata--$(EXTVERSION).sql
# make installcheck: a few tests, on an installed server, whose superuser may have any
# name; `make test` is all of them.
REGRESS = am_dml hypertable_upsert scan_backward time_bucket
REGRESS_OPTS = --inputdir=test --load-extension=strata
EXTRA_CLEAN = $(DATA_built) .build-flags $(OBJS:.o=.d)

# -isystem silences the server's own headers under our warnings.
PG_CPPFLAGS = -isystem $(shell $(PG_CONFIG) --includedir-server 2>/dev/null) -Isrc \
	-DSTRATA_SERVER_BUILD -DSTRATA_VERSION='"$(EXTVERSION)"' -MMD -MP
PG_CFLAGS = -Wall -Wextra -Wno-unused-parameter \
	-Wno-missing-field-initializers -Wno-sign-compare
ifdef WERROR
PG_CFLAGS += -Werror
endif
ifdef ASSERT
PG_CPPFLAGS += -DUSE_ASSERT_CHECKING
endif
SHLIB_LINK += -llz4 -lzstd
ifneq ($(shell uname -s),Darwin)
# Our own functions are called where they are, not through the table of what
# another library might replace: short queries take 4 % less time.
PG_CFLAGS += -fvisibility=protected -fno-plt
SHLIB_LINK += -Wl,--version-script=tools/exports.map
endif

# No LLVM bitcode unless asked for: it doubles the build and needs clang.
ifneq ($(origin with_llvm),command line)
override with_llvm := no
endif

.DEFAULT_GOAL := all

ifneq ($(shell command -v $(PG_CONFIG) 2>/dev/null),)
PGXS := $(shell $(PG_CONFIG) --pgxs)
ifneq ($(wildcard $(PGXS)),)
include $(PGXS)
HAVE_PGXS = 1
endif
endif

ifndef HAVE_PGXS
# A bare machine: the targets below that are scripts install what they need.
all install installdirs uninstall clean:
	@echo "cannot $@: \"$(PG_CONFIG)\" and the server's development files are needed;" >&2
	@echo "run tools/install_deps.sh, or pass PG_CONFIG=/path/to/pg_config" >&2
	@exit 1
distclean:
endif

# Loops over vectors are where -O3 pays.
KERNEL_OBJS = $(patsubst %.c,%.o,$(wildcard src/codec/*.c src/codec/*/*.c src/*/*_kernel.c src/expr/expr_eval.c src/expr/expr_text.c src/expr/expr_truth.c src/agg/agg_add.c src/agg/agg_code.c src/agg/agg_numeric.c src/agg/agg_scatter.c))
$(KERNEL_OBJS): override CFLAGS += -O3
# Our own use of them, whether or not the server was built with LZ4 and zstd.
src/codec/lz_library.o src/codec/lzarray.o: override CPPFLAGS += -DUSE_LZ4=1 -DUSE_ZSTD=1

# Objects depend on what they were compiled with: another server version or
# another option rebuilds them, anything else does not.
BUILD_FLAGS := $(VERSION) $(CC) $(filter-out -isystem $(shell $(PG_CONFIG) --includedir-server 2>/dev/null),$(PG_CPPFLAGS)) $(CFLAGS)
.build-flags: FORCE
	@echo '$(subst ','\'',$(BUILD_FLAGS))' | cmp -s - $@ || \
		echo '$(subst ','\'',$(BUILD_FLAGS))' > $@
$(OBJS): .build-flags
-include $(OBJS:.o=.d)

$(MODULE_big)$(DLSUFFIX): tools/exports.map

strata--$(EXTVERSION).sql: $(SQL_PARTS) Makefile
	@{ printf '%s\n' '-- made from sql/*.sql by make; do not edit' \
	     '\echo Use "CREATE EXTENSION strata" to load this file. \quit' \
	     'SET LOCAL search_path TO pg_catalog, pg_temp;'; \
	   sed -E '$(EXTSCHEMA)' $(SQL_PARTS) /dev/null; } > $@

# --- everything below is a script of its own -------------------------------

export PG_CONFIG WERROR ASSERT SEED RUNS STEPS MINUTES TABLES TORTURE PGSRC AM SETTINGS SHOW T CITUS_SRC

test: ; @SECONDS_EACH=$${SECONDS_EACH:-10} bash tools/test.sh unit regress isolation tap model
test-unit: ; @bash tools/test.sh unit
test-regress: ; @bash tools/test.sh regress
test-isolation: ; @bash tools/test.sh isolation
test-tap: ; @bash tools/test.sh tap
test-props: ; @bash tools/test.sh props
test-concurrent: ; @bash tools/test.sh concurrent
test-model: ; @bash tools/test.sh model
test-damage: ; @bash tools/test.sh damage
test-pgsuite: ; @bash tools/pgsuite.sh
test-pgisolation: ; @bash tools/pgisolation.sh
test-sqlsmith: ; @bash tools/sqlsmith.sh
test-valgrind: ; @bash tools/valgrind.sh
test-version: ; @bash tools/test_version.sh $(V)
test-citus: ; @bash tools/citus.sh
test-postgis: ; @bash tools/postgis.sh
test-cross: ; @bash tools/cross.sh $(ARCHS)
test-packages: ; @bash tools/package.sh $(SUITES)
lint: all ; @bash tools/lint.sh
indent: ; @python3 tools/indent.py
demo: ; @bash tools/demo.sh
docs: ; @bash tools/docs.sh
report: ; @bash bench/report.sh
bench: ; @bash bench/run.sh
bench-hypertable: ; @bash bench/hypertable.sh
bench-change: ; @bash bench/change.sh
bench-rollups: ; @bash bench/rollups.sh
bench-operations: ; @bash bench/operations.sh
bench-codecs: .run/codec_bench ; @.run/codec_bench $(or $(ARGS),$(wildcard ../shared/data)) | python3 bench/codec_classes.py
.run/codec_bench: bench/codec_bench.c test/unit/jsonb_make.c $(wildcard src/codec/*.[ch] src/codec/*/*.[ch])
	@mkdir -p .run
	$(CC) -std=gnu11 -O3 -g -Wall -DUSE_LZ4 -DUSE_ZSTD -Isrc -I. -o $@ $(filter %.c,$^) -llz4 -lzstd -lm
# A release as PGXN takes it (zip) and as packages are made of it; of what is committed.
dist:
	@mkdir -p .run/dist
	git archive --prefix=strata-$(EXTVERSION)/ --format=zip -o .run/dist/strata-$(EXTVERSION).zip HEAD
	git archive --prefix=pg-strata-$(EXTVERSION)/ --format=tar.gz -o .run/dist/pg-strata_$(EXTVERSION).orig.tar.gz HEAD
	@ls -l .run/dist
compdb: ; @python3 tools/compdb.py > compile_commands.json
distclean: run-clean
run-clean: ; @bash tools/server wipe-all

help:
	@echo 'all install clean distclean   the PGXS targets'
	@echo 'test                          unit + regress + isolation + TAP + model on a private server'
	@echo 'test-unit -regress -isolation -tap   one of them (T="name ..." picks tests)'
	@echo 'test-props SEED= STEPS=       heap against strata, random statements'
	@echo 'test-concurrent SEED= RUNS=    the same for schedules of several sessions'
	@echo 'test-model SEED= SECONDS_EACH= what is tracked for rollups, by writers, refreshers and readers at once'
	@echo 'test-damage SEED= STEPS=      damaged batches: an error, never a crash or a wrong row'
	@echo 'test-pgsuite TORTURE= PGSRC= SETTINGS=  PostgreSQL regression suite on strata tables'
	@echo 'test-pgisolation TORTURE= PGSRC= SETTINGS=  its isolation suite'
	@echo 'test-sqlsmith MINUTES= SEED=  random statements against tables in every state'
	@echo 'test-valgrind T= STEPS=         a server under valgrind: regression tests and random statements'
	@echo 'test-version V=17 TARGETS=    build and test against another PostgreSQL, in a chroot'
	@echo 'test-cross ARCHS="arm64 s390x"  tests of codecs and pages for other CPUs, in qemu'
	@echo 'test-packages SUITES="bookworm trixie"  Debian packages built and tried on bare systems; the Dockerfile'
	@echo 'dist                          archives of the release under .run/dist'
	@echo 'test-postgis                  batch indexes of PostGIS; optional, where it is installed'
	@echo 'test-citus CITUS_SRC=         tables that Citus distributes; optional, builds an unpacked release of it'
	@echo 'lint                          layers, layout, file sizes and headers, exports, extension scripts (pgspot)'
	@echo 'indent                        lay out C files as lint wants them (pg_bsd_indent)'
	@echo 'demo bench bench-change bench-codecs bench-hypertable bench-operations bench-rollups compdb'
	@echo 'docs                          the documents as a site, in .run/site'
	@echo 'report                        sizes and times as charts, in .run/report.html'
	@echo 'tools/server start|psql|...   a private server to play with'

FORCE:
.PHONY: FORCE docs report test test-unit test-regress test-isolation test-tap test-props test-concurrent test-model \
	test-damage test-pgsuite test-pgisolation test-sqlsmith test-valgrind test-version test-citus test-postgis test-cross test-packages dist lint indent demo bench bench-change bench-codecs bench-hypertable bench-operations bench-rollups \
	compdb run-clean help
