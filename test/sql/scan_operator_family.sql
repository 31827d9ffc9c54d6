-- An operator between two types, added to a btree family by somebody, that goes
-- by a setting: the order of the family is not its order, so it judges no batch.
-- One that cannot go by a setting keeps the promise of the family, and does.
-- needs superuser: it adds operators to a family
SET client_min_messages = error;
SET strata.batch_rows = 10;
CREATE SCHEMA scan_family;
SET search_path = scan_family, public;

CREATE FUNCTION turned(int4) RETURNS int4 STABLE LANGUAGE sql
AS $$ SELECT CASE WHEN current_setting('scan_family.turned', true) = 'on' AND $1 BETWEEN 40 AND 59 THEN $1 + 30 ELSE $1 END $$;
CREATE FUNCTION turned_lt(int4, text) RETURNS bool STABLE STRICT LANGUAGE plpgsql AS $$ BEGIN RETURN turned($1) < $2::int4; END $$;
CREATE FUNCTION turned_cmp(int4, text) RETURNS int4 STABLE STRICT LANGUAGE plpgsql AS $$ BEGIN RETURN btint4cmp(turned($1), $2::int4); END $$;
CREATE FUNCTION plain_lt(int4, varbit) RETURNS bool IMMUTABLE STRICT LANGUAGE plpgsql AS $$ BEGIN RETURN $1 < length($2); END $$;
CREATE FUNCTION plain_cmp(int4, varbit) RETURNS int4 IMMUTABLE STRICT LANGUAGE plpgsql AS $$ BEGIN RETURN btint4cmp($1, length($2)); END $$;
CREATE OPERATOR <<< (LEFTARG = int4, RIGHTARG = text, FUNCTION = turned_lt);
CREATE OPERATOR <<< (LEFTARG = int4, RIGHTARG = varbit, FUNCTION = plain_lt);
ALTER OPERATOR FAMILY integer_ops USING btree ADD
    OPERATOR 1 <<< (int4, text), FUNCTION 1 (int4, text) turned_cmp(int4, text),
    OPERATOR 1 <<< (int4, varbit), FUNCTION 1 (int4, varbit) plain_cmp(int4, varbit);

CREATE TABLE h (v int4, w int4);
INSERT INTO h SELECT i, i FROM generate_series(1, 200) i;
CREATE TABLE t (v int4, w int4) USING strata;
ALTER TABLE t SET (strata.orderby = 'v');
SET strata.torture = on;
INSERT INTO t SELECT * FROM h;
SELECT compress_chunk('t');
SET strata.torture = off;
SELECT count(*) > 10 AS batches FROM strata.batches('t');
CREATE FUNCTION same(condition text) RETURNS bool LANGUAGE plpgsql AS $$
DECLARE
    result bool;
BEGIN
    EXECUTE format('SELECT (SELECT ROW(count(*), sum(v), sum(w)) FROM h WHERE %1$s) = (SELECT ROW(count(*), sum(v), sum(w)) FROM t WHERE %1$s)',
        condition) INTO result;
    RETURN result;
END $$;
SET scan_family.turned = on;
SELECT bool_and(same(format('v <<< %L::text', x))) AS stable, bool_and(same(format('w <<< %L::text', x))) AS stable_w,
    bool_and(same(format('v <<< repeat(%L, %s)::varbit', '1', x))) AS immutable FROM generate_series(1, 201, 5) x;
SET scan_family.turned = off;
SELECT bool_and(same(format('v <<< %L::text', x))) AS stable FROM generate_series(1, 201, 5) x;

-- whole batches
SET scan_family.turned = on;
BEGIN;
DELETE FROM h WHERE v <<< '61'::text;
DELETE FROM t WHERE v <<< '61'::text;
SELECT same('true');
ROLLBACK;

ALTER OPERATOR FAMILY integer_ops USING btree DROP
    OPERATOR 1 (int4, text), FUNCTION 1 (int4, text), OPERATOR 1 (int4, varbit), FUNCTION 1 (int4, varbit);
SET client_min_messages = warning;
DROP SCHEMA scan_family CASCADE;
