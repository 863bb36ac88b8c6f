#!/usr/bin/env bash
# Runs the demonstration, fetches the image from the URL that it prints, and stops it again.
set -euo pipefail
cd "$(dirname "$0")/../.."

[[ ! -e .demo ]] || { echo "a demo is running: make demo-stop" >&2; exit 1; }

work=$(mktemp -d)
finish() {
  local code=$?
  trap - EXIT
  make demo-stop || code=1
  rm -rf "$work"
  exit "$code"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

fail() {
  echo "demo-check: $*" >&2
  exit 1
}

make demo | tee "$work/output"

check() { # variable of the output, expected size
  local url type found file=$work/$1
  url=$(sed -n "s/^$1=//p" "$work/output")
  [[ $url ]] || fail "the demo printed no $1; a simulated node serves no image"
  grep -qxF "$1=$url" .demo/urls || fail ".demo/urls does not have $1=$url"
  type=$(curl -fsS --noproxy '*' --max-time 30 -o "$file" -w '%{content_type}' "$url") || fail "$url cannot be fetched"
  [[ $type == image/* ]] || fail "$url has the content type $type"
  # PNG: 1200 x 800, JPEG: 1200x800
  found=$(file --brief "$file")
  [[ $found == *image* && " ${found// x /x}," == *" $2,"* ]] || fail "$url should be an image of $2, but is: $found"
  echo "demo-check: $url: $type, $2"
}

check ORIGINAL_URL 1200x800
check IMAGE_URL 300x200

page=$(sed -n 's/^PAGE_URL=//p' "$work/output")
[[ $page ]] || fail "the demo printed no PAGE_URL"
curl -fsS --noproxy '*' --max-time 30 -o "$work/page" "$page" || fail "$page cannot be fetched"
grep -qi '<html' "$work/page" || fail "$page is not a page"
echo "demo-check: $page is a page"
