-- Login roles without any special right and the database that the first of them owns.
-- Run through psql as a superuser; safe to repeat. Variables: database, owner, app, worker and
-- owner_password, app_password, worker_password. The migrations own tables and grants.
SELECT format('CREATE ROLE %I', name)
FROM unnest(ARRAY[:'owner', :'app', :'worker']) AS name
WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name) \gexec

ALTER ROLE :"owner" LOGIN PASSWORD :'owner_password'
    NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE NOREPLICATION;
ALTER ROLE :"app" LOGIN PASSWORD :'app_password'
    NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE NOREPLICATION;
ALTER ROLE :"worker" LOGIN PASSWORD :'worker_password'
    NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE NOREPLICATION;

SELECT format('CREATE DATABASE %I OWNER %I', :'database', :'owner')
WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = :'database') \gexec

REVOKE ALL ON DATABASE :"database" FROM PUBLIC;
GRANT CONNECT ON DATABASE :"database" TO :"app", :"worker";
