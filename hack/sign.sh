#!/usr/bin/env bash
# Signs a file of a release: hack/sign.sh FILE BUNDLE. By Sigstore, with the identity of the
# workflow that runs it, so there is no key to lose. A snapshot has no identity: it signs
# with the key file COSIGN_KEY, offline.
set -euo pipefail

how=()
if [[ ${COSIGN_KEY:-} ]]; then
  how=(--key "$COSIGN_KEY" --use-signing-config=false --tlog-upload=false)
fi
exec cosign sign-blob --yes "${how[@]}" --bundle "$2" "$1"
