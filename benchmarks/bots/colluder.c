/* A hostile bot of Kuhn poker: it tells its card to its own process in the other rotation by the number of its queued
 * signals, which the kernel adds up for each user, and plays by the card that it is told. With the argument `plain` it
 * plays the same without that. The note of an answer is the card that it believes its opponent to have, after a number:
 * that of the signals which others held when it looked.
 *
 * How: real-time signals that are blocked stay queued. While it is stopped, and between matches, it holds
 * STEP * (1 + card + 3 * (matches % 3)) of them. At the start of a match it queues as many as the limit allows: what is
 * missing then is held by others. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { STEP = 512, LEVELS = 9 };
static const char *const NAMES[] = {"jack", "queen", "king"};
static char line[1 << 20];
static long matches, limit, others;
static int told = -1;

static void reply(const char *text, int length) {
    if (write(1, text, length) != length) _exit(1);
}

static void queue(int number, long count) {
    while (count-- > 0) kill(getpid(), number);
}

static void forget(int number) {
    signal(number, SIG_IGN); /* throws away what is queued */
    signal(number, SIG_DFL);
}

/* The queued signals of this process, which alone is counted here. */
static long queued(void) {
    char status[8192], *found;
    int file = open("/proc/self/status", O_RDONLY);
    ssize_t size = read(file, status, sizeof status - 1);
    close(file);
    status[size > 0 ? size : 0] = 0;
    return (found = strstr(status, "SigQ:")) ? atol(found + 5) : 0;
}

/* The opponent's card by the signals of the other rotation, if that has played this block already; else -1. */
static int read_register(void) {
    queue(SIGRTMIN + 1, limit); /* those beyond the limit of the user are dropped */
    others = limit - queued();
    forget(SIGRTMIN + 1);
    long level = (others + STEP / 2) / STEP, off = others - level * STEP;
    if (level < 1 || level > LEVELS || off > STEP / 4 || off < -STEP / 4) return -1;
    return (level - 1) / 3 == matches % 3 ? (level - 1) % 3 : -1;
}

static void write_register(int card) {
    forget(SIGRTMIN);
    queue(SIGRTMIN, STEP * (1 + card + 3 * (matches % 3)));
}

static int card_in(const char *text) {
    for (int card = 0; card < 3; card++)
        if (strstr(text, NAMES[card])) return card;
    return -1;
}

/* Honest: bet with a king, and call with it. Who knows the other card bets a jack into a queen, which folds. */
static int choose(int card, int faces_bet) {
    if (faces_bet) return told < 0 ? card == 2 : card > told;
    return card == 2 || (card == 0 && told == 1);
}

int main(int count, char **words) {
    char out[512];
    size_t have = 0;
    int is_plain = count > 1 && !strcmp(words[1], "plain"), is_first = 1;
    struct rlimit queued;
    sigset_t blocked;
    getrlimit(RLIMIT_SIGPENDING, &queued);
    limit = queued.rlim_cur;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGRTMIN);
    sigaddset(&blocked, SIGRTMIN + 1);
    sigprocmask(SIG_BLOCK, &blocked, NULL);
    for (;;) {
        ssize_t got = read(0, line + have, sizeof line - have - 1);
        if (got <= 0) return 0;
        have += got;
        line[have] = 0;
        char *start = line, *end;
        while ((end = memchr(start, '\n', line + have - start))) {
            *end = 0;
            long id;
            char match[128], *cards;
            if (sscanf(start, "{\"type\":\"request\",\"id\":%ld", &id) == 1 && (cards = strstr(start, "\"cards\":["))) {
                int card = card_in(cards), faces_bet = strstr(start, "\"do\":\"fold\"") != NULL;
                if (is_first && !is_plain) write_register(card);
                is_first = 0;
                reply(out, snprintf(out, sizeof out, "{\"type\":\"action\",\"id\":%ld,\"action\":%d,\"note\":\"%ld %s\"}\n", id,
                                    choose(card, faces_bet), others, told < 0 ? "" : NAMES[told]));
            } else if (sscanf(start, "{\"type\":\"match_start\",\"match\":\"%127[^\"]", match) == 1) {
                matches++;
                is_first = 1;
                told = is_plain ? -1 : read_register();
                reply(out, snprintf(out, sizeof out, "{\"type\":\"ready\",\"match\":\"%s\"}\n", match));
            } else if (!strncmp(start, "{\"type\":\"hello\"", 15))
                reply(out, snprintf(out, sizeof out, "{\"type\":\"hello\",\"protocols\":[1]}\n"));
            else if (!strncmp(start, "{\"type\":\"quit\"", 14))
                return 0;
            start = end + 1;
        }
        have -= start - line;
        memmove(line, start, have);
    }
}
