# Makes the users and databases of Temporal and of the service. PostgreSQL's image runs it when it has no data yet.
set -eu
for user in temporal quorate; do
  psql --set ON_ERROR_STOP=1 --set user="$user" --set password="$(cat "/secrets/postgres/$user")" \
    --username postgres --quiet <<'SQL'
create role :"user" login password :'password';
create database :"user" owner :"user";
SQL
done
psql --set ON_ERROR_STOP=1 --username postgres --quiet --command 'create database temporal_visibility owner temporal'
# Each user connects to its own alone.
for database in temporal temporal_visibility quorate postgres; do
  psql --set ON_ERROR_STOP=1 --username postgres --quiet --command "revoke connect on database $database from public"
done
