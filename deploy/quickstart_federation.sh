# A federation on this machine: sites with real distances between their names and
# none between their processes. Sourced by deploy/quickstart.sh, whose variables
# (data, gannet, sites, seed, running) and functions it uses.

site_names=(tokyo zurich lima nairobi boston)
site_places=("35.7, 139.7" "47.4, 8.5" "-12.0, -77.0" "-1.3, 36.8" "42.4, -71.1")

is_taken() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# start_site INDEX: writes its site.yaml and runs it. Sets dashboards[INDEX], and of
# the first site `first_peers`. A port that looks free may be taken a moment later,
# so it is tried with others.
start_site() {
  local index=$1 name=${site_names[$1]} place=${site_places[$1]}
  local folder=$data/$name http=$((7781 + index)) peers attempt
  mkdir -p "$folder"
  for attempt in 1 2 3 4 5; do
    while is_taken "$http"; do http=$((http + sites)); done
    # Below the range from which the system takes ports for connections.
    peers=$((20000 + RANDOM % 12000))
    while is_taken "$peers"; do peers=$((20000 + RANDOM % 12000)); done
    {
      cat <<END
site: {name: $name, location: [$place]}
listen: {peers: "127.0.0.1:$peers", http: "127.0.0.1:$http"}
# Without a site to join, it founds a federation.
federation: {map: registrar, join: "${first_peers:+127.0.0.1:$first_peers}"}
END
      settings_for_fake_web
    } >"$folder/site.yaml"
    setsid "$gannet" serve --data "$folder" >"$folder/agent.log" 2>&1 &
    local pid=$!
    if wait_until 30 site_answers "$folder" "$pid" && kill -0 "$pid" 2>/dev/null; then
      running+=("$pid")
      dashboards[index]=http://127.0.0.1:$http/
      [ "$index" -gt 0 ] || first_peers=$peers
      return 0
    fi
    kill "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
    grep -q 'cannot listen on\|cannot serve HTTP on' "$folder/agent.log" || break
    rm -rf "$folder"/{crawl_db,archive}
    http=$((http + sites))
  done
  tail -n 20 "$folder/agent.log" >&2
  fail 1 "the site $name did not start; its log is $folder/agent.log"
}

# wait_until SECONDS COMMAND...
wait_until() {
  local end=$((SECONDS + $1))
  shift
  until "$@"; do
    [ $SECONDS -lt $end ] || return 1
    sleep 0.2
  done
}

# site_answers FOLDER PID: also true if the process has ended and never will.
site_answers() {
  ! kill -0 "$2" 2>/dev/null ||
    { [ -S "$1/agent.sock" ] && "$gannet" status --data "$1" --json >/dev/null 2>&1; }
}

# federation_status: one line for each site, `NAME STATE PAGES FRONTIER OUTBOX`, and
# the words `quiet` and `moving` when they are true. Of --json, whose keys are a contract.
federation_status() {
  local text part
  text=$("$gannet" federation status --data "$data/${site_names[0]}" --json) || return 1
  grep -q '"quiet":true' <<<"$text" && echo quiet
  grep -q '"handing_off":null' <<<"$text" || echo moving
  # A site's object has no object in it.
  { grep -o '{[^{}]*"is_self":[^{}]*}' <<<"$text" || true; } | while read -r part; do
    echo "$(value_of name) $(value_of state) $(value_of pages) $(value_of frontier) $(value_of outbox)"
  done
}

