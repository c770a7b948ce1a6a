# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# A program that is started by a link to its file has the link's name, in zones and modules, whether
# it was found in PATH or by a path; a script has the name of its interpreter's file.
mkdir bin
ln -s "$PROGRAMS/wrapper" bin/server
try() { # FOLDER ZONE COMMAND...
	local folder=$1 zone=$2
	shift 2
	heapstory run -o "$folder" -- "$@" </dev/null >/dev/null || fail "ended with $?: $*"
	heapstory heap "$folder" --by zone -n all --json >zones.json
	check_json zones.json "'$zone' in [r['key'] for r in j['rows']]" 'not any(r["key"] == "wrapper" for r in j["rows"])'
}
try absolute server "$WORK/bin/server"
try relative server bin/server
(cd bin && exec heapstory run -o ../here -- ./server </dev/null >/dev/null) || fail "ended with $?"
PATH=$WORK/bin:$PATH try path server server
for folder in absolute relative here path; do
	heapstory heap $folder --by function -n all --json >functions.json
	check_json functions.json 'j["target"]["exe"].endswith("/bin/server") and "/./" not in j["target"]["exe"]' \
		'any(r["key"] == "load_rows" and r["count"] == 800 for r in j["rows"])'
	heapstory heap $folder | sed -n '/BYTES/,$p'
done
printf '#!%s\n' "$WORK/bin/server" >script
chmod 755 script
heapstory run -o script.out -- ./script </dev/null >/dev/null || fail "ended with $?"
heapstory heap script.out --json >script.json
check_json script.json 'j["target"]["exe"].endswith("/wrapper")'
finish
