# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Signals and job control of a terminal are as without heapstory.
"$PYTHON" -c "import pty; pty.openpty()" 2>/dev/null || skip "no pseudo terminals here"
timeout 100 "$PYTHON" "$TOOLS/terminal.py" "$BUILD/heapstory" || fail "terminal.py ended with $?"
[ -e terminal/exit.hs ] || fail "no exit snapshot"
finish
