/* arena_kit: the protocol arena/1 for bots in C99, without a library.
 *
 * You write one function and call `play`:
 *
 *   #include "arena_kit.h"
 *
 *   static const json *choose(const json *view, const json *legal, const json *clock) {
 *       return element(legal, 0);
 *   }
 *
 *   int main(void) { return play(choose); }
 *
 *   view      all that your seat may know, as protocol.md describes it for the game; an object
 *   legal     the legal actions, an array; NULL where they cannot be listed
 *   clock     milliseconds: number(member(clock, "move_ms")) for this move, "bank_ms" in the bank
 *   returns   one of `legal`, or an action of your own as JSON: action("{\"column\":%d}", 3)
 *
 * You may use:
 *
 *   member(object, "key")     the value of that key, NULL if there is none
 *   element(array, 2)         the item with that index, from 0; NULL if there is none
 *   count(value)              the number of its items or members
 *   value->first, ->next      the first item or member of a value, and the one behind it; ->key: the key of a member
 *   number(value)             the number, 0 if it is none; true is 1, false 0
 *   text(value)               the text in UTF-8, "" if it is none; is_text(value, "roll") compares
 *   is_null(value)            it is null, or not there at all
 *   kit.request               the whole message: events, refused...
 *   note("I am %s", "ahead")  a note that stands at this step in `arena show`
 *   random_below(6)           0 to 5, by a generator that is seeded for each match, so that it can be repeated
 *   printf, fprintf(stderr)   go to stderr, and `arena match --steps` shows it; stdout is the referee's
 *   kit.hello, kit.match      the messages `hello` and `match_start`
 *   kit.start, kit.end        set them to functions before `play`: they get `match_start` and `match_end`
 *   kit.evaluate              set it to a function (view, legal, budget_ms, values) that judges every action for
 *                             `arena coach --by`: it fills in values from 0 to 1, in the order of `legal`
 *   simulate("{\"load\":%s}", ...)  asks the simulator, in games that have one: the message `simulated`, or NULL if the
 *                             referee has gone on; then return NULL. kit.simulations is what is left for questions
 *
 * Each function above takes NULL for a value and does no harm with it. Values live until the next request. JSON that is
 * none, or deeper than 200, ends the process with a sentence on stderr; the match is lost, and its story has it. */

#ifndef ARENA_KIT_H
#define ARENA_KIT_H

#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef enum { JSON_NULL, JSON_FALSE, JSON_TRUE, JSON_NUMBER, JSON_TEXT, JSON_ARRAY, JSON_OBJECT } json_kind;

typedef struct json json;
struct json {
    json_kind kind;
    int count;              /* of items or members */
    double number;
    const char *text;       /* of a text */
    const char *key;        /* of a member of an object */
    const char *raw;        /* the value as it came, raw_length bytes */
    size_t raw_length;
    const json *first, *next;
};

typedef const json *(*choose_function)(const json *view, const json *legal, const json *clock);
typedef void (*evaluate_function)(const json *view, const json *legal, double budget_ms, double *values);

static struct {
    const json *hello, *match, *request;
    int simulations;
    void (*start)(const json *match);
    void (*end)(const json *result);
    evaluate_function evaluate;
} kit;

/* ---- values ---- */

static inline const json *member(const json *object, const char *key) {
    const json *each = object && object->kind == JSON_OBJECT ? object->first : NULL;
    while (each && strcmp(each->key, key)) each = each->next;
    return each;
}

static inline const json *element(const json *array, int index) {
    const json *each = array && index >= 0 ? array->first : NULL;
    while (each && index--) each = each->next;
    return each;
}

static inline int count(const json *value) { return value ? value->count : 0; }
static inline double number(const json *value) { return value ? value->number : 0; }
static inline const char *text(const json *value) { return value && value->text ? value->text : ""; }
static inline int is_null(const json *value) { return !value || value->kind == JSON_NULL; }
static inline int is_text(const json *value, const char *other) {
    return value && value->kind == JSON_TEXT && !strcmp(value->text, other);
}

/* ---- reading JSON ----
 *
 * The values of a line lie in one block of memory with the line and its texts. A value begins the line or follows one of
 * `[`, `{`, `,` (and the key before it), so these characters bound their number; a text is never longer than it was. */

typedef struct block block;
struct block {
    block *older;
    json *values;
    char *texts;
    const char *at, *end;
};

static inline void fail(const char *trouble) {
    fprintf(stderr, "arena_kit: %s\n", trouble);
    exit(1);
}

