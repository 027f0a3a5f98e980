import * as kit from "./arena_kit";

function choose(view: kit.Fields, legal: kit.Action[] | null, clock: kit.Clock): kit.Action {
  console.log("stray", view.say, clock.move_ms);
  kit.note(view.say);
  if (legal === null) return { twice: 2 * view.number, items: view.items.length };
  return legal[view.pick];
}

kit.play(choose);
