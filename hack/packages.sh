#!/usr/bin/env bash
# Lists the packages of the current folder's module, except the ones that have their own target because they need a
# cluster. A path matches PACKAGES, if set, and does not match EXCEPT.
set -euo pipefail

go list ./... | grep -v -e /test/e2e -e /test/chaos -e /test/bench -e "${EXCEPT:-/test/e2e}" | grep -e "${PACKAGES:-}"
