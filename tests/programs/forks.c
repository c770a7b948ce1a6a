/* SPDX-License-Identifier: MIT */
/*
 * forks.c - forks in unusual places.
 *
 * usage: forks HOW
 *
 * fails    20 times fork() fails as the kernel refuses it: quickly, and with its errno.
 * threads  a second thread forks 10 times while four others allocate; each child keeps 5 blocks.
 * handler  a handler of pthread_atfork() forks: 3 forks, 6 children.
 * daemon   a child calls daemon(), which forks in the C library; what goes on keeps 7 blocks.
 * inside   system() and popen(), whose children the C library makes in its own way.
 * drop     becomes another user, who may not write where the parent does; forks, spawns, execs.
 * limit    the address space has no room for a second table: the child ends, untraced.
 *
 * Ends with 0 if all went as it does untraced, and no fork took long.
 */
#include "mark.h"
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#define QUICK_MS 10000 /* for 20 of which each would wait for a second, on a busy machine */

static volatile int stop;

static long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

NOINLINE static void child_keep(int nr)
{
	for (int i = 0; i < nr; i++)
		sink = malloc(40);
}

/* Forks a child that keeps so many blocks. False if anything was not as it should be. */
static int fork_one(int nr)
{
	int status;
	pid_t pid;

	errno = 1234;
	pid = fork();
	if (pid == 0) {
		child_keep(nr);
		_exit(errno != 1234);
	}
	return pid > 0 && errno == 1234 && waitpid(pid, &status, 0) == pid && !status;
}

/* From here on the kernel refuses to make processes (threads are made by another call). */
static int refuse_forks(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAGAIN),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = sizeof(code) / sizeof(code[0]), .filter = code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int fails(void)
{
	if (refuse_forks())
		return 77;
	for (int i = 0; i < 20; i++)
		if (fork() != -1 || errno != EAGAIN)
			return 1;
	return 0;
}

static void *churn(void *arg)
{
	while (!stop) {
		void *volatile block = malloc(100);

		free(block);
	}
	return arg;
}

static void *fork_ten(void *arg)
{
	for (int i = 0; i < 10; i++)
		if (!fork_one(5))
			return arg;
	return NULL;
}

static int threads(void)
{
	pthread_t churning[4], forking;
	void *failed;

	for (int i = 0; i < 4; i++)
		pthread_create(&churning[i], NULL, churn, NULL);
	pthread_create(&forking, NULL, fork_ten, churning);
	pthread_join(forking, &failed);
	stop = 1;
	for (int i = 0; i < 4; i++)
		pthread_join(churning[i], NULL);
	return failed != NULL;
}

static int in_handler;

static void prepare(void)
{
	if (in_handler)
		return;
	in_handler = 1;
	if (!fork_one(1))
		_exit(9);
	in_handler = 0;
}

static int handler(void)
{
	pthread_atfork(prepare, NULL, NULL);
	for (int i = 0; i < 3; i++)
		if (!fork_one(1))
			return 1;
	return 0;
}

NOINLINE static void in_daemon(void)
{
	for (int i = 0; i < 7; i++)
		sink = malloc(70);
}

static int daemonize(void)
{
	int status;
	pid_t pid;

	if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
		return 77;
	pid = fork();
	if (pid == 0) {
		if (daemon(1, 1))
			_exit(1);
		in_daemon();
		exit(0);
	}
	for (int i = 0; i < 2; i++)
		if (wait(&status) < 0 || status)
			return 1;
	return 0;
}

static int inside(void)
{
	FILE *f;

	if (system("true") || !system(NULL))
		return 1;
	f = popen("true", "r");
	return !f || pclose(f);
}

static int drop(void)
{
	char *const argv[] = { "true", NULL };
	int status;
	pid_t pid;

	if (getuid() != 0)
		return 77;
	if (setgid(65534) || setuid(65534) || !fork_one(5))
		return 1;
	if (posix_spawn(&pid, "/bin/true", NULL, NULL, argv, environ) ||
	    waitpid(pid, &status, 0) != pid || status)
		return 1;
	execv("/bin/true", argv);
	return 1;
}

/* Pages of the address space. */
static size_t pages_used(void)
{
	FILE *statm = fopen("/proc/self/statm", "r");
	size_t pages = 0;

	if (!statm || fscanf(statm, "%zu", &pages) != 1)
		pages = 0;
	if (statm)
		fclose(statm);
	return pages;
}

static int limit(void)
{
	struct rlimit old, new = { .rlim_cur = 64 << 20, .rlim_max = RLIM_INFINITY };
	int good;

	getrlimit(RLIMIT_AS, &old);
	new.rlim_max = old.rlim_max;
	setrlimit(RLIMIT_AS, &new); /* what the tracer can spare, it gives back now */
	new.rlim_cur = pages_used() * (size_t)sysconf(_SC_PAGESIZE) + (1 << 20);
	setrlimit(RLIMIT_AS, &new);
	good = fork_one(5);
	setrlimit(RLIMIT_AS, &old);
	return !good;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	long start = now_ms();
	int bad = 1;

	sink = malloc(1);
	if (!strcmp(how, "fails"))
		bad = fails();
	else if (!strcmp(how, "threads"))
		bad = threads();
	else if (!strcmp(how, "handler"))
		bad = handler();
	else if (!strcmp(how, "daemon"))
		bad = daemonize();
	else if (!strcmp(how, "inside"))
		bad = inside();
	else if (!strcmp(how, "drop"))
		bad = drop();
	else if (!strcmp(how, "limit"))
		bad = limit();
	if (!bad && now_ms() - start > QUICK_MS)
		say("SLOW", now_ms() - start);
	return bad;
}
