/* A bot for arena. It plays a legal action at random, in any game; the rest is up to you, in `choose`.
 *
 * arena_kit.h beside this file tells what `choose` gets and what you may use.
 *
 * Try it from the folder above this one:  arena check ./<this folder> */

#include "arena_kit.h"

static const json *choose(const json *view, const json *legal, const json *clock) {
    (void)view, (void)clock;
    /* The actions cannot be listed: the page of the game has their form; in riffraff this passes. */
    if (!legal) return action("{\"pass\":true}");
    return element(legal, random_below(count(legal)));
}

int main(void) { return play(choose); }
