CREATE FUNCTION _strata.handler(internal) RETURNS table_am_handler
	AS 'MODULE_PATHNAME', 'strata_handler' LANGUAGE C STRICT;

CREATE ACCESS METHOD strata TYPE TABLE HANDLER _strata.handler;
COMMENT ON ACCESS METHOD strata IS 'heap for fresh rows, compressed column batches for cooled ones';
