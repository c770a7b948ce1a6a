/* SPDX-License-Identifier: MIT */
/*
 * detach.c - what keeps a supervisor out of the program's way; see detach.h.
 */
#include "cli/detach.h"

#include "store/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <unistd.h>

#define POLL_WITHOUT_PIDFD_MS 100

void hold_standard_descriptors(void)
{
	for (int fd = 0; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			continue;
		/* The lowest free number is this one. */
		if (open("/dev/null", O_RDWR | O_CLOEXEC) != fd)
			return;
	}
}

void detach_descriptors(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
	}
	close_range(STDERR_FILENO + 1, ~0u, 0);
}

void detach_limits(void)
{
	static const int limits[] = {RLIMIT_FSIZE, RLIMIT_CPU, RLIMIT_AS, RLIMIT_DATA,
				     RLIMIT_NOFILE};
	struct rlimit limit;

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		if (getrlimit(limits[i], &limit))
			continue;
		limit.rlim_cur = limit.rlim_max;
		setrlimit(limits[i], &limit);
	}
}

void detach_from_session(void)
{
	static const int ends[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM,
				   SIGPIPE, SIGTSTP, SIGTTIN, SIGTTOU, SIGXCPU, SIGXFSZ};
	sigset_t none;

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		signal(ends[i], SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	detach_descriptors();
	detach_limits();
	if (chdir("/"))
		return; /* then it stays busy; nothing else depends on it */
}

/* A descriptor that gets readable when the process ends; -1 where there is none to be had. */
static int open_pidfd(pid_t pid)
{
	static pid_t opened;
	static int fd = -1;

	if (opened != pid) {
		if (fd >= 0)
			close(fd);
		fd = pidfd_open(pid, 0);
		opened = pid;
	}
	return fd;
}

bool watch_process(pid_t pid, uint64_t start_ticks, int timeout_ms, int stop_fd)
{
	struct pollfd fds[2] = {
		{.fd = open_pidfd(pid), .events = POLLIN},
		{.fd = stop_fd, .events = POLLIN},
	};

	/* The number may have been given to another process before the descriptor was opened. */
	if (!process_runs(pid, start_ticks))
		return true;
	if (fds[0].fd < 0 && (timeout_ms < 0 || timeout_ms > POLL_WITHOUT_PIDFD_MS))
		timeout_ms = POLL_WITHOUT_PIDFD_MS;
	poll(fds, 2, timeout_ms);
	return !process_runs(pid, start_ticks);
}
