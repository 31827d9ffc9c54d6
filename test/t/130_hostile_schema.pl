# test/t/130_hostile_schema.pl
#	  The script of the extension means what it says in a schema where somebody
#	  else has put operators and functions that match better than PostgreSQL's.
use strict;
use warnings;

use StrataTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = strata_node('hostile');

$node->safe_psql('postgres', <<'SQL');
SET client_min_messages = error;
CREATE SCHEMA hostile;
DO $do$
DECLARE
	types name[] := ARRAY['int2', 'int4', 'int8', 'float4', 'float8', 'numeric', 'text', 'name', 'interval', 'timestamptz', 'timestamp', 'date', 'oid', 'regclass', 'regproc', 'regtype', 'regrole', 'bool', '"char"', 'jsonb', 'bytea', 'varchar', 'bpchar', 'inet'];
	l name; r name; op text; n int := 0; f record;
BEGIN
	FOREACH l IN ARRAY types LOOP
		FOREACH r IN ARRAY types LOOP
			FOREACH op IN ARRAY ARRAY['+', '-', '*', '/', '||', '=', '<>', '<', '>', '<=', '>=', '->', '->>', '~'] LOOP
				n := n + 1;
				EXECUTE format('CREATE FUNCTION hostile.f%s(%s, %s) RETURNS %s LANGUAGE sql AS $f$ SELECT NULL::%4$s $f$', n, l, r,
					CASE WHEN op IN ('+', '-', '*', '/') THEN r WHEN op IN ('||', '->>') THEN 'text' WHEN op = '->' THEN 'jsonb' ELSE 'bool' END);
				EXECUTE format('CREATE OPERATOR hostile.%s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = hostile.f%s)', op, l, r, n);
			END LOOP;
		END LOOP;
	END LOOP;
	-- functions of one and two arguments under the names that PostgreSQL's have, of types they do not take
	FOR f IN SELECT DISTINCT proname FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace AND prokind IN ('f', 'a', 'w')
		AND proname ~ '^(coalesce|greatest|least|sum|count|min|max|ceil|floor|now|quote_ident|format|string_agg|array_agg|row_number|lag|nullif|pg_.*size.*|pg_has_role|current_setting|to_timestamp|date_trunc|extract|unnest|generate_series|obj_description|bool_and|bool_or|concat|replace|length|timezone|nextval|lower|upper)$' LOOP
		FOREACH l IN ARRAY types LOOP
			IF NOT EXISTS (SELECT FROM pg_proc p WHERE p.proname = f.proname AND p.pronamespace = 'pg_catalog'::regnamespace AND p.pronargs = 1 AND p.proargtypes[0] = l::regtype) THEN
				EXECUTE format('CREATE FUNCTION hostile.%I(%s) RETURNS %s LANGUAGE sql AS $f$ SELECT $1 $f$', f.proname, l, l);
			END IF;
		END LOOP;
	END LOOP;
END $do$;
CREATE EXTENSION strata SCHEMA hostile;
CREATE EXTENSION strata_timescale_compat SCHEMA hostile;
SQL
is($node->safe_psql('postgres', <<'SQL'), '', 'views and functions depend on nothing that is not the extensions\' own');
CREATE VIEW pg_temp.members AS SELECT classid, objid FROM pg_depend WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e';
SELECT pg_describe_object(CASE WHEN r.oid IS NULL THEN d.classid ELSE 'pg_class'::regclass END, coalesce(r.ev_class, d.objid), 0) AS object,
       count(*), min(pg_describe_object(d.refclassid, d.refobjid, d.refobjsubid)) AS depends_on
    FROM pg_depend d LEFT JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid
    WHERE d.deptype IN ('n', 'a') AND d.refobjid >= 16384 AND d.refclassid IN ('pg_proc'::regclass, 'pg_operator'::regclass, 'pg_type'::regclass, 'pg_class'::regclass)
      AND EXISTS (SELECT FROM pg_temp.members m WHERE m.objid = coalesce(r.ev_class, d.objid))
      AND NOT EXISTS (SELECT FROM pg_temp.members m WHERE m.classid = d.refclassid AND m.objid = d.refobjid)
      AND NOT EXISTS (SELECT FROM pg_type t JOIN pg_temp.members m ON m.objid = t.typrelid WHERE d.refclassid = 'pg_type'::regclass AND t.oid = d.refobjid)
    GROUP BY 1 ORDER BY 1;
SQL
done_testing();
