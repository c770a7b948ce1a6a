# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# A program that unwinds by libunwind itself, also by the very library that the tracer loads: what it
# finds is what it finds untraced.
for program in own_unwind own_unwind_generic; do
	truth $program
	"$PROGRAMS/$program" <&- >plain || fail "untraced: $?"
	heapstory run -o out -- "$PROGRAMS/$program" <&- >traced || fail "traced: $?"
	diff plain traced || fail "stacks of $program"
	grep -q 'main by unw_step 0' plain || fail "libunwind alone: $(cat plain)"
	rm -rf out
done
finish
