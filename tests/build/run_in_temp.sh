#!/usr/bin/env bash
# Run a program in an empty folder of its own, which is removed afterwards.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
"$@"
