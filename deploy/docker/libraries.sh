# libraries.sh PROGRAM: the Debian packages of the libraries that it uses, a line each.
set -euo pipefail

program=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# dpkg-shlibdeps is for source packages, and wants the file of one.
mkdir "$folder/debian"
touch "$folder/debian/control"
cd "$folder"
# shlibs:Depends=libabsl20220623 (>= 0~20220623.0-1), libc-ares2 (>= 1.11.0~rc1), ...
dpkg-shlibdeps --warnings=0 -O "$program" | sed -e 's/^shlibs:Depends=//' -e 's/ ([^)]*)//g' -e 's/, /\n/g'
