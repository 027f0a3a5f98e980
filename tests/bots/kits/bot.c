#include "arena_kit.h"

static const json *choose(const json *view, const json *legal, const json *clock) {
    printf("stray %s %g\n", text(member(view, "say")), number(member(clock, "move_ms")));
    note("%s", text(member(view, "say")));
    if (!legal)
        return action("{\"twice\":%.17g,\"items\":%d}", 2 * number(member(view, "number")), count(member(view, "items")));
    return element(legal, (int)number(member(view, "pick")));
}

int main(void) { return play(choose); }
