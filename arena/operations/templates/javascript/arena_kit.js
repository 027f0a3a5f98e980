// arena_kit: the protocol arena/1 for bots in JavaScript and TypeScript (Node.js, no packages).
//
// You write one function and call `play`:
//
//   const kit = require("./arena_kit");
//
//   function choose(view, legal, clock) {
//     return legal[0];
//   }
//
//   kit.play(choose);
//
//   view      all that your seat may know; the page of the game describes it
//   legal     the legal actions; null where they cannot be listed
//   clock     milliseconds: clock.move_ms for this move, clock.bank_ms in the bank
//   returns   one of `legal`, its index, or an action of your own: { pass: true }
//
// You may use:
//
//   kit.request               the whole message: events, refused...
//   kit.note("I am ahead")    a note that stands at this step in `arena show`
//   Math.random               is seeded for each match, so that it can be repeated
//   console.log               goes to stderr, and `arena match --steps` shows it; stdout is the referee's
//   kit.hello, kit.match      the messages `hello` and `match_start`
//   kit.simulate({load: ...}) asks the simulator, in games that have one; kit.simulations is what is left for questions
//   kit.play(choose, { start, end })  functions for `match_start` and `match_end`
//   kit.play(choose, { evaluate })  a function (view, legal, budget_ms) that judges every action, for `arena coach --by`:
//                             values from 0 to 1, or { values, errors } with their standard errors
//
// An exception in your code ends the process with exit code 1; the match is lost, and its story has the text.

"use strict";

const fs = require("node:fs");

console.log = console.info = console.debug = console.error;

const kit = { hello: {}, match: {}, request: {}, simulations: 0, play, note, simulate };
module.exports = kit;

let notes = [];
let queries = 0;

// Plays until the referee says quit or goes away.
function play(choose, { start, end, evaluate } = {}) {
  let message = read();
  while (message !== null && message.type !== "quit") {
    try {
      answer(message, choose, start, end, evaluate);
      message = read();
    } catch (thrown) {
      if (!(thrown instanceof Overtaken)) throw thrown;
      message = thrown.request;
    }
  }
}

// A note for the story of the match; several are joined. The opponent never sees it.
function note(text) {
  notes.push(String(text));
}

// The message `simulated` for that question: a `result`, or `refused`, which tells why there is none. Your clock stands
// still meanwhile.
function simulate(what) {
  const query = ++queries;
  say({ type: "simulate", id: kit.request.id, query, what });
  for (let message = read(); message !== null; message = read()) {
    if (message.type === "simulated" && message.query === query) {
      kit.simulations = message.left;
      return message;
    }
    if (["request", "match_start", "match_end", "quit"].includes(message.type)) throw new Overtaken(message);
  }
  process.exit(0); // in the middle of a thought, and nobody listens any more
}

// The referee has gone on while the bot was thinking: too late, or the match is over.
class Overtaken {
  constructor(request) {
    this.request = request;
  }
}

// Unknown types get no answer, so that the protocol can grow.
function answer(message, choose, start, end, evaluate) {
  switch (message.type) {
    case "hello":
      kit.hello = message;
      return say({ type: "hello", protocols: [1], capabilities: evaluate ? ["simulate", "evaluate"] : ["simulate"] });
    case "match_start":
      kit.match = message;
      Math.random = seededRandom(message.bot_seed);
      if (start) start(message);
      return say({ type: "ready", match: message.match });
    case "request": {
      kit.request = message;
      kit.simulations = message.simulations || 0;
      notes = [];
      const action = checked(choose(message.view, message.legal, message.clock));
      const reply = { type: "action", id: message.id, action };
      if (notes.length) reply.note = [...notes.join("\n")].slice(0, 1000).join("");
      return say(reply);
    }
    case "evaluate": {
      if (!evaluate) return;
      kit.request = message;
      const given = evaluate(message.view, message.legal, message.budget_ms);
      const { values, errors = [] } = Array.isArray(given) ? { values: given } : given;
      return say({ type: "evaluation", id: message.id, values: [...values], errors });
    }
    case "match_end":
      if (end) end(message);
  }
}

// The action, if it looks like one: a forgotten `return` is found here rather than by the referee.
function checked(action) {
  const isObject = typeof action === "object" && action !== null && !Array.isArray(action);
  if (isObject || Number.isInteger(action)) return action;
  throw new TypeError(`choose must return an action (an object) or an index in legal, not ${JSON.stringify(action)}`);
}

// Numbers in [0, 1) that are the same for the same seed (the generator mulberry32).
function seededRandom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const chunk = Buffer.alloc(1 << 16);
let unread = Buffer.alloc(0);

// The next message, null at the end of input; errors are only to be logged.
function read() {
  for (;;) {
    const end = unread.indexOf(10);
    if (end < 0) {
      const size = patient(() => fs.readSync(0, chunk, 0, chunk.length, null));
      if (size === 0) return null;
      unread = Buffer.concat([unread, chunk.subarray(0, size)]);
      continue;
    }
    const line = unread.toString("utf8", 0, end).trim();
    unread = unread.subarray(end + 1);
    if (!line) continue;
    const message = JSON.parse(line);
    if (message.type !== "error") return message;
    console.error(`referee: ${message.code}: ${message.message} (${message.hint})`);
  }
}

// One line to the referee.
function say(message) {
  let line = Buffer.from(JSON.stringify(message) + "\n");
  try {
    while (line.length) line = line.subarray(patient(() => fs.writeSync(1, line)));
  } catch (error) {
    if (error.code === "EPIPE") process.exit(0); // the referee is gone: nothing left to play for
    throw error;
  }
}

// The result of a call that may find a pipe full or empty for a moment.
function patient(call) {
  for (;;) {
    try {
      return call();
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}
