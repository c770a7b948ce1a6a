# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# redis-server with 500 new keys a round: the report's numbers against the server's own, and its
# table of keys, which doubles.
need redis-server
need "$PYTHON"
mkdir data
heapstory run -o out -- redis-server --port 0 --unixsocket "$PWD/data/sock" --save '' --appendonly no \
	--dir "$PWD/data" --daemonize no >log 2>err &
RUN=$!
cat >drive.py <<'END'
import json, socket, subprocess, time
s = socket.socket(socket.AF_UNIX)
for i in range(600):
    try:
        s.connect("data/sock")
        break
    except OSError:
        time.sleep(0.05)
f = s.makefile("rb")
def ask(commands):
    """Sends them at once; the last answer."""
    for i in range(0, len(commands), 1000):
        some = commands[i:i + 1000]
        s.sendall("".join(c + "\r\n" for c in some).encode())
        for _ in some:
            line = f.readline()
            if line[:1] == b"$" and line != b"$-1\r\n": f.read(int(line[1:]) + 2)
    return line
sizes = []
for r in range(20):
    ask(["SET key:%06d %s" % (i, "v" * 100) for i in range(500 * r, 500 * r + 500)])
    # each look-up moves a bucket of the old table: none is left of it then
    ask(["GET key:000001"] * 18000)
    sizes.append(int(ask(["DBSIZE"])[1:]))
    subprocess.run(["heapstory", "snap", "out", "-o", "%02d.hs" % r], check=True, stdout=subprocess.DEVNULL)
json.dump(sizes, open("sizes.json", "w"))
s.sendall(b"SHUTDOWN NOSAVE\r\n")
END
"$PYTHON" drive.py || fail "no answer: $(tail -n 3 log err)"
wait $RUN || fail "redis ended with $?"
heapstory trend [0-9][0-9].hs -n all --limit 64m --json >all.json
"$PYTHON" - <<'END'
import json
j, sizes = json.load(open("all.json")), json.load(open("sizes.json"))
if sizes != [500 * (r + 1) for r in range(20)]: print("keys", sizes)
# of each key the server has an entry, its name, and its value; name and value were born alike
own = [r for r in j["rows"] if [c - r["count"][0] for c in r["count"]] in ([k * (n - sizes[0]) for n in sizes] for k in (1, 2))]
if not own: print("no group has a block a key:", [(r["key"], r["count"]) for r in j["rows"] if r["changed"]])
for r in own:
    each = (r["bytes"][-1] - r["bytes"][0]) / (sizes[-1] - sizes[0])
    if each != int(each): print(r["key"], "has", each, "bytes a key")
    if (r["shape"], r["confidence"]) != ("linear", "high"): print(r["key"], r["shape"], r["confidence"])
    hours = (r["at_s"][-1] - r["at_s"][0]) / 3600
    if not 0.6 < r["slope_bytes_per_hour"] * hours / (r["bytes"][-1] - r["bytes"][0]) < 1.6: print(r["key"], "slope")
values = sum(r["bytes"][-1] - r["bytes"][0] for r in own)
if values < 100 * (sizes[-1] - sizes[0]): print("less than the values themselves:", values)
# its table of keys, 8 bytes a bucket and as many buckets as keys, to the next power of two
room = [8 * (1 << (n - 1).bit_length()) for n in sizes]
doubling = [r for r in j["rows"] if r["shape"] == "doubling"]
if len(doubling) != 1: print("doubling", [(r["key"], r["bytes"]) for r in doubling])
for r in doubling:
    if [n - room[0] for n in room] != [n - r["bytes"][0] for n in r["bytes"]]: print("table", room, r["bytes"])
    if r["confidence"] != "high" or not r["grows"]: print(r["key"], r["confidence"], r["grows"])
    if r["next_step"]["factor"] != 2 or r["next_step"]["bytes"] != 2 * room[-1]: print(r["next_step"])
f = j["totals"]["forecast"]
if not f or f["limit_bytes"] != 64 << 20 or f["at_s"] <= j["totals"]["at_s"][-1]: print("forecast", f)
END
heapstory trend [0-9][0-9].hs >text
grep -q doubling text || fail "text"
finish
