# Runs once, when the PostgreSQL of compose.postgres.yaml creates its data: the cabinet's user may create roles and databases,
# and is no superuser.
psql --no-psqlrc --set ON_ERROR_STOP=1 --set password="$POSTGRES_PASSWORD" --username "$POSTGRES_USER" --dbname postgres <<'SQL'
CREATE ROLE cabinet LOGIN CREATEROLE CREATEDB PASSWORD :'password';
CREATE DATABASE cabinet OWNER cabinet;
SQL
