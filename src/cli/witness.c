/* SPDX-License-Identifier: MIT */
/*
 * witness.c - see witness.h.
 *
 * The witness waits for questions: the number of a signal comes over a socket, and what goes back
 * is whether one was pending, which takes it away. The end of the socket is its end.
 */
#include "cli/witness.h"

#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define ANSWER_S 2 /* longest wait for an answer: it may have been stopped */

static int witness = -1; /* the socket */

static bool take_pending(int sig)
{
	const struct timespec now = {0, 0};
	sigset_t one;

	sigemptyset(&one);
	sigaddset(&one, sig);
	return sigtimedwait(&one, NULL, &now) == sig;
}

static void __attribute__((noreturn)) be_witness(int fd)
{
	uint8_t byte;

	/* descriptors that are closed elsewhere must not stay open here */
	dup2(fd, 0);
	close_range(1, UINT_MAX, 0);
	prctl(PR_SET_NAME, "heapstory-group");
	while (recv(0, &byte, 1, 0) == 1) {
		byte = take_pending(byte);
		send(0, &byte, 1, MSG_NOSIGNAL);
	}
	_exit(0);
}

void witness_start(void)
{
	const struct timeval longest = {ANSWER_S, 0};
	int fds[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds))
		return;
	pid = fork();
	if (pid == 0)
		be_witness(fds[1]);
	close(fds[1]);
	if (pid < 0 || setsockopt(fds[0], SOL_SOCKET, SO_RCVTIMEO, &longest, sizeof(longest))) {
		close(fds[0]);
		return;
	}
	witness = fds[0];
}

bool witness_saw(int sig)
{
	uint8_t byte = (uint8_t)sig;

	if (witness < 0)
		return false;
	/*
	 * The kernel holds its lock of the list of processes while it signals a group, and takes it
	 * for this call, which changes nothing: after it, who gets the signal has it.
	 */
	setpgid(0, getpgrp());
	if (send(witness, &byte, 1, MSG_NOSIGNAL) == 1 && recv(witness, &byte, 1, 0) == 1)
		return byte;
	/* too late, or gone: an answer to this question must not be taken for one to the next */
	close(witness);
	witness = -1;
	return false;
}
