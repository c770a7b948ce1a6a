# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# A program started by `env`, looked after by `supervise`.
slow='import time
l = []
for i in range(30):
	l.append(bytearray(100000))
	time.sleep(0.05)'
settings=$(heapstory env -o out) || fail "env"
# shellcheck disable=SC2086 # words are meant
env $settings "$PYTHON" -c "$slow" &
pid=$!
for ((i = 0; i < 200; i++)); do [ -e out/store.live ] && break; sleep 0.02; done
heapstory supervise $pid --every 200ms &
supervisor=$!
sleep 0.5
expect_status 2 heapstory supervise $pid 2>twice.err
sed -E 's/by process [0-9]+/by process PID/' twice.err
wait $pid || fail "the program ended with $?"
wait $supervisor || fail "supervise ended with $?"
for f in 0001.hs 0002.hs exit.hs timeline store.live; do
	if [ ! -f out/$f ] || [ -L out/$f ]; then fail "out/$f"; fi
done
heapstory check out/exit.hs >/dev/null || fail "exit.hs"

# without a folder, through three images, and told to stop before the end
# shellcheck disable=SC2046,SC2016
env $(heapstory env) sh -c 'sleep 0.4; exec sh -c "exec \"\$0\" -c \"import time; time.sleep(1)\"" '"$PYTHON" &
pid=$!
sleep 0.2
heapstory supervise $pid -o bare 2>bare.err || fail "supervise ended with $?"
wait $pid || fail "the program ended with $?"
ls bare
heapstory heap bare --json >heap.json
check_json heap.json 'j["target"]["name"].startswith("python")'

# shellcheck disable=SC2046,SC2016
env $(heapstory env) sleep 1 &
pid=$!
sleep 0.2
heapstory supervise $pid -o stopped 2>stopped.err &
supervisor=$!
sleep 0.3
kill $supervisor
wait $supervisor || fail "a supervisor that was told to stop ended with $?"
grep -c 'is left alone' stopped.err
heapstory heap $pid >/dev/null || fail "the program is not traced on"
wait $pid
expect_status 2 heapstory supervise $pid -o gone
[ -e gone ] && fail "a folder was left behind"
rm -f "$(readlink stopped/store.live)"
finish
