/* SPDX-License-Identifier: MIT */
/*
 * cmd_supervise.c - `heapstory supervise`: looks after a traced program that we did not start.
 */
#include "cli/command.h"
#include "cli/detach.h"
#include "cli/launch.h"
#include "cli/suggest.h"
#include "cli/supervisor.h"
#include "store/format.h"
#include "store/place.h"
#include "store/process.h"
#include "store/reader.h"
#include "store/summary.h"
#include "util/error.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

struct supervise_options {
	const char *target;
	const char *dir; /* -o; NULL: the program's, else heapstory.CMD.PID */
	struct supervisor_options supervisor;
};

/* The program, its store and the folder in which its story is kept. */
struct supervised {
	char store[PATH_MAX]; /* as found */
	struct store_summary summary;
	uint64_t start_ticks;
	char dir[PATH_MAX];
	bool own_dir; /* not known to the tracer */
	char stores[PATH_MAX]; /* of later images; "": the tracer itself links them in dir */
};

static int parse(struct supervise_options *o, int argc, char **argv)
{
	struct supervisor_options *s = &o->supervisor;
	struct hs_error err;
	int ret;

	memset(o, 0, sizeof(*o));
	s->exit_snapshot = true;
	s->keep_bytes = SUPERVISOR_DEFAULT_KEEP;
	for (int i = 1; i < argc; i++) {
		if (argv[i][0] != '-' || !argv[i][1]) {
			if (o->target)
				return say("supervise: '%s' is one argument too many", argv[i]);
			o->target = argv[i];
			continue;
		}
		if (!strcmp(argv[i], "--no-exit-snapshot")) {
			s->exit_snapshot = false;
			continue;
		}
		ret = option_value("-o", argc, argv, &i, &o->dir, &err);
		ret = ret ? ret : option_duration("--every", argc, argv, &i, &s->every_ns, &err);
		ret = ret ? ret
			  : option_size("--on-growth", argc, argv, &i, &s->growth_bytes, &err);
		ret = ret ? ret : option_size_or_0("--keep", argc, argv, &i, &s->keep_bytes, &err);
		if (ret < 0)
			return say_error(&err);
		if (!ret)
			return say_no_option("supervise", argv[i]);
	}
	if (!o->target)
		return say("supervise: no target given; 'heapstory supervise --help' shows how");
	return EXIT_DONE;
}

/* Another heapstory that looks after it; 0 if there is none (any more). */
static uint64_t other_supervisor(const struct supervised *v)
{
	uint64_t pid = v->summary.supervisor;
	char exe[PATH_MAX], ours[PATH_MAX];

	if (!pid || pid == (uint64_t)getpid() || pid > INT_MAX ||
	    !process_exe((pid_t)pid, exe, sizeof(exe)) ||
	    !process_exe(getpid(), ours, sizeof(ours)) || strcmp(exe, ours))
		return 0;
	return pid;
}

static int find(struct supervised *v, const char *target, struct hs_error *err)
{
	struct process_stat stat;
	bool is_store = false;
	char path[PATH_MAX];
	int ret = target_find(target, path, sizeof(path), err);

	ret = ret ? ret : store_is_store(path, &is_store, err);
	if (!ret && !is_store)
		return hs_error_set(err, HS_E_USAGE, "'%s' is a snapshot, not a running program",
				    target);
	if (!ret && !realpath(path, v->store))
		ret = hs_error_system(err, "open", path);
	ret = ret ? ret : store_summary(v->store, &v->summary, err);
	if (ret)
		return ret;
	if (!v->summary.alive || !process_stat_read((pid_t)v->summary.pid, 0, &stat))
		return hs_error_set(err, HS_E_STATE,
				    "process %" PRIu32 " is gone; its store is '%s'",
				    v->summary.pid, v->store);
	v->start_ticks = stat.start_ticks;
	if (other_supervisor(v))
		return hs_error_set(err, HS_E_STATE,
				    "process %" PRIu32 " is looked after by process %" PRIu64 " alr"
				    "ead"
				    "y",
				    v->summary.pid, other_supervisor(v));
	return 0;
}

/* Reads the folder that the tracer was started with from the store; "" if it had none. */
static void read_dir(int fd, char ret[PATH_MAX])
{
	uint64_t off = 0;
	ssize_t n = pread(fd, &off, sizeof(off), offsetof(struct hs_header, dir_off));

	ret[0] = 0;
	if (n == (ssize_t)sizeof(off) && off >= HS_DATA_OFF && off < INT64_MAX)
		n = pread(fd, ret, PATH_MAX - 1, (off_t)off);
	if (n <= 0 || ret[0] != '/')
		ret[0] = 0;
}

