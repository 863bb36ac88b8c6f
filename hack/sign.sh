#!/usr/bin/env bash
# Signs a file, or an image by its digest: hack/sign.sh file FILE, hack/sign.sh image NAME@DIGEST. It uses Sigstore,
# with the identity of the workflow that runs it, so there is no key to lose. Snapshots and rehearsals have no identity;
# they sign offline with the key file COSIGN_KEY.
set -euo pipefail

how=()
if [[ ${COSIGN_KEY:-} ]]; then
  how=(--key "$COSIGN_KEY" --use-signing-config=false --tlog-upload=false)
fi
case $1 in
  file) exec cosign sign-blob --yes "${how[@]}" --bundle "$2.sigstore.json" "$2" ;;
  image) exec cosign sign --yes "${how[@]}" "$2" ;;
  *) echo "sign.sh: file or image, not $1" >&2; exit 2 ;;
esac
