#!/usr/bin/env bash
# A newcomer's test: clones this repository into an empty folder and runs the two commands of the README there.
# Needs a network (or a warm npm cache) for the first install. Says what failed, or that all went well.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

git clone --quiet "$root" "$folder/everlong"
cd "$folder/everlong"
echo "--- npm start"
npm start </dev/null
echo "--- npm start, again: nothing is installed any more"
again=$(npm start </dev/null 2>&1)
case "$again" in *Installing* | *Fetching*) echo "The second start installed something."; exit 1 ;; esac
echo "--- npm test"
npm test
test -z "$(git status --porcelain)" || { echo "The commands changed the tree:"; git status --short; exit 1; }
echo "A newcomer gets along."