/* Takes the tracer's folder if its store.live leads to this store. */
static void take_tracers_dir(struct supervised *v)
{
	int fd = open(v->store, O_RDONLY | O_CLOEXEC);
	struct stat here, there;
	char link[PATH_MAX];

	if (fd < 0)
		return;
	read_dir(fd, v->dir);
	if (v->dir[0] && (fstat(fd, &here) ||
			  snprintf(link, sizeof(link), "%s/store.live", v->dir) >= PATH_MAX ||
			  stat(link, &there) || here.st_dev != there.st_dev ||
			  here.st_ino != there.st_ino || access(v->dir, W_OK | X_OK)))
		v->dir[0] = 0;
	close(fd);
}

/* Path of the stores of this process, in the folder of this one, up to the number of the image. */
static void name_stores(struct supervised *v)
{
	const char *slash = strrchr(v->store, '/');
	struct stat st;

	if (stat(v->store, &st) ||
	    snprintf(v->stores, sizeof(v->stores), "%.*s/heapstory-%u.%" PRIu32 ".%" PRIu64 ".",
		     (int)(slash - v->store), v->store, (unsigned int)st.st_uid, v->summary.pid,
		     v->start_ticks) >= PATH_MAX)
		v->stores[0] = 0;
}

/* Makes a folder of our own that leads to the store. */
static int make_dir(struct supervised *v, const char *asked, struct hs_error *err)
{
	char name[256], link[PATH_MAX];
	int ret;

	snprintf(name, sizeof(name), "heapstory.%.*s.%" PRIu32, (int)sizeof(v->summary.comm),
		 v->summary.comm, v->summary.pid);
	for (char *p = name; *p; p++)
		if (*p == '/')
			*p = '_';
	ret = output_folder(asked ? asked : name, v->dir, &v->own_dir, err);
	if (!ret && (snprintf(link, sizeof(link), "%s/store.live", v->dir) >= PATH_MAX ||
		     symlink(v->store, link))) {
		ret = hs_error_system(err, "make link", link);
		if (v->own_dir)
			rmdir(v->dir);
	}
	if (!ret)
		name_stores(v);
	return ret;
}

/* Readable once somebody wants us to stop. */
static int stop_descriptor(void)
{
	sigset_t ends;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	return signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Whether we were told to stop, by which signal. */
static int told_to_stop(int fd)
{
	struct signalfd_siginfo info;

	return read(fd, &info, sizeof(info)) == (ssize_t)sizeof(info) ? (int)info.ssi_signo : 0;
}

static int look_after(struct supervised *v, const struct supervise_options *o)
{
	struct supervisor s;
	int stop = stop_descriptor(), sig = 0, status;
	pid_t pid = (pid_t)v->summary.pid;

	supervisor_init(&s, v->dir, &o->supervisor);
	if (v->stores[0])
		supervisor_follow_images(&s, v->stores, v->summary.generation);
	supervisor_sign(&s, (uint64_t)getpid());
	while (!watch_process(pid, v->start_ticks, supervisor_tick(&s), stop)) {
		sig = told_to_stop(stop);
		if (sig)
			break;
	}
	if (sig) {
		supervisor_sign(&s, 0);
		say("process %d is left alone; it is traced on, '%s' shows its heap", (int)pid,
		    s.dir);
	} else {
		supervisor_finish(&s);
		supervisor_report(&s);
	}
	status = s.trouble ? EXIT_TROUBLE : EXIT_DONE;
	supervisor_release(&s);
	close(stop);
	return status;
}

static int run(int argc, char **argv)
{
	static struct supervised v;
	struct supervise_options options;
	struct hs_error err;

	hold_standard_descriptors();
	if (parse(&options, argc, argv))
		return EXIT_TROUBLE;
	if (find(&v, options.target, &err))
		return say_error(&err);
	take_tracers_dir(&v);
	/* Moving its stores elsewhere would leave links to nowhere in the folder that it has. */
	if (v.dir[0] && options.dir)
		return say("process %" PRIu32 " has an output folder already, '%s': -o is for one "
			   "without",
			   v.summary.pid, v.dir);
	if (!v.dir[0] && make_dir(&v, options.dir, &err))
		return say_error(&err);
	options.supervisor.pid = (pid_t)v.summary.pid;
	options.supervisor.follow = v.summary.flags & HS_STORE_FOLLOW;
	return look_after(&v, &options);
}

const struct command cmd_supervise = {
	.name = "supervise",
	.summary = "give a program started by 'env' what 'run' gives",
	.usage = "TARGET [-o DIR] [--every D] [--on-growth SIZE]",
	.options =
		"  -o DIR              output folder (the program's own, else "
		"heapstory.CMD.PID)\n"
		"  --every D           a snapshot each D: 500ms, 30s, 5m, 2h\n"
		"  --on-growth SIZE    a snapshot each time live bytes grew by SIZE (4k, 1m)\n"
		"  --keep SIZE         room for these snapshots (2g; 0: no limit); beyond it they\n"
		"                      are thinned out\n"
		"  --no-exit-snapshot  no exit.hs when the program has ended\n",
	.example = "heapstory supervise 4242 --every 5m\n",
	.run = run,
};
