# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The program sees its environment as without heapstory, and so do its children.
env -u LD_PRELOAD A=1 bash -c 'env | sort' | grep -v '^_=' >plain
env -u LD_PRELOAD A=1 heapstory run -o a -- bash -c 'env | sort' | grep -v '^_=' >traced
diff plain traced || fail "environment"
# the user's own preload stays, behind ours
export LD_PRELOAD=libm.so.6
bash -c 'env | sort; grep -c libm.so.6 /proc/$$/maps >/dev/null && echo libm' | grep -v '^_=' >plain
heapstory run -o b -- bash -c 'env | sort; grep -c libm.so.6 /proc/$$/maps >/dev/null && echo libm' | grep -v '^_=' >traced
diff plain traced || fail "environment with a preload"
grep -q LD_PRELOAD=libm.so.6 traced || fail "LD_PRELOAD is lost"
unset LD_PRELOAD
# children are not traced, and run says so
heapstory run -o c -- bash -c 'cat /proc/self/maps; true' 2>c.err | grep heapstory
grep -o '[0-9]* child.*' c.err
# descriptors are as they were
bash -c 'ls -l /proc/self/fd | wc -l' >plain
heapstory run -o d -- bash -c 'ls -l /proc/self/fd | wc -l' >traced
diff plain traced || fail "descriptors"
finish
