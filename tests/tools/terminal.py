#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""terminal.py HEAPSTORY - `run` on a terminal of its own, under a small shell with job control.

Prints a line for each thing that went as it does without heapstory; exits 1 at the first other one.
"""
import fcntl
import os
import pty
import select
import signal
import sys
import termios
import time

PROGRAM = r"""
import os, select, signal, sys
def say(*words): os.write(1, (" ".join(words) + "\n").encode()) # print() is not to be interrupted by itself
def on(sig, frame): say("GOT", signal.Signals(sig).name)
for s in (signal.SIGTERM, signal.SIGUSR1, signal.SIGINT, signal.SIGHUP): signal.signal(s, on)
say("READY", str(os.getpid()))
while True:
    # a signal that comes just before the read would wait for its end
    if not select.select([0], [], [], 0.05)[0]: continue
    line = sys.stdin.readline()
    if line.strip() == "end" or not line: break
sys.exit(5)
"""


def shell(slave, argv):
    """Runs argv as the foreground job and tells each change of its state."""
    os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    job = os.fork()
    if job == 0:
        os.setpgid(0, 0)
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        os.tcsetpgrp(slave, os.getpid())
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
        for fd in 0, 1, 2:
            os.dup2(slave, fd)
        os.execv(argv[0], argv)
    signal.signal(signal.SIGUSR1, lambda *a: os.killpg(job, signal.SIGCONT))
    signal.signal(signal.SIGUSR2, lambda *a: os.kill(job, signal.SIGCONT))

    def tell(*words):
        os.write(slave, (" ".join(words) + "\n").encode())
    tell("JOB", str(job))
    while True:
        _, status = os.waitpid(job, os.WUNTRACED | os.WCONTINUED)
        if os.WIFSTOPPED(status):
            tell("STOPPED", signal.Signals(os.WSTOPSIG(status)).name)
        elif os.WIFCONTINUED(status):
            tell("CONTINUED")
        else:
            tell("ENDED", str(os.waitstatus_to_exitcode(status)))
            os._exit(0)


class Terminal:
    def __init__(self, argv):
        self.seen = ""
        self.master, slave = pty.openpty()
        self.shell = os.fork()
        if self.shell == 0:
            os.close(self.master)
            shell(slave, argv)
        os.close(slave)

    def expect(self, word):
        """Reads on until the word was printed; returns what came before it."""
        end = time.time() + 20
        while word not in self.seen:
            if not select.select([self.master], [], [], max(0, end - time.time()))[0]:
                sys.exit("no %r in %r" % (word, self.seen))
            try:
                self.seen += os.read(self.master, 4096).decode()
            except OSError:
                sys.exit("the end, without %r: %r" % (word, self.seen))
        before, _, self.seen = self.seen.partition(word)
        return before

    def number(self):
        return int(self.expect("\n"))

    def type(self, text):
        os.write(self.master, text)


def state(pid):
    with open("/proc/%d/stat" % pid) as f:
        return f.read().rpartition(")")[2].split()[0]


def until(pid, states):
    for _ in range(500):
        if state(pid) in states:
            return
        time.sleep(0.02)
    sys.exit("process %d is in state %s" % (pid, state(pid)))


def main():
    t = Terminal([sys.argv[1], "run", "-o", "terminal", "--", "/usr/bin/python3", "-c", PROGRAM])
    t.expect("JOB ")
    job = t.number()
    t.expect("READY ")
    pid = t.number()

    t.type(b"\x03")
    t.expect("GOT SIGINT")
    time.sleep(0.3)
    os.kill(job, signal.SIGTERM)
    if "GOT" in t.expect("GOT SIGTERM"):
        sys.exit("a second SIGINT for one ^C")
    print("^C reaches the program once")
    for sig in signal.SIGINT, signal.SIGUSR1, signal.SIGHUP:
        os.kill(job, sig)
        t.expect("GOT " + sig.name)
    print("signals to run are passed on")

    t.type(b"\x1a")
    t.expect("STOPPED SIGTSTP")
    until(pid, "T")
    os.kill(t.shell, signal.SIGUSR1)
    t.expect("CONTINUED")
    until(pid, "SR")
    print("the job stops by ^Z and goes on")
    t.type(b"\x1a")
    t.expect("STOPPED SIGTSTP")
    until(pid, "T")
    os.kill(t.shell, signal.SIGUSR2)
    t.expect("CONTINUED")
    until(pid, "SR")
    print("it goes on by SIGCONT to run alone")
    os.kill(pid, signal.SIGSTOP)
    until(pid, "T")
    time.sleep(0.2)
    if state(job) == "T":
        sys.exit("run stopped with a program that somebody stopped")
    os.kill(pid, signal.SIGCONT)
    until(pid, "SR")
    print("the program alone is stopped and goes on")
    os.kill(job, signal.SIGTSTP)
    t.expect("STOPPED SIGTSTP")
    until(pid, "T")
    os.kill(job, signal.SIGCONT)
    t.expect("CONTINUED")
    until(pid, "SR")
    print("SIGTSTP to run stops both")

    t.type(b"end\n")
    t.expect("ENDED 5")
    print("status 5")
    os.waitpid(t.shell, 0)


main()
