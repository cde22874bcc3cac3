#!/usr/bin/env bash
# Makes images under the names that temporal-docker/compose.yaml and its Dockerfile use, where none can be pulled: of Debian's
# packages, the Node.js and npm of this machine, and Temporal's server, tools and UI built from their sources. What is made here
# stands in for the published images: the files, users, volumes, networks and secrets of temporal-docker are tried on it.
# `make.sh FOLDER`; the environment says where podman keeps its images. Needs root, podman, buildah,
# runc, debootstrap, Python, Go and 4 GB.
set -euo pipefail
folder="$(realpath "$1")"
here="$(cd "$(dirname "$0")" && pwd)"
cd "$folder"

# The tools of Temporal, beside its server, which CI has built. Every module is checked against the public checksum database.
cache="${XDG_CACHE_HOME:-$HOME/.cache}/quorate"
programs="$cache/temporal-images-1.29.1-2.42.1"
build() {
  [ -x "$programs/$2" ] && return
  GOSUMDB=sum.golang.org GONOSUMDB='' GOPRIVATE='' GOINSECURE='' GOFLAGS=-ldflags=-s GOBIN="$programs/build-$2" go install "$1"
  mv "$programs/build-$2/$(basename "${1%@*}")" "$programs/$2" && rmdir "$programs/build-$2"
}
mkdir -p "$programs"
if [ -x "$cache/temporal-server-1.29.1/temporal-server" ]; then
  cp -u "$cache/temporal-server-1.29.1/temporal-server" "$programs/temporal-server"
fi
build go.temporal.io/server/cmd/server@v1.29.1 temporal-server
build go.temporal.io/server/cmd/tools/sql@v1.29.1 temporal-sql-tool
build github.com/temporalio/ui-server/v2/cmd/server@v2.42.1 ui-server
schema="$(go mod download -json go.temporal.io/server@v1.29.1 | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')/schema"

# What reads compose files for podman.
composer="$cache/podman-compose-1.6.0"
if [ ! -x "$composer/bin/podman-compose" ]; then
  python3 -m venv "$composer" && "$composer/bin/pip" install -q --require-hashes -r "$here/requirements.txt"
fi

# Kept between runs as one archive.
base="$cache/debian-images-1.tar"
if [ ! -f "$base" ]; then
  debootstrap --variant=minbase --include=postgresql-15,netcat-openbsd,wget,ca-certificates bookworm root >debootstrap.log 2>&1 ||
    { tail -n 20 debootstrap.log; exit 1; }
  rm -rf root/var/cache/apt root/var/lib/apt/lists root/usr/share/doc root/usr/share/locale root/usr/share/man root/var/lib/postgresql/15
  # Whom this machine trusts, so that npm reaches the registry from inside a build as from outside.
  cp -L /etc/ssl/certs/ca-certificates.crt root/etc/ssl/certs/ca-certificates.crt
  tar --create --file "$base.new" --numeric-owner --one-file-system --directory root .
  rm -rf root
  mv "$base.new" "$base"
fi
podman import --quiet "$base" quorate-test/debian

mkdir -p context/bin context/npm
cp "$(cd "$here/../../.." && npx --no-install node -p process.execPath)" context/bin/node
npm="$(realpath "$(command -v npm)")"
cp -r "${npm%/bin/npm-cli.js}/." context/npm/
cp "$programs/temporal-server" "$programs/temporal-sql-tool" "$programs/ui-server" context/bin/
cp -r "$schema" context/schema && chmod -R u+w context/schema
cp "$here/Containerfile" "$here/postgres-entrypoint.sh" context/
for image in node:docker.io/library/node:24-bookworm-slim postgres:docker.io/library/postgres:16-alpine \
  server:docker.io/temporalio/server:1.29.1 admin-tools:docker.io/temporalio/admin-tools:1.29.1-tctl-1.18.4-cli-1.5.0 \
  ui:docker.io/temporalio/ui:2.42.1; do
  buildah bud --quiet --isolation chroot --target "${image%%:*}" --tag "${image#*:}" context
done
rm -rf context
