CREATE FUNCTION estimate_compression(
	relation regclass, segmentby text DEFAULT NULL, orderby text DEFAULT NULL,
	OUT column_name name, OUT codec text, OUT raw_bytes bigint, OUT bytes bigint, OUT ratio double precision)
RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'strata_estimate_compression' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION estimate_compression(regclass, text, text) IS
'what a heap or strata table would take compressed, by column and (last row, without a name) in all, from a sample and without writing; segmentby and orderby as the options take them, those of the table if NULL';

CREATE FUNCTION advise_compression(
	relation regclass,
	OUT rank integer, OUT segmentby text, OUT orderby text, OUT predicted_bytes bigint,
	OUT ratio double precision, OUT rows_per_batch bigint, OUT takes interval, OUT reason text, OUT command text)
RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'strata_advise_compression' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION advise_compression(regclass) IS
'candidates for strata.segmentby, smallest predicted size first, each with reason and the command that sets it and compresses; before them strata_dedup (segmentby is null) where rows are changed one by one; of a partitioned table, its largest partition is looked at';

CREATE FUNCTION strata.codec_choice(
	relation regclass,
	OUT column_name name, OUT codec text, OUT bytes bigint, OUT bytes_per_value double precision,
	OUT batches bigint, OUT reason text)
RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'strata_codec_choice' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION strata.codec_choice(regclass) IS
'what each codec would make of each column, in the same sample as estimate_compression reads, and why it is taken or not; auto is what is written';
