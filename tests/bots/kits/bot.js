const kit = require("./arena_kit");

function choose(view, legal, clock) {
  console.log("stray", view.say, clock.move_ms);
  kit.note(view.say);
  if (legal === null) return { twice: 2 * view.number, items: view.items.length };
  return legal[view.pick];
}

function evaluate(view, legal, budget_ms) {
  return legal.map(({ heap, count }) => {
    const heaps = [...view.heaps];
    heaps[heap] -= count;
    return heaps.reduce((sum, size) => sum ^ size) ? 0 : 1;
  });
}

kit.play(choose, { evaluate });
