// Reads what is not its own, and starts a program; node is many threads, which is allowed.
const fs = require("fs"), children = require("child_process");
function attempt() {
  for (const what of [() => fs.readFileSync("/etc/passwd"), () => children.execFileSync("/bin/true")]) {
    try { what(); return "BROKE: got through"; } catch (error) { var last = error.code || String(error); }
  }
  return "kept: " + last;
}
require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const message = JSON.parse(line), say = (what) => process.stdout.write(JSON.stringify(what) + "\n");
  if (message.type === "hello") say({ type: "hello", protocols: [1] });
  else if (message.type === "match_start") say({ type: "ready", match: message.match });
  else if (message.type === "request") say({ type: "action", id: message.id, action: 0, note: attempt() });
  else if (message.type === "quit") process.exit(0);
});
