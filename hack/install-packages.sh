#!/usr/bin/env bash
# Installs Debian packages whose programs or files are missing: the packages that a real node needs, and with "all" the
# packages of all tests. It starts no service that comes with them, because a real node runs its own containerd.
set -euo pipefail

needed='conntrack conntrack
containerd containerd
containernetworking-plugins /usr/lib/cni/bridge
iproute2 ip
iptables iptables
runc runc'
if [[ ${1:-} == all ]]; then
  needed+='
ca-certificates /etc/ssl/certs/ca-certificates.crt
chromium /usr/bin/chromium
curl curl
gcc gcc
gcc-aarch64-linux-gnu aarch64-linux-gnu-gcc
git git
imagemagick convert
libc6-dev /usr/include/stdlib.h
libc6-dev-arm64-cross /usr/aarch64-linux-gnu/include/stdlib.h
make make
nodejs node
npm npm
qemu-user-static qemu-aarch64-static
shellcheck shellcheck'
fi
missing=()
while read -r package path; do
  [[ -e $path ]] || command -v "$path" > /dev/null || missing+=("$package")
done <<< "$needed"
if ((${#missing[@]} == 0)); then exit; fi
echo "installing: ${missing[*]}"
if ((EUID != 0)) || ! command -v apt-get > /dev/null; then
  echo "this needs root on Debian" >&2
  exit 1
fi
# Debian runs this program before it starts a service.
policy=/usr/sbin/policy-rc.d
if [[ ! -e $policy ]]; then
  trap 'rm -f "$policy"' EXIT
  printf '#!/bin/sh\nexit 101\n' > "$policy"
  chmod +x "$policy"
fi
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" > /dev/null
