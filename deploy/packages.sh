# Which Debian 12 packages Gannet needs, and how they are installed. Sourced by
# deploy/quickstart.sh and tests/run.sh; by name only, from whatever registry the
# machine is set up with.

GANNET_BUILD_PACKAGES=(
  build-essential cmake ninja-build ccache mold pkg-config python3
  libprotobuf-dev protobuf-compiler libgrpc++-dev protobuf-compiler-grpc
  librocksdb-dev libjemalloc-dev libabsl-dev libfmt-dev libssl-dev
  libpsl-dev libidn2-dev libre2-dev libxxhash-dev
  libdeflate-dev zlib1g-dev libzstd-dev
  libcurl4-openssl-dev libc-ares-dev libgumbo-dev libuchardet-dev libbrotli-dev
  libcli11-dev nlohmann-json3-dev libyaml-cpp-dev
  libcivetweb-dev prometheus-cpp-dev
  libgtest-dev libgmock-dev libbenchmark-dev
  file  # For cpack, to find the libraries of the .deb.
)

# Installs what is missing of the packages named, and says what it does. Needs
# root, or sudo.
gannet_install() {
  local missing=() package
  for package in "$@"; do
    dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null |
      grep -q '^installed$' || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || {
      echo "error: these packages are missing and need root or sudo to install: ${missing[*]}" >&2
      return 1
    }
    as_root=(sudo)
  fi
  echo "== installing ${#missing[@]} Debian packages: ${missing[*]}"
  "${as_root[@]}" apt-get update -qq || {
    echo "error: 'apt-get update' failed; is the network up?" >&2
    return 1
  }
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null || {
    echo "error: 'apt-get install' failed for: ${missing[*]}" >&2
    return 1
  }
}
