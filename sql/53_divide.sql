-- convert(): a first chunk, of all times up to some moment, that is being
-- divided (docs/adr/041).  Logs without an index, read by nobody else.
CREATE TABLE _strata.divide (
	source oid NOT NULL,
	part oid NOT NULL,
	lo bigint NOT NULL,
	hi bigint NOT NULL,
	file oid NOT NULL,
	fingerprint bigint NOT NULL,
	division bigint NOT NULL
);
COMMENT ON TABLE _strata.divide IS
'chunks that convert() divides, and the tables (part, 0: the chunk as such) that have a copy of their rows of times from lo to before hi; file, fingerprint: what the chunk and its hypertable were when its changes began to be noted; division: the transaction that began, 0: none has; of the chunk as such, hi: all before is copied';

CREATE TABLE _strata.divide_mark (
	source oid NOT NULL,
	time bigint NOT NULL
);
COMMENT ON TABLE _strata.divide_mark IS
'times, in units of the time column, of which rows of a chunk that is being divided have changed since they were copied';

CREATE FUNCTION _strata.divide_note() RETURNS trigger
	AS 'MODULE_PATHNAME', 'strata_divide_note' LANGUAGE C;
COMMENT ON FUNCTION _strata.divide_note() IS
'row trigger on a chunk that is being divided: notes the times of what is changed';