# value_of KEY: the key's value in the JSON object in `part`.
value_of() {
  [[ $part =~ \"$1\":\"?([^,\"}]*) ]] && echo "${BASH_REMATCH[1]}"
}

all_are_members() {
  local said
  said=$(federation_status) || return 1
  [ "$(grep -c ' member ' <<<"$said")" -eq "$sites" ] && ! grep -q '^moving$' <<<"$said"
}

# show_progress: until the federation is quiet, and has been for three looks: the
# first may be from before the seed was there.
show_progress() {
  local said line last='' next=0 quiet_looks=0
  while true; do
    said=$(federation_status) || fail 1 "the site ${site_names[0]} does not answer; the logs are $data/*/agent.log"
    line=$(awk 'NF == 5 { printf "%s%s %d", sep, $1, $3; sep = ", "; left += $4; way += $5 }
                END { printf " pages; %d to fetch, %d on their way", left, way }' <<<"$said")
    if grep -q '^quiet$' <<<"$said" && [[ $line =~ \ [1-9][0-9]*(,.*)?\ pages ]]; then
      quiet_looks=$((quiet_looks + 1))
    else
      quiet_looks=0
    fi
    if [ -t 1 ]; then
      printf '\r\e[K%s' "$line"
    elif [ "$line" != "$last" ] && { [ $SECONDS -ge $next ] || [ $quiet_looks -ge 3 ]; }; then
      echo "$line"
      last=$line
      next=$((SECONDS + 2))
    fi
    if [ $quiet_looks -ge 3 ]; then
      [ ! -t 1 ] || echo
      return 0
    fi
    sleep 0.5
  done
}

# site_that_has URL: the folder of the site that owns it.
site_that_has() {
  local name
  for name in "${site_names[@]:0:sites}"; do
    if "$gannet" page "$1" --data "$data/$name" >/dev/null 2>&1; then
      echo "$data/$name"
      return 0
    fi
  done
  echo "$data/${site_names[0]}"
}

show_federation() {
  local owner index folder=$data/${site_names[0]}
  owner=$(site_that_has "$seed")
  cat <<END

The crawl is in $data, in a folder for each site:
  SITE/archive/     its pages, as WARC files
  SITE/crawl_db/    what is known of them
  SITE/site.yaml    its settings: '$gannet init DIR' shows them all
  SITE/agent.log    what it did

Three commands to try next:
END
  if [ -t 1 ]; then
    cat <<END
  $gannet federation status --data $folder
  $gannet federation plan --leave ${site_names[1]} --data $folder
  $gannet page '$seed' --data $owner
END
    show_truth they
    printf '\nThe sites run on, and can be looked at until you press Ctrl-C:\n'
    for index in "${!dashboards[@]}"; do
      printf '  %-8s %s\n' "${site_names[index]}" "${dashboards[index]}"
    done
  else
    cat <<END
  $gannet page '$seed' --data $owner
  $gannet export links --data $owner | head
  $gannet rounds --data $owner
END
    show_truth they
  fi
}

crawl_with_a_federation() {
  local index folder=$data/${site_names[0]} first_peers='' checked
  dashboards=()
  trap 'echo; echo "== stopping"; exit 130' INT TERM
  echo "== founding a federation: ${site_names[*]:0:sites}"
  for index in $(seq 0 $((sites - 1))); do
    if [ "$index" -gt 0 ]; then
      "$gannet" federation invite "${site_names[index]}" --data "$folder" >/dev/null
    fi
    start_site "$index"
  done
  wait_until 60 all_are_members ||
    fail 1 "not all sites have joined; the logs are $data/*/agent.log"

  echo "== crawling the web, from $seed (Ctrl-C stops safely)"
  "$gannet" inject "$seed" --data "$folder" >/dev/null
  show_progress
  for index in $(seq 0 $((sites - 1))); do
    "$gannet" archive finish --data "$data/${site_names[index]}" >/dev/null
  done

  echo "== quiet: nothing is left to do. Checking all sites"
  checked=$("$gannet" federation verify --data "$folder") || {
    grep -v '^ok ' <<<"$checked" >&2
    fail 1 "an invariant is broken; the logs are $data/*/agent.log"
  }
  tail -n 1 <<<"$checked"
  "$gannet" federation status --data "$folder"
  show_federation
  if [ -t 1 ]; then
    trap 'echo; echo "== stopping"; exit 0' INT TERM
    # A site that ends by itself ends the rest, too.
    wait -n "${running[@]}" || true
    fail 1 "a site has ended; the logs are $data/*/agent.log"
  fi
}
