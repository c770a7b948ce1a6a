/* SPDX-License-Identifier: MIT */
/*
 * lifecycle.c - the tracer's start, what a fork and an exec do to it.
 *
 * Runs in the traced program. The start happens inside the first call of a hook, which may come
 * from the loader before any constructor has run, or in our constructor. It uses no libc function
 * that needs libc to be initialised. libunwind is loaded later, in the constructor, where dlopen
 * is allowed. Whatever fails leaves the gate closed: all calls pass, nothing is recorded.
 */
#include "tracer/lifecycle.h"

#include "store/create.h"
#include "store/format.h"
#include "store/writer.h"
#include "tracer/environment.h"
#include "tracer/index.h"
#include "tracer/module.h"
#include "tracer/paths.h"
#include "tracer/real.h"
#include "tracer/say.h"
#include "tracer/sys.h"
#include "tracer/thread.h"
#include "tracer/unwind.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>

#define TICK_NS 10000000u /* unit of times in /proc/PID/stat, on every Linux this runs on */

enum start_state { FRESH, STARTING, STARTED };

/* What the start found out; written once. */
static struct {
	uint32_t state; /* enum start_state */
	struct environment env;
	char exe[ENVIRONMENT_PATH];
	char link[ENVIRONMENT_PATH];
	uint32_t pid;       /* by getpid() */
	uint32_t outer_pid; /* by which those outside of our pid namespace know us */
	bool pids_known;    /* the latest of children_know_pids() */
} life;

/* ---- facts about the process ---- */

static size_t read_file(const char *path, char *buf, size_t size)
{
	long fd = sys_open(path, O_RDONLY, 0);
	long n;

	buf[0] = '\0';
	if (fd < 0)
		return 0;
	n = sys_read((int)fd, buf, size - 1);
	sys_close((int)fd);
	if (n < 0)
		n = 0;
	buf[n] = '\0';
	return (size_t)n;
}

/* Field 22 of /proc/self/stat; the command's name before it may hold anything but ')' at its end. */
static uint64_t start_ticks(void)
{
	char text[512], *at;
	uint64_t ticks = 0;

	read_file("/proc/self/stat", text, sizeof(text));
	at = strrchr(text, ')');
	for (int field = 2; at && field < 22; field++) {
		at = strchr(at, ' ');
		at = at ? at + 1 : NULL;
	}
	for (; at && *at >= '0' && *at <= '9'; at++)
		ticks = ticks * 10 + (uint64_t)(*at - '0');
	return ticks;
}

