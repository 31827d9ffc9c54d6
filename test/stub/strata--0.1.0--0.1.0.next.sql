-- An upgrade for test/t/330_jobs_upgrade.pl: a version that nobody ever installs.
\echo Use "ALTER EXTENSION strata UPDATE TO '0.1.0.next'" to load this file. \quit
ALTER TABLE _strata.job ADD COLUMN next int DEFAULT 7;
ALTER TABLE _strata.job_history ADD COLUMN next int;
CREATE FUNCTION _strata.next() RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 7';
