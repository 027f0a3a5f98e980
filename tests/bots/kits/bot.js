const kit = require("./arena_kit");

function choose(view, legal, clock) {
  console.log("stray", view.say, clock.move_ms);
  kit.note(view.say);
  if (legal === null) return { twice: 2 * view.number, items: view.items.length };
  return legal[view.pick];
}

kit.play(choose);
