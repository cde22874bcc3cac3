# Brings the tables of Temporal's two databases to the version that the image's schema has: all of them the first time.
set -eu
SQL_PASSWORD="$(cat /secrets/temporal-database/password)"
export SQL_PASSWORD
for part in temporal visibility; do
  database=temporal
  [ "$part" = temporal ] || database=temporal_visibility
  tool() { temporal-sql-tool --plugin postgres12 --endpoint postgres --port 5432 --user temporal --database "$database" "$@"; }
  # Refused where a version is there already, which the second tells.
  tool setup-schema --version 0.0 || true
  tool update-schema --schema-dir "/etc/temporal/schema/postgresql/v12/$part/versioned"
done
