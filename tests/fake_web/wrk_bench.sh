#!/usr/bin/env bash
# How fast the fake web serves over real connections: the server on one core, wrk
# on another, three runs of 5 s. It must reach 20,000 requests/s per core, so that a crawl
# never waits for the server; by the server's own CPU time, because other programs may
# use the machine. Exit code 1 if it is slower.
#
#   tests/fake_web/wrk_bench.sh [build/release/gannet-fakeweb]
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
fakeweb=${1:-$here/../../build/release/gannet-fakeweb}
wanted=20000
runs=3

folder=$(mktemp -d)
server=
stop() {
  if [ -n "$server" ]; then
    kill "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
  fi
  rm -rf "$folder"
}
trap stop EXIT

# The cores that we may use; in a container they need not begin at 0.
read -r -a cores < <(python3 -c 'import os; print(*sorted(os.sched_getaffinity(0)))')
server_core=${cores[0]}
wrk_core=${cores[1]:-$server_core}
if [ "$wrk_core" = "$server_core" ]; then
  echo "note: one core only, which the server and wrk share"
fi

"$fakeweb" truth urls | cut -f1 >"$folder/all.txt"
shuf -n 5000 --random-source="$folder/all.txt" "$folder/all.txt" >"$folder/urls.txt"
taskset -c "$server_core" "$fakeweb" serve --port 0 --json >"$folder/started" &
server=$!
for _ in $(seq 100); do
  [ -s "$folder/started" ] && break
  sleep 0.1
done
port=$(grep -o '"port":[0-9]*' "$folder/started" | head -n 1 | cut -d: -f2 || true)
[ -n "$port" ] || { echo "error: the fake web did not start" >&2; exit 1; }

# utime and stime are the 14th and 15th field (proc(5)), in clock ticks.
server_ticks() { awk '{ print $14 + $15 }' "/proc/$server/stat"; }
hertz=$(getconf CLK_TCK)

best=0 best_per_cpu=0
for run in $(seq $runs); do
  before=$(server_ticks)
  taskset -c "$wrk_core" wrk -t1 -c50 -d5s -s "$here/pages.lua" \
    "http://127.0.0.1:$port/" -- "$folder/urls.txt" >"$folder/wrk.txt"
  ticks=$(($(server_ticks) - before))
  # Errors are served quickly, so they would look like speed.
  if grep -E 'Non-2xx|Socket errors' "$folder/wrk.txt"; then
    echo "error: not every request was answered" >&2
    exit 1
  fi
  requests=$(awk '/ requests in / { print $1 }' "$folder/wrk.txt")
  per_second=$(awk '/^Requests\/sec:/ { printf "%.0f", $2 }' "$folder/wrk.txt")
  per_cpu=$((requests * hertz / (ticks > 0 ? ticks : 1)))
  echo "run $run: $per_second requests/s, $per_cpu per CPU second of the server"
  if [ "$per_second" -gt $best ]; then best=$per_second; fi
  if [ "$per_cpu" -gt $best_per_cpu ]; then best_per_cpu=$per_cpu; fi
done

verdict=pass
if [ "$best_per_cpu" -lt $wanted ]; then verdict=fail; fi
echo "best: $best requests/s, $best_per_cpu per CPU second of the server;" \
  "at least 20,000 a core: $verdict"
[ $verdict = pass ]
