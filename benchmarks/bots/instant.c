/* An instant bot: answers every request with action 0, without parsing more than the id and the match. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char line[1 << 20];

static void reply(const char *text, int length) {
    if (write(1, text, length) != length) _exit(1);
}

int main(void) {
    char out[256];
    size_t held = 0;
    for (;;) {
        ssize_t got = read(0, line + held, sizeof line - held - 1);
        if (got <= 0) return 0;
        held += got;
        line[held] = 0;
        char *start = line, *end;
        while ((end = memchr(start, '\n', line + held - start))) {
            *end = 0;
            long id;
            char match[128];
            if (sscanf(start, "{\"type\":\"request\",\"id\":%ld", &id) == 1)
                reply(out, snprintf(out, sizeof out, "{\"type\":\"action\",\"id\":%ld,\"action\":0}\n", id));
            else if (sscanf(start, "{\"type\":\"match_start\",\"match\":\"%127[^\"]", match) == 1)
                reply(out, snprintf(out, sizeof out, "{\"type\":\"ready\",\"match\":\"%s\"}\n", match));
            else if (!strncmp(start, "{\"type\":\"hello\"", 15))
                reply(out, snprintf(out, sizeof out, "{\"type\":\"hello\",\"protocols\":[1]}\n"));
            else if (!strncmp(start, "{\"type\":\"quit\"", 14))
                return 0;
            start = end + 1;
        }
        held -= start - line;
        memmove(line, start, held);
    }
}
