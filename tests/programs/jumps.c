/* SPDX-License-Identifier: MIT */
/*
 * jumps.c - signal handlers that interrupt the tracer itself, and leave it in every way.
 *
 * usage: jumps HOW
 *
 * jump    siglongjmp out of the handler: the hook never goes on. In the first thread.
 * thread  the same in another thread.
 * alt     allocate in the handler, on a signal stack that lies in main's frame, and return.
 * switch  the hook runs on a coroutine's stack; the handler allocates on another and comes back.
 * exit    pthread_exit out of the handler, each time in a new thread, with a fork after each.
 *
 * Each has the tracer interrupted 100 times (20 threads for exit), never the allocator below it.
 * Then 1000 blocks of 24 bytes stay, made by that thread at after_signals. Exit prints how many
 * milliseconds the forks took. Untraced, nothing is ever interrupted: then it ends with 77.
 */
#include "mark.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>

#define TIMES 100

static uintptr_t tracer_start, tracer_end;
static volatile sig_atomic_t armed;
static volatile int interrupted;
static sigjmp_buf back;
static const char *how;
static ucontext_t outside, inside;
static uint64_t stack_inside[8192];

/* Where the library lies that has the first malloc. */
static void find_tracer(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[4400];
	Dl_info info;

	if (!maps || !dladdr(dlsym(RTLD_DEFAULT, "malloc"), &info) ||
	    !strstr(info.dli_fname, "libheapstory"))
		_exit(77);
	while (fgets(line, sizeof(line), maps)) {
		uintptr_t start, end;
		char access[8];

		if (strstr(line, "libheapstory") &&
		    sscanf(line, "%lx-%lx %7s", &start, &end, access) == 3 && strchr(access, 'x')) {
			tracer_start = start;
			tracer_end = end;
		}
	}
	fclose(maps);
}

static uintptr_t pc_of(const ucontext_t *context)
{
#if defined(__x86_64__)
	return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#else
	return (uintptr_t)context->uc_mcontext.pc;
#endif
}

static void use(size_t size)
{
	sink = malloc(size);
	free(sink);
}

static void handle(int sig, siginfo_t *info, void *context)
{
	uintptr_t pc = pc_of(context);
	int saved = errno;

	(void)sig;
	(void)info;
	if (!armed || pc < tracer_start || pc >= tracer_end)
		return;
	interrupted++;
	if (!strcmp(how, "jump") || !strcmp(how, "thread"))
		siglongjmp(back, 1);
	if (!strcmp(how, "exit")) {
		armed = 0;
		pthread_exit(NULL);
	}
	if (!strcmp(how, "switch"))
		swapcontext(&inside, &outside);
	else
		use(48);
	errno = saved;
}

/* A block that a jump takes away stays for ever, as it would without the tracer. */
NOINLINE static void churn(int times)
{
	while (interrupted < times) {
		for (size_t i = 1; i < 100; i++)
			use(i * 24);
	}
}

NOINLINE static void jump_all(void)
{
	armed = 1;
	sigsetjmp(back, 1);
	churn(TIMES);
	armed = 0;
}

NOINLINE static void after_signals(void)
{
	for (int i = 0; i < 1000; i++)
		sink = malloc(24);
}

static void *thread(void *arg)
{
	jump_all();
	after_signals();
	return arg;
}

/* The thread that is to be interrupted gets a signal after each of these pauses. */
static void pause_shortly(long us)
{
	struct timespec ts = { 0, us * 1000 };

	nanosleep(&ts, NULL);
}

static void *shoot(void *arg)
{
	pthread_t target = *(pthread_t *)arg;

	while (interrupted < TIMES) {
		pthread_kill(target, SIGUSR1);
		pause_shortly(70);
	}
	return NULL;
}

static void in_thread(void)
{
	pthread_t t;

	pthread_create(&t, NULL, thread, NULL);
	while (interrupted < TIMES) {
		pthread_kill(t, SIGUSR1);
		pause_shortly(70);
	}
	pthread_join(t, NULL);
}

static void in_first(void (*run)(void))
{
	pthread_t self = pthread_self(), shooter;

	pthread_create(&shooter, NULL, shoot, &self);
	run();
	pthread_join(shooter, NULL);
}

static void churn_all(void)
{
	armed = 1;
	churn(TIMES);
	armed = 0;
}

static void switch_all(void)
{
	getcontext(&inside);
	inside.uc_stack.ss_sp = stack_inside;
	inside.uc_stack.ss_size = sizeof(stack_inside);
	inside.uc_link = &outside;
	makecontext(&inside, churn_all, 0);
	for (;;) {
		swapcontext(&outside, &inside);
		if (interrupted >= TIMES && !armed)
			return;
		use(48); /* while the hook is interrupted, on its coroutine's stack */
	}
}

static void *churn_to_end(void *arg)
{
	armed = 1;
	churn(*(int *)arg);
	return NULL;
}

static long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* A thread that ends in a hook must not make those wait that want all threads out of hooks. */
static void exit_all(void)
{
	long spent = 0;

	for (int i = 1; i <= 20; i++) {
		long start;
		pthread_t t;
		pid_t pid;

		pthread_create(&t, NULL, churn_to_end, &i);
		while (interrupted < i) {
			pthread_kill(t, SIGUSR1);
			pause_shortly(70);
		}
		pthread_join(t, NULL);
		start = now_ms();
		pid = fork();
		if (pid == 0)
			_exit(0);
		spent += now_ms() - start;
		waitpid(pid, NULL, 0);
	}
	say("MS", spent);
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_sigaction = handle, .sa_flags = SA_SIGINFO };
	uint64_t frame[2048];
	stack_t alt = { .ss_sp = frame, .ss_size = sizeof(frame) };

	how = argc > 1 ? argv[1] : "jump";
	find_tracer();
	if (!strcmp(how, "alt")) {
		sigaltstack(&alt, NULL);
		action.sa_flags |= SA_ONSTACK;
	}
	sigaction(SIGUSR1, &action, NULL);
	if (!strcmp(how, "jump"))
		in_first(jump_all);
	else if (!strcmp(how, "thread"))
		in_thread();
	else if (!strcmp(how, "alt"))
		in_first(churn_all);
	else if (!strcmp(how, "switch"))
		in_first(switch_all);
	else
		exit_all();
	if (strcmp(how, "thread"))
		after_signals();
	return 0;
}
