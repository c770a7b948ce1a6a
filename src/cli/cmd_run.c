/* SPDX-License-Identifier: MIT */
/*
 * cmd_run.c - `heapstory run`: starts a program traced, looks after it, ends as it ended.
 *
 * The child is forked first, because folder and store are named after its pid, and waits on a pipe
 * until both are there. It then becomes the program, with the signals, limits and descriptors that
 * we were given; ours are set apart only on this side of the fork.
 */
#include "cli/command.h"
#include "cli/detach.h"
#include "cli/launch.h"
#include "cli/relay.h"
#include "cli/supervisor.h"
#include "store/process.h"
#include "util/error.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static int cannot_run(const char *name, int error)
{
	return say("cannot run '%s': %s", name, strerror(error));
}

/* Starts with the name that the shell would use; a script without "#!" goes to the shell. */
static int become(char **argv, char **env)
{
	execvpe(argv[0], argv, env);
	return errno;
}

/* Base name of the default folder: heapstory.CMD.PID. */
static void default_dir(char *ret, size_t size, const char *name, pid_t pid)
{
	const char *slash = strrchr(name, '/');

	snprintf(ret, size, "heapstory.%.200s.%d", slash && slash[1] ? slash + 1 : name, (int)pid);
}

static int prepare(struct launch *l, const char *name, pid_t pid, struct hs_error *err)
{
	char dir[256];
	int ret;

	default_dir(dir, sizeof(dir), name, pid);
	ret = launch_make_dir(l, dir, err);
	return ret ? ret : launch_make_store(l, pid, err);
}

static struct supervisor_options supervisor_options_of(const struct launch_options *options,
						       pid_t pid)
{
	return (struct supervisor_options){
		.pid = pid,
		.every_ns = options->every_ns,
		.growth_bytes = options->growth_bytes,
		.keep_bytes = options->keep_bytes,
		.exit_snapshot = options->exit_snapshot,
		.follow = options->follow,
	};
}

/* ---- as a child -------------------------------------------------------------------------- */

/* Both ends of the start: `go` tells the child that all is ready, `failed` us that exec was not. */
struct start_pipes {
	int go[2], failed[2];
};

static int open_pipes(struct start_pipes *p, struct hs_error *err)
{
	if (pipe2(p->go, O_CLOEXEC))
		return hs_error_system(err, "make", "pipe");
	if (!pipe2(p->failed, O_CLOEXEC))
		return 0;
	hs_error_system(err, "make", "pipe");
	close(p->go[0]);
	close(p->go[1]);
	return -HS_E_SYSTEM;
}

static void __attribute__((noreturn))
child_main(const struct launch *l, char **argv, struct start_pipes *p, const sigset_t *mask)
{
	char byte;
	int error;
	char **env;

	close(p->go[1]);
	close(p->failed[0]);
	if (read(p->go[0], &byte, 1) != 1)
		_exit(EXIT_TROUBLE); /* the parent has said why, or is gone */
	env = launch_environment(l);
	sigprocmask(SIG_SETMASK, mask, NULL);
	error = become(argv, env);
	if (write(p->failed[1], &error, sizeof(error)) < 0)
		_exit(127);
	_exit(126);
}

/* Waits for a child that will never become the program. */
static void drop_child(pid_t child)
{
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
}

/* Lets the child go on; 0, or the errno of its exec. */
static int let_go(struct start_pipes *p)
{
	int error = 0;
	char byte = 1;
	ssize_t n;

	if (write(p->go[1], &byte, 1) != 1)
		return errno;
	do
		n = read(p->failed[0], &error, sizeof(error));
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof(error) ? error : 0;
}

/* Starts the program; its pid, or -1 after saying what was in the way. */
static pid_t start_child(struct launch *l, char **argv, const sigset_t *mask)
{
	struct start_pipes p;
	struct hs_error err;
	pid_t child;
	int error;

	if (open_pipes(&p, &err)) {
		say_error(&err);
		return -1;
	}
	child = fork();
	if (!child)
		child_main(l, argv, &p, mask);
	close(p.go[0]);
	close(p.failed[1]);
	if (child < 0) {
		cannot_run(argv[0], errno);
	} else if (prepare(l, argv[0], child, &err)) {
		say_error(&err);
		close(p.go[1]);
		p.go[1] = -1;
		drop_child(child);
		child = -1;
	} else if ((error = let_go(&p))) {
		drop_child(child);
		launch_undo(l);
		cannot_run(argv[0], error);
		child = -1;
	}
	if (p.go[1] >= 0)
		close(p.go[1]);
	close(p.failed[0]);
	return child;
}

static int look_after(const struct launch *l, pid_t child, const sigset_t *mask)
{
	struct supervisor_options options = supervisor_options_of(l->options, child);
	struct relay_end end;
	struct supervisor s;
	struct hs_error err;
	int status;

	detach_descriptors();
	detach_limits();
	if (relay_start(child, mask, &err))
		return say_error(&err);
	supervisor_init(&s, l->dir, &options);
	supervisor_sign(&s, (uint64_t)getpid());
	while (!relay_wait(supervisor_tick(&s), &end))
		;
	supervisor_finish(&s);
	supervisor_report(&s);
	status = relay_end_alike(&end);
	if (!status && s.trouble)
		status = EXIT_TROUBLE;
	supervisor_release(&s);
	return status;
}

