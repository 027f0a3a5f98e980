/* greedy in C99, no library: the rule of bots/greedy/bot.py, action by action.
 *
 * The worth of a card is its value (a sailor's 1 to 4, 2 for a dirty trick), 0 if it is led already or lies face down;
 * the worth of a placement is the sum of the worths of its cards. The best placement is taken, the first of equals;
 * without one, the first legal action.
 *
 * JSON is read where it lies: a value is a pointer to its first character. Nothing is copied, and the order of the
 * keys, white space and escapes do not matter. */

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

/* The next character of a JSON string, escapes resolved; 0 at its end. Beyond ASCII only inequality matters. */
static int string_char(const char **p) {
    const char *c = *p, *letter;
    char digits[5] = "";
    *p = c + 1;
    if (*c == '"' || !*c) return 0;
    if (*c != '\\') return (unsigned char)*c;
    *p = c + 2;
    if (c[1] == 'u') {
        strncpy(digits, c + 2, 4);
        *p = c + 2 + strlen(digits);
        return (int)strtol(digits, NULL, 16);
    }
    letter = c[1] ? strchr("b\bf\fn\nr\rt\t", c[1]) : NULL;
    return letter ? letter[1] : c[1];
}

static int is_text(const char *value, const char *text) {
    int c;
    if (!value || *value++ != '"') return 0;
    do {
        c = string_char(&value);
        if (c != (unsigned char)*text++) return 0;
    } while (c);
    return 1;
}

/* The value of a key in the object at `p`, NULL if it has no such key or there is no object. */
static const char *member(const char *p, const char *key) {
    for (p = p ? first(p) : NULL; p; p = next(p)) {
        int found = is_text(p, key);
        p = skip_space(skip_space(skip_string(p)) + 1); /* over the colon */
        if (found) return p;
    }
    return NULL;
}

static const char *element(const char *p, int index) {
    for (p = first(p); p && index--;) p = next(p);
    return p;
}

static int number_at(const char *array, int index) { return atoi(element(array, index)); }

/* ---- the rule ---- */

/* 1 to 4 for a sailor, which reads "french 3"; 2 for a trick, which reads "reroll". */
static int card_value(const char *card) {
    int c, last = 0;
    for (card++; (c = string_char(&card));) last = c;
    return last >= '0' && last <= '9' ? last - '0' : 2;
}

static int is_face_down(const char *view, int number) {
    const char *numbers = member(member(member(view, "expansions"), "sharks"), "face_down"), *other;
    for (other = numbers ? first(numbers) : NULL; other; other = next(other))
        if (atoi(other) == number) return 1;
    return 0;
}

static int card_worth(const char *view, int number, int is_one_left) {
    int me = atoi(member(view, "you"));
    const char *players = member(view, "players");
    const char *mine = member(element(players, me), "placed"), *theirs = member(element(players, 1 - me), "placed");
    if (number_at(mine, number - 1) > number_at(theirs, number - 1)) return 0;
    if (is_face_down(view, number)) return 0;
    return card_value(element(member(view, "tavern"), is_one_left ? number - 1 : 6 - number));
}

static int placement_worth(const char *view, const char *placement) {
    int worth = 0;
    const char *die, *one_at = member(placement, "one");
    if (!one_at || *one_at != '"') one_at = member(view, "one_at");
    for (die = first(member(placement, "dice")); die; die = next(die))
        worth += card_worth(view, atoi(die), is_text(one_at, "left"));
    return worth;
}

static int choose(const char *view, const char *legal) {
    int index = 0, best = 0, best_worth = -1;
    const char *action;
    for (action = first(legal); action; action = next(action), index++) {
        int worth = is_text(member(action, "do"), "place") ? placement_worth(view, action) : -1;
        if (worth > best_worth) best_worth = worth, best = index;
    }
    return best;
}

/* ---- the protocol ---- */

/* A value as it came, quotes and all. */
static void print_value(const char *p) { printf("%.*s", (int)(skip_value(p) - p), p); }

/* A line of any length from stdin, without the newline; NULL at the end of input. The buffer is used again. */
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

int main(void) {
    char *line;
    while ((line = read_line())) {
        const char *message = skip_space(line), *type;
        if (*message != '{') continue;
        type = member(message, "type");
        if (is_text(type, "quit")) break;
        if (is_text(type, "hello")) {
            puts("{\"type\":\"hello\",\"protocols\":[1],\"name\":\"greedy-c\",\"version\":\"2\"}");
        } else if (is_text(type, "match_start")) {
            printf("{\"type\":\"ready\",\"match\":");
            print_value(member(message, "match"));
            puts("}");
        } else if (is_text(type, "request")) {
            printf("{\"type\":\"action\",\"id\":");
            print_value(member(message, "id"));
            printf(",\"action\":%d}\n", choose(member(message, "view"), member(message, "legal")));
        }
        fflush(stdout);
    }
    return 0;
}
