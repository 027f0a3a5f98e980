import * as kit from "./arena_kit";

function choose(view: kit.Fields, legal: kit.Action[] | null, clock: kit.Clock): kit.Action {
  console.log("stray", view.say, clock.move_ms);
  kit.note(view.say);
  if (legal === null) return { twice: 2 * view.number, items: view.items.length };
  return legal[view.pick];
}

function evaluate(view: kit.Fields, legal: kit.Action[], budget_ms: number): kit.Values {
  const values = legal.map((action) => {
    const { heap, count } = action as kit.Fields;
    const heaps: number[] = [...view.heaps];
    heaps[heap] -= count;
    return heaps.reduce((sum, size) => sum ^ size) ? 0 : 1;
  });
  return { values, errors: values.map(() => 0) };
}

kit.play(choose, { evaluate });
