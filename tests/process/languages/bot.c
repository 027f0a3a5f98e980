#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
static void *work(void *unused) {
    (void)unused;
    for (int i = 0; i < 100; i++) { char *kept = malloc(1 << 20); memset(kept, i, 1 << 20); free(kept); }
    return 0;
}
int main(void) {
    char line[99];
    while (fgets(line, sizeof line, stdin)) {
        pthread_t threads[8];
        for (int i = 0; i < 8; i++) if (pthread_create(threads + i, 0, work, 0)) abort();
        for (int i = 0; i < 8; i++) pthread_join(threads[i], 0);
        nanosleep(&(struct timespec){0, 1000000}, 0);
        printf("got %s", line);
        fflush(stdout);
    }
}
