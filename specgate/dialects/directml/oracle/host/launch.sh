#!/bin/sh
# Runs a command with an X display of its own, which goes away with it: DXGI wants one. SPECGATE_OWN_TMP=1 mounts an
# empty /tmp beforehand, for a root of its own that several may use at once.
if [ "${SPECGATE_OWN_TMP:-}" = 1 ]; then
    mount -t tmpfs none /tmp || exit 8
fi
folder=$(mktemp -d) || exit 8
Xvfb -displayfd 3 -screen 0 320x240x24 -nolisten tcp 3>"$folder/display" 2>"$folder/errors" </dev/null >/dev/null &
server=$!
trap 'kill $server 2>/dev/null; rm -rf "$folder"' EXIT
until [ -s "$folder/display" ]; do
    if ! kill -0 $server 2>/dev/null; then
        tail -n 1 "$folder/errors" >&2
        exit 9
    fi
    sleep 0.02
done
DISPLAY=:$(cat "$folder/display")
export DISPLAY
"$@"
