#!/usr/bin/env bash
# verify_test.sh GANNET MAKE_SAMPLE_SITE: `gannet verify` as an operator runs it.
set -euo pipefail
gannet=$1 make_sample_site=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() { echo "FAILED: $*" >&2; exit 1; }
# expect CODE COMMAND...: fails if the command ends with another exit code; its
# output goes to $folder/out.
expect() {
  local wanted=$1 code=0
  shift
  "$@" >"$folder/out" 2>&1 || code=$?
  [ "$code" -eq "$wanted" ] || { cat "$folder/out"; fail "exit code $code, not $wanted: $*"; }
}
said() { grep -q -- "$1" "$folder/out" || { cat "$folder/out"; fail "did not say '$1'"; }; }

expect 0 "$gannet" --help; said verify
expect 0 "$gannet" --version; said '^gannet [0-9]'
expect 0 "$gannet" verify --help; said 'Example:'
expect 2 "$gannet"
expect 2 "$gannet" verify --no-such-flag
expect 2 "$gannet" verify --data "$folder/nowhere"; said 'there is no site in'

"$make_sample_site" "$folder/site"
expect 0 "$gannet" verify --data "$folder/site" --full; said 'all invariants hold'
expect 0 "$gannet" verify --data "$folder/site"
expect 0 "$gannet" verify --data "$folder/site" --full --json
python3 - "$folder/out" <<'END'
import json, sys
answer = json.load(open(sys.argv[1]))
assert answer["ok"] is True, answer
assert {"name", "ok", "detail"} <= set(answer["checks"][0]), answer
assert any(c["name"].startswith("I2") and "19 readable" in c["detail"] for c in answer["checks"]), answer
END

# The archive is damaged.
for warc in "$folder"/site/archive/*.warc.gz.open; do
  printf 'damage' | dd of="$warc" bs=1 seek=600 conv=notrunc status=none
done
expect 1 "$gannet" verify --data "$folder/site" --full; said 'BROKEN  I2'
expect 1 "$gannet" verify --data "$folder/site" --full --json; said '"ok":false'

# What was found broken is still reported by the next check, which is incremental.
"$make_sample_site" "$folder/other"
for warc in "$folder"/other/archive/*.warc.gz.open; do
  printf 'damage' | dd of="$warc" bs=1 seek=600 conv=notrunc status=none
done
expect 1 "$gannet" verify --data "$folder/other"
expect 1 "$gannet" verify --data "$folder/other"; said 'BROKEN  I2'

# The crawl DB is gone and the archive is not: no DB is made, and no file removed.
rm -r "$folder/other/crawl_db"
expect 1 "$gannet" verify --data "$folder/other"; said 'restore it from a backup'
ls "$folder"/other/archive/*.warc.gz.open >/dev/null || fail 'the archive is gone'
echo passed
