# Makes what the containers prove themselves with, each in a volume that only those mount who need it: certificates of Temporal
# and of its clients, of the service and its proxy, and the passwords of PostgreSQL's users. What is there and good stays.
set -eu

node dist/src/worker/make-certificates.js /secrets/temporal/tls temporal
node dist/src/worker/make-certificates.js /secrets/service/tls service proxy localhost
cp /secrets/service/tls/authority.pem /secrets/authority/authority.pem

for user in postgres temporal quorate; do
  file=/secrets/postgres/$user
  if [ ! -s "$file" ]; then
    node -p "require('node:crypto').randomBytes(24).toString('hex')" >"$file.new"
    # Users of several numbers read it; nobody else has the volume.
    chmod 444 "$file.new"
    mv "$file.new" "$file"
  fi
done
cp -f /secrets/postgres/temporal /secrets/temporal-database/password

# In the form that libpq and its like read, which they refuse unless it is the reader's alone.
umask 077
printf 'postgres:5432:quorate:quorate:%s\n' "$(cat /secrets/postgres/quorate)" >/secrets/quorate-database/passfile
