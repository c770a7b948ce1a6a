# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The status of a verdict is never confused: 0 clean, 1 grew, and where the report could not be given
# 2 or the signal, whatever the verdict would have been.
start c heapstory run -o out -- "$PROGRAMS/cache_insert"
snap_marks c out/store.live 1 2 3
finish_program c || fail "ended with $?"
grew='1.hs 2.hs --fail-above 1k'
clean='2.hs 2.hs --fail-above 1k'
for verdict in "$grew" "$clean"; do
	[ "$verdict" = "$grew" ] && want=1 || want=0
	for more in '' --json '--by stack' '-n 0' '-n all'; do
		# shellcheck disable=SC2086 # words
		{
			expect_status $want heapstory diff $verdict $more >whole 2>/dev/null
			expect_status 2 heapstory diff $verdict $more >&- 2>err
			grep -q 'cannot write to standard output' err || fail "closed output: $(cat err)"
			if [ -e /dev/full ]; then
				expect_status 2 heapstory diff $verdict $more >/dev/full 2>err
				grep -q 'cannot write to standard output' err || fail "full disk: $(cat err)"
			fi
			# nobody hears what is said on standard error: the status is the same
			expect_status $want heapstory diff $verdict $more >whole 2>&-
		}
	done
	# the reader has gone before anything was written
	# shellcheck disable=SC2086 # words
	"$PYTHON" - $verdict <<-'END' || fail "the reader is gone: $verdict"
		import os, signal, subprocess, sys
		for how, want in (signal.SIG_DFL, -signal.SIGPIPE), (signal.SIG_IGN, 2):
		    read, write = os.pipe()
		    os.close(read)
		    status = subprocess.call(["heapstory", "diff", *sys.argv[1:]], stdout=write, stderr=subprocess.DEVNULL,
		                             restore_signals=False, preexec_fn=lambda: signal.signal(signal.SIGPIPE, how))
		    os.close(write)
		    if status != want: sys.exit("status %d, not %d" % (status, want))
	END
done
# no verdict where there can be none, whatever was asked for beside it
for trouble in '1.hs none.hs' 'none.hs 1.hs' '3.hs 1.hs' '1.hs' '1.hs 2.hs 3.hs' '1.hs 2.hs --ignore none' '1.hs 2.hs --by nothing' \
	'1.hs 2.hs --fail-above' '1.hs 2.hs --fail-above -1' '1.hs 2.hs --fail-above 1x' '1.hs 2.hs --per 0' '1.hs 2.hs --fail-below 1'; do
	for ask in --exit-code '--fail-above 0' '--fail-above 100g'; do
		# shellcheck disable=SC2086 # words
		expect_status 2 heapstory diff $ask $trouble >/dev/null 2>&1
	done
done
# 0 allows no growth at all, and a limit is in bytes
expect_status 1 heapstory diff 1.hs 2.hs --fail-above 0 >/dev/null
expect_status 0 heapstory diff 2.hs 2.hs --fail-above 0 >/dev/null
expect_status 1 heapstory diff 1.hs 2.hs --fail-above 47999 >/dev/null
expect_status 0 heapstory diff 1.hs 2.hs --fail-above 48000 >/dev/null
# without a question there is no verdict, whatever grew
expect_status 0 heapstory diff 1.hs 2.hs >/dev/null
finish
