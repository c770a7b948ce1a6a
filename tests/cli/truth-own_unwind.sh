# SPDX-License-Identifier: MIT
# shellcheck shell=bash
truth own_unwind
# what the program's own libunwind finds is what it finds untraced
"$PROGRAMS/own_unwind" <&- >plain || fail "untraced: $?"
heapstory run -o out -- "$PROGRAMS/own_unwind" <&- >traced || fail "traced: $?"
diff plain traced || fail "stacks of the program's own"
grep -q 'main by unw_step 0' plain || fail "libunwind alone: $(cat plain)"
finish
