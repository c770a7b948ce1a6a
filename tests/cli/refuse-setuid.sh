# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# A set-user-id program of another user: refused, by its owner's name or not.
[ "$(id -u)" = 0 ] || skip "making one needs root"
user_setup
cp "$PROGRAMS/cache_insert" bin/setuid
chown root bin/setuid
chmod 4755 bin/setuid
expect_status 2 as_user heapstory run -o out -- bin/setuid </dev/null
finish
