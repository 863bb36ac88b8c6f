#!/bin/sh
# Prints the licenses and notices of the modules that a program is linked with, for its image:
# notices.sh FOLDER. It fails if a module has neither. CGO_ENABLED=1 is for programs that link C.
set -eu
cd "$1"

echo "This program contains the Go standard library and the following modules."
CGO_ENABLED=${CGO_ENABLED:-0} go list -deps -f '{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}' . | sort -u |
  while read -r path version folder; do
    found=
    for file in "$folder"/LICEN[SC]E* "$folder"/COPYING* "$folder"/NOTICE* "$folder"/PATENTS*; do
      [ -f "$file" ] || continue
      found=1
      printf '\n==== %s %s: %s\n\n' "$path" "$version" "${file##*/}"
      cat "$file"
    done
    [ "$found" ] || { echo "$path $version has no license" >&2; exit 1; }
  done
printf '\n==== Go %s: LICENSE\n\n' "$(go env GOVERSION)"
cat "$(go env GOROOT)/LICENSE"