static inline char peek(block *b) {
    while (b->at < b->end && strchr(" \t\r\n", *b->at)) b->at++;
    return b->at < b->end ? *b->at : 0;
}

static inline void expect(block *b, char wanted) {
    if (peek(b) != wanted) fail("a line that is not JSON");
    b->at++;
}

static inline unsigned four_digits(block *b) {
    unsigned value = 0;
    int each;
    for (each = 0; each < 4; each++, b->at++) {
        const char *digits = "0123456789abcdef", *found;
        char c = b->at < b->end ? *b->at : 0;
        found = c ? strchr(digits, c >= 'A' && c <= 'F' ? c + 32 : c) : NULL;
        if (!found) fail("a wrong \\u in a text of JSON");
        value = 16 * value + (unsigned)(found - digits);
    }
    return value;
}

static inline char *put_utf8(char *out, unsigned code) {
    if (code < 0x80) return *out++ = (char)code, out;
    if (code < 0x800) {
        *out++ = (char)(0xc0 | code >> 6);
    } else if (code < 0x10000) {
        *out++ = (char)(0xe0 | code >> 12);
        *out++ = (char)(0x80 | (code >> 6 & 0x3f));
    } else {
        *out++ = (char)(0xf0 | code >> 18);
        *out++ = (char)(0x80 | (code >> 12 & 0x3f));
        *out++ = (char)(0x80 | (code >> 6 & 0x3f));
    }
    *out++ = (char)(0x80 | (code & 0x3f));
    return out;
}

