#include "arena_kit.h"

static const json *choose(const json *view, const json *legal, const json *clock) {
    printf("stray %s %g\n", text(member(view, "say")), number(member(clock, "move_ms")));
    note("%s", text(member(view, "say")));
    if (!legal)
        return action("{\"twice\":%.17g,\"items\":%d}", 2 * number(member(view, "number")), count(member(view, "items")));
    return element(legal, (int)number(member(view, "pick")));
}

static void evaluate(const json *view, const json *legal, double budget_ms, double *values) {
    (void)budget_ms;
    for (const json *action = legal->first; action; action = action->next) {
        int sum = 0, index = 0;
        for (const json *heap = member(view, "heaps")->first; heap; heap = heap->next, index++)
            sum ^= (int)(number(heap) - (index == number(member(action, "heap")) ? number(member(action, "count")) : 0));
        *values++ = sum == 0;
    }
}

int main(void) {
    kit.evaluate = evaluate;
    return play(choose);
}
