#!/bin/sh
# Starts the version in use of an installation for one user.
self=$(readlink -f "$0")
here=$(dirname "$self")
exec "$here/$(cat "$here/current")/$(basename "$self")" "$@"
