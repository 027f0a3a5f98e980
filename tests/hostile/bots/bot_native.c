/* Ways around a filter that knows the calls of one processor by their names: another ABI's, a bare clone, and a thread
   with a table of open files of its own, which multiplies what a bot can hold in pipes and sockets. */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static char stack[1 << 16];

static int wait_for_ever(void *nothing) {
    (void)nothing;
    for (;;) syscall(SYS_ppoll, 0, 0, 0, 0, 0);
}

static long attempt(const char *behaviour) {
#if defined(__x86_64__)
    if (!strcmp(behaviour, "old-abi")) { /* fork of the 32-bit table */
        long result;
        __asm__ volatile("int $0x80" : "=a"(result) : "a"(2) : "memory", "r8", "r9", "r10", "r11");
        return result;
    }
    if (!strcmp(behaviour, "x32-abi")) return syscall(57 | 0x40000000); /* fork of the x32 table */
#endif
    if (!strcmp(behaviour, "own-table"))
        return clone(wait_for_ever, stack + sizeof stack, CLONE_VM | CLONE_FS | CLONE_SIGHAND | CLONE_THREAD, 0);
    return syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

int main(int count, char **arguments) {
    char line[1 << 16], match[200];
    (void)count;
    setvbuf(stdout, 0, _IOLBF, 0);
    while (fgets(line, sizeof line, stdin)) {
        char *found = strstr(line, "\"match\":\"");
        if (strstr(line, "\"type\":\"hello\"")) puts("{\"type\":\"hello\",\"protocols\":[1]}");
        else if (strstr(line, "\"type\":\"match_start\"") && found && sscanf(found + 9, "%199[^\"]", match) == 1)
            printf("{\"type\":\"ready\",\"match\":\"%s\"}\n", match);
        else if ((found = strstr(line, "\"type\":\"request\"")) && (found = strstr(line, "\"id\":"))) {
            int id = 0;
            long result = attempt(arguments[1]);
            if (result == 0) pause(); /* the child */
            sscanf(found + 5, "%d", &id);
            printf("{\"type\":\"action\",\"id\":%d,\"action\":0,\"note\":\"%s: %ld\"}\n", id,
                   result > 0 ? "BROKE" : "kept", result);
        } else if (strstr(line, "\"type\":\"quit\"")) return 0;
    }
    return 0;
}
