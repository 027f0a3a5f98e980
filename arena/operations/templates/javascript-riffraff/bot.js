// A bot for Riff Raff. It loads at random where the simulator sees nothing fall; the rest is up to you, in `choose`.
//
// arena_kit.js beside this file tells what `choose` gets and what you may use. kit.hello.material has the numbers of ship
// and cargo, kit.request.refused tells what was wrong with your last load, which you may replace once.
//
// Try it from the folder above this one:  arena check ./<this folder> --game riffraff

"use strict";

const kit = require("./arena_kit");

function choose(view, legal, clock) {
  return view.phase === "load" ? load(view) : pick(legal); // else a card, who is captain, the order, one piece or two
}

// Of some loads that have room, the first from which nothing would fall in a weather like today's.
function load(view) {
  let best = pose(view); // nobody may pass while there is a load with room
  for (let tries = 0; tries < 20 && kit.simulations; tries++) {
    const tried = pose(view);
    const said = kit.simulate({ load: tried, noise: noise(view) });
    if (said.refused) continue; // said.refused.message tells why
    best = tried;
    if (!said.result.fallen.length) break;
  }
  return best;
}

// Any load on the area. It may have no room there, which the simulator tells.
function pose(view) {
  const { areas, kinds } = kit.hello.material;
  const area = areas[view.area];
  const supply = view.seats[view.you].supply;
  const kind = pick(Object.keys(supply).filter((kind) => supply[kind]));
  return {
    kind,
    face: pick(Object.keys(kinds[kind].faces).filter((face) => area.yard || face !== "hang")), // nothing hangs on deck
    u_mm: between(...area.u_mm),
    v_mm: between(...area.v_mm),
    yaw_deg: pick([0, 90, 180, 270]),
    hands_mm: [[45, 75], [45, -75]],
  };
}

// A disturbance as the weather brings it: shifts along u and v, turn, roll and pitch rates in rad/s.
function noise({ noise: sigma }) {
  return [sigma.uv_mm, sigma.uv_mm, sigma.yaw_deg, sigma.kick_rad_s, sigma.kick_rad_s].map((each) => each * gauss());
}

// A number of the normal distribution.
function gauss() {
  return Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random());
}

function between(low, high) {
  return Math.round(10 * (low + (high - low) * Math.random())) / 10;
}

function pick(items) {
  return items[Math.floor(Math.random() * items.length)];
}

kit.play(choose);
