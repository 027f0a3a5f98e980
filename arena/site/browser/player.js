// The match player. A page has <div id="player" data-match="ID">, or data-playlist="ID ID ..." for a screen on a wall.
import { match as read } from "./data.js";
import { adopt, el } from "./dom.js";
import { start } from "./board.js";
import style from "./player.css";

const MOST_PLAYED = 100; // matches, all of which the page keeps until it is loaded anew

adopt(style);

async function begin() {
  for (const root of document.querySelectorAll("#player, .arena-player")) {
    try {
      if (root.dataset.playlist) await rotate(root);
      else await start(root, await read(`match-${root.dataset.match}`));
    } catch (error) {
      root.prepend(el("p", { class: "notice", role: "alert" }, `This match cannot be played: ${error.message}`));
    }
  }
}

/** One match after the other, for ever: a live page changes the playlist, and its new matches come first. */
async function rotate(root) {
  const seen = new Set();
  for (let played = 0, failed = 0; ; ) {
    const ids = root.dataset.playlist.split(" ").filter(Boolean);
    if (failed >= ids.length) throw new Error("no match of the playlist is here");
    if (ids.every((id) => seen.has(id))) seen.clear();
    const id = ids.find((each) => !seen.has(each));
    seen.add(id);
    try {
      const one = await read(`match-${id}`);
      failed = 0;
      await (await start(root, one, { isWall: true })).ended;
      if (++played === MOST_PLAYED) location.reload();
    } catch (error) {
      failed += 1;
    }
  }
}

if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
else begin();
