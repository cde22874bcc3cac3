# What the published image of PostgreSQL documents of its start, as far as temporal-docker uses it: the password of `postgres` in a
# file, and programs that are run once, while it listens on its socket alone.
set -eu
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  initdb --username postgres --pwfile "$POSTGRES_PASSWORD_FILE" --auth-local trust --auth-host scram-sha-256 --pgdata "$PGDATA"
  echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
  pg_ctl --pgdata "$PGDATA" --options "-c listen_addresses=''" --wait start
  for program in /docker-entrypoint-initdb.d/*.sh; do
    [ -f "$program" ] && . "$program"
  done
  pg_ctl --pgdata "$PGDATA" --mode fast --wait stop
fi
exec "$@" -c listen_addresses='*'