static int run_as_child(const struct launch_options *options, char **argv)
{
	/* Shared, so that the child sees what was prepared after the fork. */
	struct launch *l =
		mmap(NULL, sizeof(*l), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct hs_error err;
	sigset_t all, mask;
	pid_t child;

	if (l == MAP_FAILED)
		return say("cannot run '%s': %s", argv[0], strerror(errno));
	if (launch_init(l, options, &err))
		return say_error(&err);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &mask);
	child = start_child(l, argv, &mask);
	if (child < 0) {
		sigprocmask(SIG_SETMASK, &mask, NULL);
		return EXIT_TROUBLE;
	}
	return look_after(l, child, &mask);
}

/* ---- in place (--exec) ------------------------------------------------------------------- */

static void __attribute__((noreturn))
supervise_aside(const struct launch *l, pid_t pid, uint64_t start_ticks, int failed)
{
	struct supervisor_options options = supervisor_options_of(l->options, pid);
	struct supervisor s;
	char byte;

	if (read(failed, &byte, 1) > 0)
		_exit(EXIT_TROUBLE); /* the program could not be started, and that was said */
	detach_from_session();
	supervisor_init(&s, l->dir, &options);
	supervisor_sign(&s, (uint64_t)getpid());
	while (!watch_process(pid, start_ticks, supervisor_tick(&s), -1))
		;
	supervisor_finish(&s);
	supervisor_report(&s);
	_exit(s.trouble ? EXIT_TROUBLE : EXIT_DONE);
}

/* Leaves a supervisor that is nobody's child aside; *ret_failed is the pipe that ends it. */
static int start_aside(const struct launch *l, pid_t pid, int *ret_failed)
{
	struct process_stat stat;
	int failed[2];
	pid_t child;

	if (!process_stat_read(pid, 0, &stat) || pipe2(failed, O_CLOEXEC))
		return -1;
	child = fork();
	if (!child) {
		close(failed[1]);
		if (setsid() < 0 || fork() != 0)
			_exit(0);
		supervise_aside(l, pid, stat.start_ticks, failed[0]);
	}
	close(failed[0]);
	if (child < 0) {
		close(failed[1]);
		return -1;
	}
	drop_child(child);
	*ret_failed = failed[1];
	return 0;
}

static int run_in_place(const struct launch_options *options, char **argv)
{
	static struct launch l;
	pid_t pid = getpid();
	struct hs_error err;
	int failed, error;

	if (launch_init(&l, options, &err) || prepare(&l, argv[0], pid, &err))
		return say_error(&err);
	if (start_aside(&l, pid, &failed)) {
		error = errno;
		launch_undo(&l);
		return cannot_run(argv[0], error);
	}
	error = become(argv, launch_environment(&l));
	if (write(failed, "", 1) < 0)
		error = errno;
	launch_undo(&l);
	return cannot_run(argv[0], error);
}

/* ------------------------------------------------------------------------------------------ */

static int run_untraced(char **argv, const char *why)
{
	extern char **environ;

	say("%s: it runs untraced", why);
	return cannot_run(argv[0], become(argv, environ));
}

static int run(int argc, char **argv)
{
	struct launch_options options;
	char program[PATH_MAX], why[1024];
	struct hs_error err;
	int first = launch_options_parse(&options, LAUNCH_RUN, argc, argv, &err), error;

	if (first < 0)
		return say_error(&err);
	if (first >= argc)
		return say("run: no program given; 'heapstory run --help' shows how");
	hold_standard_descriptors();
	error = launch_find_program(argv[first], program);
	if (error)
		return cannot_run(argv[first], error);
	if (!launch_traceable(program, why, sizeof(why))) {
		if (options.anyway)
			return run_untraced(argv + first, why);
		return say("%s", why);
	}
	return options.exec ? run_in_place(&options, argv + first)
			    : run_as_child(&options, argv + first);
}

const struct command cmd_run = {
	.name = "run",
	.summary = "start a program traced, and return its status",
	.usage = "[-o DIR] [options] [--] CMD [ARG...]",
	.options =
		"  -o DIR              output folder (heapstory.CMD.PID); is made, or exists\n"
		"                      and is empty\n"
		"  --every D           a snapshot each D: 500ms, 30s, 5m, 2h\n"
		"  --on-growth SIZE    a snapshot each time live bytes grew by SIZE (4k, 1m)\n"
		"  --keep SIZE         room for these snapshots (2g; 0: no limit); beyond it they\n"
		"                      are thinned out\n"
		"  --no-exit-snapshot  no exit.hs when the program has ended\n"
		"  --mode MODE         live (every live block), or off: dormant until\n"
		"                      'heapstory mode'\n"
		"  --depth N           frames a stack may have (128)\n"
		"  --follow-children   traces children too, each in DIR/child.PID\n"
		"  --store DIR         folder of the store while the program runs\n"
		"  --exec              becomes the program, same pid; a supervisor stays aside\n"
		"  --anyway            runs what cannot be traced untraced\n",
	.example = "heapstory run -o out --every 30s -- ./server --port 8080\n"
		   "heapstory diff out/0001.hs out/exit.hs\n",
	.run = run,
	.takes_command = true,
};
