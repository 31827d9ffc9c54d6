-- Nothing: the control file's name and version are all that is asked for.
SELECT 1;
