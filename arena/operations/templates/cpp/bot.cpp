// A bot for arena. It plays a legal action at random, in any game; the rest is up to you, in `choose`.
//
// arena_kit.hpp beside this file tells what `choose` gets and what you may use.
//
// Try it from the folder above this one:  arena check ./<this folder>

#include "arena_kit.hpp"

Json choose(const Json &view, const Json &legal, const Json &clock) {
    // The actions cannot be listed: the page of the game has their form; in riffraff this passes.
    if (legal.is_null()) return Json::object({{"pass", true}});
    return legal[kit::random_below(legal.size())];
}

int main() { return kit::play(choose); }
