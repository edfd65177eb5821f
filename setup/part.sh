#!/bin/bash
# Runs one part of the tests under a budget of time:  part.sh NAME BUDGET COMMAND...   (BUDGET as `timeout` reads it: 90s, 5m)
# The last line of a part that passes is its runner's own summary.
set -uo pipefail
name=$1
budget=$2
shift 2
began=$(date +%H:%M:%S)
echo "== $name: budget $budget, begun at $began"
timeout --kill-after=10s "$budget" "$@"
status=$?
if [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; then
  echo "== $name: stopped, it took longer than its budget of $budget" >&2
fi
exit "$status"
