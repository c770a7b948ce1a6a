# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# What is misspelt is refused, and what was meant is said where there is one such.
try() { expect_status 2 heapstory "$@"; }
for command in dif hepa larges trnd snapshot snpa symbolise exprot histroy hlep leaks record -v --verison; do
	try $command
done
try help dif
for option in --bye --yb --group --jsno --rawnames --all-frame --debugdir --top -m --max --minimum --addreses --show-size --fucntion; do
	try heap x.hs $option 5
done
try run --evry 5s -- true
try run --evry=5s -- true
try run --output x -- true
try run --follow -- true
try run --noexit-snapshot true
try env --evrey 5s
try supervise 1 --on-grwth 5m
try mode 1 --jsno
try list --jon
try snap 1 --lable x
try export x.hs --fromat pprof
try diff a.hs b.hs --fail-abvoe 5k
try diff a.hs b.hs --unti a
try diff a.hs b.hs --exitcode
try trend x.hs --limt 4g
# values are listed, as they are few
try heap x.hs --by functon
try heap x.hs --sort size
try heap x.hs --kind maping
try export x.hs --format prof

# names in filters, by what there is
start s heapstory run -o out -- "$PROGRAMS/strings_grow"
wait_mark s 1 || finish
go s
wait_mark s 2 || finish
heapstory snap out/store.live -o 2.hs >/dev/null || fail "snap"
finish_program s || fail "ended with $?"
near() { heapstory heap 2.hs "$@" | tail -n 1 | sed "s/\(the nearest [a-z]* \(is\|are\) '[^']*'\).*/\1/"; }
near --function push_chrs
near --function Append_Word_
near --function mian
near --zone string_grows
near --module strings-grow
near --thread string_grow
near --class string
near --class vector
finish
