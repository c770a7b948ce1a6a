# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# SIGKILL at 100 moments: the store differs from the journal by one event per thread at most.
"$PYTHON" "$TOOLS/kill.py" "$BUILD/heapstory" "$PROGRAMS/kill_journal" "$WORK" --kills "${KILLS:-100}" 2>summary || FAILED=1
[ -n "${FAILED-}" ] && cat summary
finish
