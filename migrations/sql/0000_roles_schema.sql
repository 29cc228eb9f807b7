-- Run as remit_owner.
GRANT USAGE ON SCHEMA remit TO remit_app, remit_writer;

-- The only clock of authority: guards, windows and the retrieval gate read it, and test databases replace it. Without a
-- search_path setting of its own, so that it is inlined.
CREATE FUNCTION remit.clock() RETURNS timestamptz
    LANGUAGE sql VOLATILE PARALLEL SAFE
    AS 'SELECT pg_catalog.clock_timestamp()';
REVOKE ALL ON FUNCTION remit.clock() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION remit.clock() TO remit_app, remit_writer;
