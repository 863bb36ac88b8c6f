#!/bin/sh
# Runs the program "emulated" beside this script, built for arm64, on another processor.
exec qemu-aarch64-static "${0%/*}/emulated" "$@"
