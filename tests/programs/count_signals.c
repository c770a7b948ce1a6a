/* SPDX-License-Identifier: MIT */
/*
 * count_signals.c - counts what it is sent: SIGRTMIN + 1, which queues, and SIGTERM.
 *
 * Waits for SIGRTMIN + 2 after each of which it prints "GOT realtime term", and ends at SIGUSR2.
 */
#include "mark.h"
#include <signal.h>

int main(void)
{
	unsigned nr = 0, nr_term = 0;
	sigset_t all;
	int sig;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	sink = malloc(10);
	say("READY", getpid());
	while (sigwait(&all, &sig) == 0 && sig != SIGUSR2) {
		nr += sig == SIGRTMIN + 1;
		nr_term += sig == SIGTERM;
		if (sig == SIGRTMIN + 2) {
			printf("GOT %u %u\n", nr, nr_term);
			fflush(stdout);
		}
	}
	return 0;
}
