CREATE FUNCTION _strata.handler(internal) RETURNS table_am_handler
	AS 'MODULE_PATHNAME', 'strata_handler' LANGUAGE C STRICT;

CREATE ACCESS METHOD strata TYPE TABLE HANDLER _strata.handler;
COMMENT ON ACCESS METHOD strata IS 'heap for fresh rows, compressed column batches for cooled ones';

CREATE FUNCTION _strata.dedup_handler(internal) RETURNS table_am_handler
	AS 'MODULE_PATHNAME', 'strata_dedup_handler' LANGUAGE C STRICT;

CREATE ACCESS METHOD strata_dedup TYPE TABLE HANDLER _strata.dedup_handler;
COMMENT ON ACCESS METHOD strata_dedup IS 'heap whose pages keep repeated values once';
