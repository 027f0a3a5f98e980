/* A program that does not want to be stopped: threads that send SIGCONT to it for a while after each answer, by the call
   that its first argument names, and then compute until they are asked again; `none` computes only. The second argument is
   the number of threads.
   It answers each line with the same line. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const char *way;
static volatile int round_number, is_asked = 1;
static int handle = -1;
static volatile long refused;

static long race(long tricky) {
    long number = SIGCONT | tricky, me = getpid();
    if (!strcmp(way, "kill")) return syscall(SYS_kill, me, number);
    if (!strcmp(way, "group")) return syscall(SYS_kill, 0, number);
    if (!strcmp(way, "all")) return syscall(SYS_kill, -1L, number);
    if (!strcmp(way, "tkill")) return syscall(SYS_tkill, me, number);
    if (!strcmp(way, "tgkill")) return syscall(SYS_tgkill, me, me, number);
    if (!strcmp(way, "pidfd")) return syscall(SYS_pidfd_send_signal, handle, number, NULL, 0);
    siginfo_t info = {.si_signo = SIGCONT, .si_code = SI_QUEUE};
    if (!strcmp(way, "queue")) return syscall(SYS_rt_sigqueueinfo, me, number, &info);
    return syscall(SYS_rt_tgsigqueueinfo, me, me, number, &info);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static void *compete(void *nothing) {
    int seen = 0;
    (void)nothing;
    for (;;) {
        while (is_asked || seen == round_number) usleep(100);
        seen = round_number;
        double end = strcmp(way, "none") ? now() + 0.012 : 0;
        for (long count = 0; now() < end && !is_asked; count++)
            if (race(count & 1 ? 1L << 32 : 0)) refused = errno;
        while (!is_asked) { /* think */ }
    }
}

int main(int count, char **arguments) {
    char line[1 << 12];
    way = arguments[1];
    handle = syscall(SYS_pidfd_open, getpid(), 0);
    for (int number = count > 2 ? atoi(arguments[2]) : 1; number > 0; number--) {
        pthread_t thread;
        pthread_create(&thread, NULL, compete, NULL);
    }
    while (fgets(line, sizeof line, stdin)) {
        is_asked = 1;
        usleep(2000);
        round_number++;
        is_asked = 0;
        if (write(1, line, strlen(line)) < 0) return 1;
    }
    return 0;
}