/* Behind a backslash. Above 16 bits a character is escaped as a pair. */
static inline char *put_escaped(block *b, char *out) {
    static const char letters[] = "\"\"\\\\//b\bf\fn\nr\rt\t";
    char c = b->at < b->end ? *b->at++ : 0;
    unsigned code, low;
    int each;
    for (each = 0; c != 'u' && letters[each]; each += 2)
        if (letters[each] == c) return *out++ = letters[each + 1], out;
    if (c != 'u') fail("a wrong escape in a text of JSON");
    code = four_digits(b);
    if (code >= 0xd800 && code < 0xdc00 && b->end - b->at > 5 && b->at[0] == '\\' && b->at[1] == 'u') {
        b->at += 2;
        low = four_digits(b);
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    return put_utf8(out, code & 0x1fffff);
}

static inline const char *read_text(block *b) {
    const char *begin = b->texts;
    char *out = b->texts;
    expect(b, '"');
    while (b->at < b->end && *b->at != '"') {
        char c = *b->at++;
        if (c == '\\') out = put_escaped(b, out);
        else *out++ = c;
    }
    expect(b, '"');
    *out++ = 0;
    b->texts = out;
    return begin;
}

static inline int read_word(block *b, const char *word) {
    size_t length = strlen(word);
    if ((size_t)(b->end - b->at) < length || memcmp(b->at, word, length)) return 0;
    b->at += length;
    return 1;
}

static inline const json *read_value(block *b, int depth);

static inline void read_items(block *b, json *value, char close, int depth) {
    const json **behind = &value->first;
    b->at++;
    if (peek(b) == close) {
        b->at++;
        return;
    }
    for (;;) {
        const char *key = NULL;
        json *item;
        if (close == '}') {
            key = read_text(b);
            expect(b, ':');
        }
        item = (json *)read_value(b, depth + 1);
        item->key = key;
        *behind = item;
        behind = &item->next;
        value->count++;
        if (peek(b) != ',') break;
        b->at++;
        peek(b);
    }
    expect(b, close);
}

static inline const json *read_value(block *b, int depth) {
    json *value = b->values++;
    char c = peek(b), *end;
    if (depth > 200) fail("JSON that is nested too deeply");
    value->raw = b->at;
    if (c == '"') {
        value->kind = JSON_TEXT;
        value->text = read_text(b);
    } else if (c == '[' || c == '{') {
        value->kind = c == '[' ? JSON_ARRAY : JSON_OBJECT;
        read_items(b, value, c == '[' ? ']' : '}', depth);
    } else if (read_word(b, "true")) {
        value->kind = JSON_TRUE;
        value->number = 1;
    } else if (read_word(b, "false")) {
        value->kind = JSON_FALSE;
    } else if (!read_word(b, "null")) {
        value->kind = JSON_NUMBER;
        value->number = strtod(b->at, &end);
        if (end == b->at || !strchr("-0123456789", c)) fail("a line that is not JSON");
        b->at = end;
    }
    value->raw_length = (size_t)(b->at - value->raw);
    return value;
}

/* The value in a line, copied. It is freed with `forget`. */
static inline const json *parse(const char *line, size_t length, block **kept) {
    size_t values = 1, each;
    block *b;
    char *copy;
    const json *value;
    for (each = 0; each < length; each++) values += line[each] == '[' || line[each] == '{' || line[each] == ',';
    b = calloc(1, sizeof *b + values * sizeof(json) + 2 * (length + 1));
    if (!b) fail("out of memory");
    b->values = (json *)(b + 1);
    copy = (char *)(b->values + values);
    b->texts = copy + length + 1;
    memcpy(copy, line, length);
    b->at = copy;
    b->end = copy + length;
    b->older = *kept;
    *kept = b;
    value = read_value(b, 0);
    if (peek(b)) fail("a line that is not JSON: something follows its value");
    return value;
}

static inline void forget(block **kept) {
    while (*kept) {
        block *older = (*kept)->older;
        free(*kept);
        *kept = older;
    }
}

/* ---- for your bot ---- */

static struct {
    FILE *referee;
    char *line, *notes;
    size_t line_size, notes_length;
    block *of_process, *of_match, *of_request;
    const json *overtaken; /* what came instead of an answer of the simulator */
    int queries;
    uint64_t random;
} inner;

static inline int random_below(int limit) { /* splitmix64 */
    uint64_t mixed = inner.random += 0x9e3779b97f4a7c15ULL;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9ULL;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebULL;
    return limit > 1 ? (int)((mixed ^ mixed >> 31) % (uint64_t)limit) : 0;
}

static inline char *formatted(const char *format, va_list arguments) {
    va_list again;
    int length;
    char *made;
    va_copy(again, arguments);
    length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    made = length < 0 ? NULL : malloc((size_t)length + 1);
    if (!made) fail("out of memory");
    vsnprintf(made, (size_t)length + 1, format, arguments);
    return made;
}

static inline const json *action(const char *format, ...) {
    va_list arguments;
    char *made;
    const json *value;
    va_start(arguments, format);
    made = formatted(format, arguments);
    va_end(arguments);
    value = parse(made, strlen(made), &inner.of_request);
    free(made);
    return value;
}

static inline void note(const char *format, ...) {
    va_list arguments;
    char *made;
    size_t length;
    va_start(arguments, format);
    made = formatted(format, arguments);
    va_end(arguments);
    length = strlen(made);
    inner.notes = realloc(inner.notes, inner.notes_length + length + 2);
    if (!inner.notes) fail("out of memory");
    if (inner.notes_length) inner.notes[inner.notes_length++] = '\n';
    memcpy(inner.notes + inner.notes_length, made, length + 1);
    inner.notes_length += length;
    free(made);
}

/* ---- the referee ---- */

/* The next line that is not blank, NULL at the end of input. The buffer is used again. */
static inline char *read_line(void) {
    ssize_t length;
    do length = getline(&inner.line, &inner.line_size, stdin);
    while (length >= 0 && !inner.line[strspn(inner.line, " \t\r\n")]);
    return length < 0 ? NULL : inner.line;
}

static inline void print_text(const char *bytes, size_t most) { /* `most` characters of it */
    size_t characters = 0;
    putc('"', inner.referee);
    for (; *bytes; bytes++) {
        unsigned char c = (unsigned char)*bytes;
        if ((c & 0xc0) != 0x80 && characters++ == most) break;
        if (c == '"' || c == '\\') fprintf(inner.referee, "\\%c", c);
        else if (c < 32) fprintf(inner.referee, "\\u%04x", c);
        else putc(c, inner.referee);
    }
    putc('"', inner.referee);
}

static inline void print_value(const json *value) {
    if (value) fwrite(value->raw, 1, value->raw_length, inner.referee);
    else fputs("null", inner.referee);
}

static inline void end_line(void) {
    putc('\n', inner.referee);
    if (fflush(inner.referee)) exit(0); /* the referee is gone: nothing left to play for */
}

/* The next message in memory of the request, NULL at the end of input; errors are only to be logged. */
static inline const json *next_message(block **kept) {
    char *line;
    while ((line = read_line())) {
        const json *message = parse(line, strlen(line), kept);
        if (!is_text(member(message, "type"), "error")) return message;
        fprintf(stderr, "referee: %s: %s (%s)\n", text(member(message, "code")), text(member(message, "message")),
                text(member(message, "hint")));
    }
    return NULL;
}

static inline const json *simulate(const char *format, ...) {
    va_list arguments;
    char *what;
    const json *message;
    if (inner.overtaken) return NULL;
    va_start(arguments, format);
    what = formatted(format, arguments);
    va_end(arguments);
    fprintf(inner.referee, "{\"type\":\"simulate\",\"id\":");
    print_value(member(kit.request, "id"));
    fprintf(inner.referee, ",\"query\":%d,\"what\":%s}", ++inner.queries, what);
    end_line();
    free(what);
    while ((message = next_message(&inner.of_request))) {
        const char *type = text(member(message, "type"));
        if (!strcmp(type, "simulated") && number(member(message, "query")) == inner.queries) {
            kit.simulations = (int)number(member(message, "left"));
            return message;
        }
        if (!strcmp(type, "request") || !strncmp(type, "match_", 6) || !strcmp(type, "quit")) {
            inner.overtaken = message;
            return NULL;
        }
    }
    exit(0); /* in the middle of a thought, and nobody listens any more */
}

static inline void answer_request(const json *message, choose_function choose) {
    const json *legal = member(message, "legal"), *chosen;
    kit.request = message;
    kit.simulations = (int)number(member(message, "simulations"));
    inner.notes_length = 0;
    chosen = choose(member(message, "view"), is_null(legal) ? NULL : legal, member(message, "clock"));
    if (inner.overtaken) return;
    if (is_null(chosen)) fail("choose must return one of `legal` or an action, not NULL");
    fprintf(inner.referee, "{\"type\":\"action\",\"id\":");
    print_value(member(message, "id"));
    fprintf(inner.referee, ",\"action\":");
    print_value(chosen);
    if (inner.notes_length) {
        fprintf(inner.referee, ",\"note\":");
        print_text(inner.notes, 1000);
    }
    putc('}', inner.referee);
    end_line();
}

static inline void answer_evaluate(const json *message) {
    const json *legal = member(message, "legal");
    double *values = calloc((size_t)count(legal) + 1, sizeof *values);
    int index;
    if (!values) fail("out of memory");
    kit.request = message;
    kit.evaluate(member(message, "view"), legal, number(member(message, "budget_ms")), values);
    fprintf(inner.referee, "{\"type\":\"evaluation\",\"id\":");
    print_value(member(message, "id"));
    fprintf(inner.referee, ",\"values\":[");
    for (index = 0; index < count(legal); index++) fprintf(inner.referee, "%s%.9g", index ? "," : "", values[index]);
    fprintf(inner.referee, "]}");
    end_line();
    free(values);
}

/* The message once more, in memory of its own; what was there is freed. */
static inline const json *keep(const json *message, block **kept) {
    block *old = *kept;
    const json *copy;
    *kept = NULL;
    copy = parse(message->raw, message->raw_length, kept);
    forget(&old);
    return copy;
}

/* Unknown types get no answer, so that the protocol can grow. */
static inline void answer(const json *message, choose_function choose) {
    const json *type = member(message, "type");
    if (is_text(type, "hello")) {
        kit.hello = keep(message, &inner.of_process);
        fprintf(inner.referee, "{\"type\":\"hello\",\"protocols\":[1],\"capabilities\":[\"simulate\"%s]}",
                kit.evaluate ? ",\"evaluate\"" : "");
        end_line();
    } else if (is_text(type, "match_start")) {
        kit.match = keep(message, &inner.of_match);
        inner.random = (uint64_t)number(member(kit.match, "bot_seed"));
        if (kit.start) kit.start(kit.match);
        fprintf(inner.referee, "{\"type\":\"ready\",\"match\":");
        print_value(member(kit.match, "match"));
        putc('}', inner.referee);
        end_line();
    } else if (is_text(type, "request")) {
        answer_request(message, choose);
    } else if (is_text(type, "evaluate") && kit.evaluate) {
        answer_evaluate(message);
    } else if (is_text(type, "match_end") && kit.end) {
        kit.end(message);
    }
}

/* Play until the referee says quit or goes away; the exit code. */
static inline int play(choose_function choose) {
    const json *message;
    inner.referee = fdopen(dup(1), "w");
    if (!inner.referee || dup2(2, 1) < 0) fail("no stdout");
    setvbuf(stdout, NULL, _IOLBF, 1 << 12);
    while ((message = inner.overtaken ? inner.overtaken : next_message(&inner.of_request))) {
        block *done = inner.of_request;
        inner.overtaken = NULL;
        if (is_text(member(message, "type"), "quit")) break;
        inner.of_request = NULL;
        answer(message, choose);
        forget(&done);
        if (!inner.overtaken) forget(&inner.of_request);
    }
    return 0;
}

#endif
