/* A bot for arena, in C99 without a library.
 *
 * It plays a legal action at random, in any game; the rest is up to you, in `act`. The messages are those of
 * protocol.md: a line of JSON comes in, a line goes out. Types and fields you do not know are to be ignored.
 * stderr goes to the bot's log; stdout belongs to the referee.
 *
 * JSON is read where it lies: a value is a pointer to its first character. `member` and `element` find a value inside
 * another one, `atoi` reads a number, `is_text` compares a string.
 *
 * Build and try it from the folder above this one:  arena check ./<this folder> */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- JSON ---- */

static const char *skip_space(const char *p) {
    while (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r') p++;
    return p;
}

static const char *skip_string(const char *p) {
    for (p++; *p && *p != '"'; p++)
        if (*p == '\\' && p[1]) p++;
    return *p ? p + 1 : p;
}

/* The character behind the value at `p`. */
static const char *skip_value(const char *p) {
    int depth = 0;
    if (*p == '"') return skip_string(p);
    if (*p != '{' && *p != '[') return p + strcspn(p, ",]} \t\r\n");
    do {
        if (*p == '"') {
            p = skip_string(p);
            continue;
        }
        if (*p == '{' || *p == '[') depth++;
        if (*p == '}' || *p == ']') depth--;
        p++;
    } while (*p && depth);
    return p;
}

/* The first item of the array or object at `p`, or the next item after the value at `p`; NULL at the end. */
static const char *first(const char *p) {
    p = skip_space(p + 1);
    return *p == ']' || *p == '}' || !*p ? NULL : p;
}

static const char *next(const char *p) {
    p = skip_space(skip_value(p));
    return *p == ',' ? skip_space(p + 1) : NULL;
}

/* Is the value at `p` this string? Escapes are not resolved: the referee writes plain letters as they are. */
static int is_text(const char *p, const char *text) {
    size_t length = strlen(text);
    return p && *p == '"' && !strncmp(p + 1, text, length) && p[1 + length] == '"';
}

/* The value of a key in the object at `p`, NULL if it has no such key. */
static const char *member(const char *p, const char *key) {
    for (p = first(p); p; p = next(p)) {
        int found = is_text(p, key);
        p = skip_space(skip_space(skip_string(p)) + 1); /* over the colon */
        if (found) return p;
    }
    return NULL;
}

/* Yours to use: the item of the array at `p` with that index, from 0, and the number of its items. */
static const char *element(const char *p, int index) {
    for (p = first(p); p && index--;) p = next(p);
    return p;
}

static int count(const char *p) {
    int items = 0;
    for (p = first(p); p; p = next(p)) items++;
    return items;
}

/* ---- your bot ---- */

static unsigned long long state; /* of a 64-bit generator (xorshift); the same seed gives the same match */

static int random_below(int limit) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (int)((state >> 33) % (unsigned)limit);
}

static void start(const char *match) {
    state = strtoull(member(match, "bot_seed"), NULL, 10) + 0x9e3779b97f4a7c15ULL;
}

/* Prints the index of an action in `legal`, or an action. member(request, "view") is all you may know. */
static void act(const char *request) {
    const char *legal = member(request, "legal");
    if (*legal == '[') {
        const char *second = element(legal, 1); /* NULL if there is no choice */
        printf("%d", second ? random_below(count(legal)) : 0);
    } else { /* null: the actions cannot be listed. In riffraff one may pass then; what else may be done, the game's
              * section of protocol.md tells. */
        printf("{\"pass\":true}");
    }
}

/* ---- the protocol ---- */

/* A line of any length from stdin; NULL at the end of input. The buffer is used again. */
static char *read_line(void) {
    static char *line = NULL;
    static size_t size = 0;
    size_t length = 0;
    for (;;) {
        if (size - length < 2) {
            size = size ? 2 * size : 1 << 16;
            line = realloc(line, size);
            if (!line) exit(1);
        }
        if (!fgets(line + length, (int)(size - length), stdin)) return length ? line : NULL;
        length += strlen(line + length);
        if (length && line[length - 1] == '\n') return line;
    }
}

/* A value as it came, quotes and all. */
static void print_value(const char *p) { printf("%.*s", (int)(skip_value(p) - p), p); }

int main(void) {
    char *line;
    while ((line = read_line())) {
        const char *message = skip_space(line), *type;
        if (*message != '{') continue;
        type = member(message, "type");
        if (is_text(type, "quit")) break;
        if (is_text(type, "hello")) {
            puts("{\"type\":\"hello\",\"protocols\":[1]}");
        } else if (is_text(type, "match_start")) {
            start(message);
            printf("{\"type\":\"ready\",\"match\":");
            print_value(member(message, "match"));
            puts("}");
        } else if (is_text(type, "request")) {
            printf("{\"type\":\"action\",\"id\":");
            print_value(member(message, "id"));
            printf(",\"action\":");
            act(message);
            puts("}");
        }
        fflush(stdout);
    }
    return 0;
}
