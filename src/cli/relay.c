/* SPDX-License-Identifier: MIT */
/*
 * relay.c - signals between the caller of `run` and its child; see relay.h.
 *
 * The child is passed signals only until it is reaped: relay.child is set to 0 first, with the
 * zombie still there, so no signal ever goes to a process that got its number later.
 */
#include "cli/relay.h"

#include "cli/witness.h"
#include "util/clock.h"
#include "util/error.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define STOP_VALID_MS 2000 /* a stop of the child so long after the terminal's is another one */

/* One child a process; the handlers need it at a fixed place. */
static struct {
	volatile pid_t child; /* 0: none (any more) */
	volatile sig_atomic_t child_stopped;
	volatile sig_atomic_t stop_signal; /* latest SIGTSTP, SIGTTIN or SIGTTOU to us, 0: none */
	volatile uint64_t stop_ms; /* when that was */
	int wake; /* eventfd */
} relay = {.wake = -1};

static uint64_t now_ms(void)
{
	return monotonic_ns() / 1000000;
}

/*
 * Whether the program is to get it from us: somebody sent it, and not to the program as well.
 * si_pid says little about who, it is 0 where the sender lives outside a container; but the
 * child's own signals to the group have reached it already.
 */
static bool is_to_pass(int sig, const siginfo_t *info)
{
	bool to_group = witness_saw(sig); /* asked for each signal, whoever sent it */

	if (sig == SIGALRM && info->si_code == SI_KERNEL)
		return true; /* perl -e 'alarm 9; exec @ARGV' heapstory run … */
	if (info->si_code != SI_USER && info->si_code != SI_QUEUE && info->si_code != SI_TKILL)
		return false;
	if (sig == SIGCONT && !relay.child_stopped)
		return false;
	return !to_group && info->si_pid != relay.child && info->si_pid != getpid();
}

static void pass_on(int sig, const siginfo_t *info)
{
	pid_t child = relay.child;

	if (child <= 0)
		return;
	if (info->si_code == SI_QUEUE)
		sigqueue(child, sig, info->si_value);
	else
		kill(child, sig);
}

static void on_signal(int sig, siginfo_t *info, void *context)
{
	int saved = errno;
	uint64_t one = 1;
	ssize_t n;

	(void)context;
	if (sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU) {
		relay.stop_signal = sig;
		relay.stop_ms = now_ms();
	}
	if (sig != SIGCHLD && is_to_pass(sig, info))
		pass_on(sig, info);
	n = write(relay.wake, &one, sizeof(one));
	(void)n; /* full: then it wakes all the same */
	errno = saved;
}

/* What a fault in this program raises is its own. */
static bool is_fault(int sig)
{
	return sig == SIGSEGV || sig == SIGBUS || sig == SIGILL || sig == SIGFPE ||
	       sig == SIGTRAP || sig == SIGSYS;
}

int relay_start(pid_t child, const sigset_t *mask, struct hs_error *err)
{
	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
	struct sigaction old;

	relay.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (relay.wake < 0)
		return hs_error_system(err, "make", "eventfd");
	relay.child = child;
	witness_start(); /* after the child: what it has seen, the child has */
	sigfillset(&action.sa_mask); /* one question to the witness at a time */
	for (int sig = 1; sig <= SIGRTMAX; sig++) {
		if (is_fault(sig) || sigaction(sig, NULL, &old))
			continue; /* SIGKILL, SIGSTOP, those of the C library */
		if (old.sa_handler != SIG_IGN || sig == SIGCHLD)
			sigaction(sig, &action, NULL);
	}
	sigprocmask(SIG_SETMASK, mask, NULL);
	return 0;
}

/* Stops as the child did, until somebody lets the job go on. */
static void stop_too(int sig)
{
	struct sigaction standard = {.sa_handler = SIG_DFL}, old;
	sigset_t one, all, mask;

	sigaction(sig, &standard, &old);
	sigemptyset(&one);
	sigaddset(&one, sig);
	sigfillset(&all);
	raise(sig);
	sigprocmask(SIG_UNBLOCK, &one, &mask);
	sigprocmask(SIG_SETMASK, &all, NULL);
	witness_saw(sig); /* one that stopped us again since must not be taken for a later one */
	sigaction(sig, &old, NULL);
	sigprocmask(SIG_SETMASK, &mask, NULL);
}

/* Takes note of the child's stops and goings-on. */
static void look_at_stops(void)
{
	siginfo_t info = {.si_pid = 0};
	int sig;

	while (!waitid(P_PID, (id_t)relay.child, &info, WSTOPPED | WCONTINUED | WNOHANG) &&
	       info.si_pid) {
		relay.child_stopped = info.si_code == CLD_STOPPED || info.si_code == CLD_TRAPPED;
		sig = relay.stop_signal;
		if (relay.child_stopped && sig && now_ms() - relay.stop_ms < STOP_VALID_MS) {
			relay.stop_signal = 0;
			stop_too(sig);
		}
		info.si_pid = 0;
	}
}

static bool reap(struct relay_end *ret)
{
	siginfo_t info = {.si_pid = 0};
	pid_t child = relay.child;

	if (waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT)) {
		/* Somebody else has reaped it; that cannot be unless the kernel did. */
		if (errno != ECHILD)
			return false;
		*ret = (struct relay_end){true, 0};
		relay.child = 0;
		return true;
	}
	if (!info.si_pid)
		return false;
	relay.child = 0;
	waitid(P_PID, (id_t)child, &info, WEXITED);
	*ret = (struct relay_end){info.si_code == CLD_EXITED, info.si_status};
	return true;
}

bool relay_wait(int timeout_ms, struct relay_end *ret)
{
	uint64_t end = timeout_ms < 0 ? UINT64_MAX : now_ms() + (uint64_t)timeout_ms, count;
	struct pollfd poll_wake = {.fd = relay.wake, .events = POLLIN};

	for (;;) {
		uint64_t now;
		ssize_t n = read(relay.wake, &count, sizeof(count));

		(void)n; /* only to make it wait again; looked at below all the same */
		if (reap(ret))
			return true;
		look_at_stops();
		now = now_ms();
		if (now >= end)
			return false;
		poll(&poll_wake, 1, end == UINT64_MAX ? -1 : (int)(end - now));
	}
}

int relay_end_alike(const struct relay_end *end)
{
	struct rlimit none = {0, 0};
	struct sigaction standard = {.sa_handler = SIG_DFL};
	sigset_t one;

	if (end->exited)
		return end->status;
	/* The program has left its core, if one was wanted; a limit alone does not stop core pipes. */
	setrlimit(RLIMIT_CORE, &none);
	prctl(PR_SET_DUMPABLE, 0);
	sigaction(end->status, &standard, NULL);
	sigemptyset(&one);
	sigaddset(&one, end->status);
	sigprocmask(SIG_UNBLOCK, &one, NULL);
	raise(end->status);
	return 128 + end->status;
}
