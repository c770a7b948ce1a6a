/* SPDX-License-Identifier: MIT */
/*
 * trapped.c - a sandbox that answers system calls by SIGSYS, as browsers have: the handler refuses.
 *
 * usage: trapped CALL: madvise (memory can't be had any more), or mask (signals can't be blocked)
 *
 * Keeps 200000 blocks after the sandbox was closed, and ends with 0; 77: no such filter here.
 */
#include "mark.h"
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>

static volatile int nr_refused;

static void refuse(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	(void)sig;
	(void)info;
	nr_refused++;
#if defined(__x86_64__)
	uc->uc_mcontext.gregs[REG_RAX] = -EPERM;
#else
	uc->uc_mcontext.regs[0] = (unsigned long)-EPERM;
#endif
}

static int trap(unsigned int nr)
{
	struct sigaction action = { .sa_sigaction = refuse, .sa_flags = SA_SIGINFO };
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = sizeof(code) / sizeof(code[0]), .filter = code };

	sigaction(SIGSYS, &action, NULL);
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

NOINLINE static void keep_trapped(void)
{
	for (int i = 0; i < 200000; i++)
		sink = malloc(16);
}

int main(int argc, char **argv)
{
	sink = malloc(1);
	if (trap(argc > 1 && !strcmp(argv[1], "mask") ? SYS_rt_sigprocmask : SYS_madvise))
		return 77;
	keep_trapped();
	say("REFUSED", nr_refused > 0);
	return 0;
}
