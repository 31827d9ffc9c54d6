-- What a version after this one might change (tools/server, test/t/125_extension_update.pl and
-- 330_jobs_upgrade.pl): the end of its install script, and its update script.
ALTER TABLE _strata.job ADD COLUMN next int DEFAULT 7;
ALTER TABLE _strata.job_history ADD COLUMN next int;
CREATE FUNCTION _strata.next() RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 7';
