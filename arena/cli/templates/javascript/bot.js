// A bot for arena, in JavaScript (Node.js, no packages).
//
// It plays a legal action at random, in any game; the rest is up to you, in `act`. The messages are those of
// protocol.md: a line of JSON comes in, a line goes out. Types and fields you do not know are to be ignored.
//
// Try it from the folder above this one:  arena check ./<this folder>

"use strict";

console.log = console.error; // stdout belongs to the referee; stderr goes to the bot's log

let random = Math.random;

// The action, or its index in request.legal. `view` is all you may know.
function act(request) {
  // Where `legal` is null the actions cannot be listed. In riffraff one may pass then; what else may be done, the
  // game's section of protocol.md tells.
  if (request.legal === null) return { pass: true };
  return Math.floor(random() * request.legal.length);
}

function answer(message) {
  switch (message.type) {
    case "hello":
      return { type: "hello", protocols: [1] };
    case "match_start":
      random = seededRandom(message.bot_seed);
      return { type: "ready", match: message.match };
    case "request":
      return { type: "action", id: message.id, action: act(message) };
    case "error":
      console.error(`referee: ${message.code}: ${message.message} (${message.hint})`);
  }
  return null;
}

// Numbers in [0, 1) that are the same for the same seed, so that a match can be repeated (the generator mulberry32).
function seededRandom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const lines = require("node:readline").createInterface({ input: process.stdin, crlfDelay: Infinity });
lines.on("line", (line) => {
  if (!line.trim()) return;
  const message = JSON.parse(line);
  if (message.type === "quit") process.exit(0);
  const reply = answer(message);
  if (reply) process.stdout.write(JSON.stringify(reply) + "\n");
});
