#!/usr/bin/env bash
# Installs packages: hack/install-packages.sh apt|dnf|apk PACKAGE …
# Starts no service that comes with them: a real node runs a containerd of its own.
set -euo pipefail

manager=$1
shift
case $manager in
  apt)
    # Debian asks this program before a service is started.
    policy=${POLICY_RC_D:-/usr/sbin/policy-rc.d}
    if [[ ! -e $policy ]]; then
      trap 'rm -f "$policy"' EXIT
      printf '#!/bin/sh\nexit 101\n' > "$policy"
      chmod +x "$policy"
    fi
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" > /dev/null
    ;;
  dnf) dnf install -y -q "$@" ;;
  apk) apk add --quiet --no-progress "$@" ;;
  *)
    echo "unknown package manager $manager: apt, dnf or apk" >&2
    exit 2
    ;;
esac