static int hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static void read_boot_id(uint8_t id[16])
{
	char text[64];
	unsigned nr = 0;

	read_file("/proc/sys/kernel/random/boot_id", text, sizeof(text));
	for (const char *at = text; *at && nr < 32; at++) {
		int digit = hex(*at);

		if (digit < 0)
			continue;
		id[nr / 2] = (uint8_t)(id[nr / 2] << 4 | digit);
		nr++;
	}
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/*
 * People know a program by the name that they start it by: Debian's redis-server is a link to
 * redis-check-rdb. That of a script is another file's, and left alone.
 */
static void take_started_name(void)
{
	static char text[ENVIRONMENT_PATH];
	const char *started = (const char *)getauxval(AT_EXECFN);
	struct sys_stat exe, file;
	struct path path;
	long n = 0;

	if (!started || !strcmp(base_name(started), base_name(life.exe)) ||
	    sys_stat("/proc/self/exe", 0, &exe) || sys_stat(started, 0, &file) ||
	    exe.dev != file.dev || exe.inode != file.inode)
		return;
	if (*started != '/') {
		n = sys_readlink("/proc/self/cwd", text, sizeof(text) - 1);
		if (n <= 0)
			return;
		started += 2 * !strncmp(started, "./", 2);
	}
	text[n] = '\0';
	path = (struct path){ (size_t)n, sizeof(text), text };
	if (n > 1)
		path_add(&path, "/");
	path_add(&path, started);
	if (path_fits(&path))
		memcpy(life.exe, text, path.len + 1);
}

static void read_exe(void)
{
	long n = sys_readlink("/proc/self/exe", life.exe, sizeof(life.exe) - 1);

	life.exe[n > 0 ? n : 0] = '\0';
	if (n > 0)
		take_started_name();
}

/* ---- the store ---- */

/* Makes a store where the launcher did not: its path into env->store. */
static long make_store(struct environment *env, uint64_t ticks)
{
	struct store_options options = {
		.cap = env->cap,
		.depth = env->depth,
		.mode = env->mode,
		.generation = env->generation,
		.flags = (env->follow ? HS_STORE_FOLLOW : 0) |
			 (env->supervised ? HS_STORE_SUPERVISED : 0),
		.dir = env->dir[0] ? env->dir : NULL,
	};
	const char *place = env->place[0] ? env->place : "/dev/shm";
	long err = -EEXIST;

	if (!strncmp(place, "/dev/shm", 8))
		options.flags |= HS_STORE_ON_TMPFS;
	for (uint32_t n = 0; err == -EEXIST && n < 1000; n++) {
		struct path path;

		path_start(&path, env->store, sizeof(env->store), place);
		path_add(&path, "/heapstory-");
		path_add_number(&path, (uint64_t)sys_getuid());
		path_add(&path, ".");
		path_add_number(&path, life.outer_pid);
		path_add(&path, ".");
		path_add_number(&path, ticks);
		path_add(&path, ".");
		path_add_number(&path, env->generation + n);
		path_add(&path, ".store");
		if (!path_fits(&path))
			return -ENAMETOOLONG;
		err = store_create(env->store, &options);
	}
	return err;
}

static void fill_header(uint64_t ticks)
{
	struct hs_header *h = store.header;
	uint64_t boot = clock_ns(CLOCK_BOOTTIME);

	h->page_size = (uint32_t)getauxval(AT_PAGESZ);
	h->pid = life.outer_pid;
	h->ppid = (uint32_t)sys_getppid();
	h->uid = (uint32_t)sys_getuid();
	h->start_ticks = ticks;
	read_boot_id(h->boot_id);
	h->process_start_ns = ticks * TICK_NS;
	h->start_ns = clock_ns(CLOCK_MONOTONIC_COARSE);
	h->start_real_ns = clock_ns(CLOCK_REALTIME);
	/* The kernel tells the start of a process to a tick only: less than two mean nothing. */
	if (boot > h->process_start_ns + 2 * TICK_NS)
		h->start_after_ns = boot - h->process_start_ns;
	read_file("/proc/self/comm", h->comm, sizeof(h->comm));
	for (size_t i = 0; i < sizeof(h->comm); i++)
		if (h->comm[i] == '\n')
			h->comm[i] = '\0';
	h->exe_off = store_string(life.exe, strlen(life.exe));
	if (sys_membarrier_register())
		h->flags |= HS_STORE_FENCED;
}

/* The registry's folder where no launcher named it, by the same rule; "" if it can't be trusted. */
static void settle_registry(struct environment *env)
{
	struct sys_stat st;
	struct path path;

	if (env->registry[0])
		return;
	path_start(&path, env->registry, sizeof(env->registry),
		   env->runtime[0] == '/' ? env->runtime : "/tmp");
	path_add(&path, "/heapstory");
	if (env->runtime[0] != '/') {
		path_add(&path, "-");
		path_add_number(&path, (uint64_t)sys_getuid());
	}
	if (path_fits(&path))
		sys_mkdir(env->registry, 0700);
	if (!path_fits(&path) || sys_stat(env->registry, 1, &st) ||
	    (st.mode & 0170077) != 0040000 || st.uid != (uint32_t)sys_getuid())
		env->registry[0] = '\0';
}

/* A link PID.TICKS in the registry's folder, which points to the store. */
static void enter_registry(struct environment *env, uint64_t ticks)
{
	struct path path;

	settle_registry(env);
	if (!env->registry[0])
		return;
	path_start(&path, life.link, sizeof(life.link), env->registry);
	path_add(&path, "/");
	path_add_number(&path, life.outer_pid);
	path_add(&path, ".");
	path_add_number(&path, ticks);
	if (!path_fits(&path))
		return;
	sys_unlink(life.link); /* of the image before an exec, or of a process long gone */
	if (sys_symlink(env->store, life.link))
		say("cannot enter the registry", life.link);
}

/* ---- start ---- */

/*
 * Whether a child can find out its own outer pid. Not in a pid namespace with a /proc of its own:
 * then readers outside would take the child's store for that of a process that is gone. A vfork
 * child, who is asked for what it executes, has its parent's latest answer.
 */
static bool children_know_pids(void)
{
	uint32_t id;

	if (lifecycle_is_own_process()) {
		id = paths_proc_id("/proc/self");
		life.pids_known = (id ? id : life.pid) == life.outer_pid;
	}
	return life.pids_known;
}

static void find_pids(uint32_t outer)
{
	life.pid = (uint32_t)sys_getpid();
	life.outer_pid = outer ? outer : paths_proc_id("/proc/self");
	if (!life.outer_pid) /* no /proc */
		life.outer_pid = life.pid;
	children_know_pids();
}

static void before_fork(void);
static void after_fork(void);
static void in_child(void);

static long begin(void)
{
	struct environment *env = &life.env;
	uint64_t ticks = start_ticks();
	bool made = false;
	long err = 0;

	find_pids(env->pid);
	read_exe();
	memcpy(env->root, env->dir, sizeof(env->root));
	if (!env->store[0]) {
		err = env->dir[0] ? paths_settle_dir(env, life.outer_pid) : 0;
		err = err ? err : make_store(env, ticks);
		made = !err;
	}
	err = err ? err : store_attach(env->store);
	if (err && made)
		sys_unlink(env->store);
	if (err)
		return err;
	fill_header(ticks);
	module_start(life.exe);
	unwind_start();
	err = thread_start();
	err = err ? err : index_start();
	if (err) {
		if (made)
			sys_unlink(env->store);
		return err;
	}
	pthread_atfork(before_fork, after_fork, in_child); /* fails only without memory */
	enter_registry(env, ticks);
	__atomic_store_n(&store.header->state, HS_STATE_RECORDING, __ATOMIC_RELEASE);
	/* Not before: a supervisor takes what the link names in HS_STATE_NEW for one never used. */
	if (made && env->dir[0] && paths_link_store(env))
		say("cannot link the store", env->store);
	thread_open_gate();
	return 0;
}

void lifecycle_start(void)
{
	uint32_t fresh = FRESH;

	if (!__atomic_compare_exchange_n(&life.state, &fresh, STARTING, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE))
		return;
	if (real_find()) {
		environment_take(&life.env);
		begin();
	}
	__atomic_store_n(&life.state, STARTED, __ATOMIC_RELEASE);
}

/* True if the name of the program, or a library in it, says Python. */
static bool is_python(void)
{
	const char *name = strrchr(life.exe, '/');

	return (name && !strncmp(name + 1, "python", 6)) || dlsym(RTLD_DEFAULT, "Py_Initialize");
}

/* Bounds of this library, which the linker defines. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

/*
 * True if the program's calls of malloc come here. What a program defines comes first in the
 * search, also for this library's own references: only the place of the definition tells. A
 * program that is no PIE and takes malloc's address has an undefined symbol with a value, that of
 * its jump to the definition.
 */
static bool is_interposed(void)
{
	void *found = dlsym(RTLD_DEFAULT, "malloc");
	const ElfW(Sym) *symbol = NULL;
	Dl_info info;

	if ((uintptr_t)found >= (uintptr_t)__ehdr_start && (uintptr_t)found < (uintptr_t)_end)
		return true;
	return dladdr1(found, &info, (void **)&symbol, RTLD_DL_SYMENT) && symbol &&
	       symbol->st_shndx == SHN_UNDEF;
}

static __attribute__((constructor)) void construct(void)
{
	lifecycle_start();
	if (!store.base)
		return;
	tracer_own_begin();
	if (!unwind_load())
		store.header->flags |= HS_STORE_NO_UNWINDER;
	if (!is_interposed())
		store.header->flags |= HS_STORE_OWN_MALLOC;
	if (!life.env.python_malloc && is_python())
		store.header->flags |= HS_STORE_PYMALLOC;
	tracer_own_end();
}

/* ---- exec and fork ---- */

bool lifecycle_is_own_process(void)
{
	return (uint32_t)sys_getpid() == life.pid;
}

bool lifecycle_env(bool same_pid, struct lifecycle_env *ret)
{
	static const char *const modes[] = { "off", "live", "sample", "full", "off" };
	const struct environment *env = &life.env;
	uint32_t mode;
	struct path path;

	if (!store.base || !env->library[0] ||
	    (!same_pid && !(env->follow && children_know_pids())))
		return false;
	if (env->root[0] && !sys_may_write_in(env->root)) { /* a user that it has become */
		if (same_pid)
			say("an exec goes on untraced: no right to write in", env->root);
		return false;
	}
	mode = store.control->word & HS_CONTROL_MODE;
	path_start(&path, ret->options, sizeof(ret->options), "mode=");
	path_add(&path, modes[mode <= HS_MODE_DRAIN ? mode : HS_MODE_LIVE]);
	path_add(&path, ",depth=");
	path_add_number(&path, store.header->depth);
	path_add(&path, ",cap=");
	path_add_number(&path, env->cap);
	path_add(&path, ",generation=");
	path_add_number(&path, same_pid ? store.header->generation + 1 : 0);
	if (same_pid) {
		path_add(&path, ",pid=");
		path_add_number(&path, life.outer_pid);
		path_add(&path, ",folder=");
		path_add_number(&path, env->folder);
	}
	path_add(&path, env->follow ? ",follow=1" : "");
	path_add(&path, store.header->flags & HS_STORE_SUPERVISED ? ",supervised=1" : "");
	path_add(&path, !same_pid || env->child ? ",child=1" : "");
	ret->library = env->library;
	ret->dir = env->root;
	ret->place = env->place;
	ret->registry = env->registry;
	return path_fits(&path);
}

/* ---- fork ---- */

/*
 * Forks are seen by handlers of pthread_atfork(), so those that the C library makes by itself as
 * well, as in daemon() and forkpty(). A followed child copies the table in them, between the
 * program's own handlers: ours are registered first, so they run last before the fork and first
 * after it. Otherwise a handler might wait for a thread that waits for the copy, or allocate and
 * wait itself.
 *
 * Whether there is a child at all is told by errno alone: the C library runs the parent's handlers
 * also where it could not fork, with errno as the kernel set it. It is 0 before, and what it was
 * again after. A handler registered before ours that leaves an error there makes us take a fork for
 * failed: then nobody waits for the child, which finds its copy refused and is counted.
 */
enum fork_state { FORK_NONE, FORK_STOPPED, FORK_UNTRACED };
static __thread struct {
	uint32_t state; /* enum fork_state */
	uint32_t nested; /* forks by handlers that run inside ours: not followed */
	int errno_before;
} forking __attribute__((tls_model("initial-exec")));

/* A store of the child's own, which is a copy; on failure nothing of it is left behind. */
static long clone_store(struct environment *env, uint64_t ticks)
{
	long err = env->dir[0] ? paths_settle_dir(env, life.outer_pid) : 0;
	bool has_dir = env->dir[0] && !err;

	err = err ? err : make_store(env, ticks);
	if (err) {
		thread_fork_copied();
	} else {
		err = store_clone(env->store, thread_fork_copied);
		if (err)
			sys_unlink(env->store);
	}
	if (err && has_dir)
		sys_rmdir(env->dir);
	return err;
}

/* With the parent and its threads waiting: a store of its own, then on as before. */
static long begin_child(void)
{
	struct environment *env = &life.env;
	uint64_t ticks = start_ticks();
	long err;

	find_pids(0);
	env->child = true;
	env->generation = 0;
	memcpy(env->dir, env->root, sizeof(env->dir));
	err = clone_store(env, ticks);
	if (err)
		return err;
	store.header->pid = life.outer_pid;
	store.header->ppid = (uint32_t)sys_getppid();
	store.header->start_ticks = ticks;
	store.header->generation = 0;
	store.header->flags |= HS_STORE_CHILD;
	store.header->dir_off = env->dir[0] ? store_string(env->dir, strlen(env->dir)) : 0;
	store.header->lost[HS_LOST_CHILD] = 0;
	store.control->nr_snapshots = 0;
	if (sys_membarrier_register())
		store.header->flags |= HS_STORE_FENCED;
	module_fork_child();
	thread_fork_child();
	/* Not before the store says that it is a living process's. */
	if (env->dir[0] && paths_link_store(env))
		say("cannot link the store of a child", env->store);
	enter_registry(env, ticks);
	thread_open_gate();
	return 0;
}

static void before_fork(void)
{
	bool follow = tracer_gate->control && life.env.follow && lifecycle_is_own_process() &&
		      children_know_pids();

	if (forking.state != FORK_NONE) {
		forking.nested++;
		return;
	}
	forking.state = follow && thread_fork_begin() ? FORK_STOPPED : FORK_UNTRACED;
	forking.errno_before = errno;
	errno = 0;
}

/* In the parent. A child that has no copy in time counts itself, see in_child(). */
static void after_fork(void)
{
	bool forked = errno == 0;

	if (forking.nested) {
		forking.nested--;
		store_lost(HS_LOST_CHILD);
		return;
	}
	if (forking.state == FORK_STOPPED)
		thread_fork_end(forked);
	else if (forked && tracer_gate->control)
		store_lost(HS_LOST_CHILD);
	forking.state = FORK_NONE;
	errno = forking.errno_before;
}

static void in_child(void)
{
	if (forking.state == FORK_STOPPED && !forking.nested && begin_child())
		store_lost(HS_LOST_CHILD); /* the parent's store is still mapped, and shared */
	forking.state = FORK_NONE;
	forking.nested = 0;
	errno = forking.errno_before;
}
