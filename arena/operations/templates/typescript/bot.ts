// A bot for arena. It plays a legal action at random, in any game; the rest is up to you, in `choose`.
//
// arena_kit.js beside this file tells what `choose` gets and what you may use; arena_kit.d.ts has its types.
//
// Try it from the folder above this one:  arena check ./<this folder>

import * as kit from "./arena_kit";

function choose(view: kit.Fields, legal: kit.Action[] | null, clock: kit.Clock): kit.Action {
  // The actions cannot be listed: the page of the game has their form; in riffraff this passes.
  if (legal === null) return { pass: true };
  return legal[Math.floor(Math.random() * legal.length)];
}

kit.play(choose);
