#!/usr/bin/env bash
# tools/postgis.sh
#	  Runs test/postgis/postgis.sql on the private server, which must have
#	  PostGIS: answers are heap's, and batch indexes are used.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

"$ROOT/tools/server" start
[ -e "$("$("$ROOT/tools/server" pg_config)" --sharedir)/extension/postgis.control" ] || die "PostGIS is not installed for this server (Debian: postgresql-15-postgis-3)"
"$ROOT/tools/server" psql -X -q -f "$ROOT/test/postgis/postgis.sql"
say "postgis: answers are heap's, batch indexes are used"
