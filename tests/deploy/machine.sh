#!/usr/bin/env bash
# Boots a machine that is a copy of this one and forgets everything: an overlay over
# this root with a tmpfs on top, namespaces of its own, and Debian's systemd as its
# first process. There it runs /in/trial.py as root and ends. Nothing outside changes:
# no network but a loopback of its own, /sys and /proc/sys read-only, its own /dev,
# a cgroup of its own, no right to load modules or to set the clock.
#
#   machine.sh IN OUT      IN has trial.py and what it needs; OUT gets its log, its rc, the journal
#   machine.sh --can       exit code 77, and why, if this machine cannot
set -euo pipefail

if [ "${1:-}" = --can ]; then
  cannot() { echo "$1"; exit 77; }
  [ "$(id -u)" -eq 0 ] || cannot "not root: a machine of its own needs mounts"
  grep -q ' cgroup2 rw' /proc/self/mounts || cannot "no cgroup2 that can be written"
  [ -x /lib/systemd/systemd ] || cannot "no systemd is installed"
  probe=$(mktemp -d)
  trap 'rmdir "$probe"' EXIT
  unshare -mpnuiC --fork --propagation private bash -ec '
    mount -t tmpfs none "$0"; cd "$0"; mkdir upper work root
    mount -t overlay none -o lowerdir=/,upperdir=upper,workdir=work root
    mount -t cgroup2 none root/mnt' "$probe" 2>/dev/null ||
    cannot "no namespaces, overlayfs or cgroup2 here (a container?)"
  exit 0
fi

if [ "${1:-}" != --inside ]; then
  place=$(mktemp -d)
  cgroup=$(awk '$3 == "cgroup2" {print $2; exit}' /proc/self/mounts)/gannet-test-$$
  mkdir "$cgroup"
  trap 'rmdir "$place"; find "$cgroup" -depth -type d -exec rmdir {} \;' EXIT
  (
    echo "$BASHPID" >"$cgroup/cgroup.procs"
    # A kill of this script ends the machine.
    exec unshare -mpnuiC --fork --propagation private --kill-child "$0" --inside "$1" "$2" "$place"
  )
  exit $?
fi

in=$2 out=$3 place=$4
mount -t tmpfs none "$place"
cd "$place"
mkdir upper work root
mount -t overlay none -o lowerdir=/,upperdir=upper,workdir=work root
cd root
mount -t proc proc proc
mount --bind proc/sys proc/sys
mount -o remount,ro,bind proc/sys
mount -t sysfs -o ro sysfs sys
mount -t cgroup2 none sys/fs/cgroup
mount -t tmpfs -o mode=755 none run
mount -t tmpfs none tmp
mount -t tmpfs -o mode=755 none dev
for node in null zero full random urandom tty; do
  touch dev/$node
  mount --bind /dev/$node dev/$node
done
mkdir dev/shm dev/pts
mount -t tmpfs none dev/shm
mount -t devpts -o ptmxmode=666 none dev/pts
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
mkdir in out old upper
mount --bind ../upper upper  # So that the trial can see what it changed.
mount -o remount,ro,bind upper
mount --bind "$in" in
mount --bind "$out" out
ip link set lo up

cat >run/trial.service <<'X'
[Unit]
Description=What the test wants to know
SuccessAction=exit-force
FailureAction=exit-force
[Service]
Type=oneshot
Environment=PYTHONDONTWRITEBYTECODE=1 LC_ALL=C.UTF-8
ExecStart=/bin/sh -c 'python3 /in/trial.py; echo $? >/out/rc; journalctl --no-pager --quiet >/out/journal.log'
StandardOutput=file:/out/trial.log
StandardError=inherit
TimeoutStartSec=240s
X
mkdir -p run/systemd/system
mv run/trial.service run/systemd/system/
pivot_root . old
umount -l old
rmdir old 2>/dev/null || true
exec env -i container=gannet-test PATH=/usr/sbin:/usr/bin:/sbin:/bin \
  setpriv --bounding-set=-sys_module,-sys_time,-sys_boot,-sys_rawio \
  /lib/systemd/systemd --system --unit=trial.service --log-target=journal --show-status=no \
  >/out/systemd.log 2>&1
