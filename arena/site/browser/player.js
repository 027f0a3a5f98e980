// The match player. A page has <div id="player" data-match="ID">, or data-playlist="ID ID ..." for a screen on a wall.
import { match as read } from "./data.js";
import { adopt, el } from "./dom.js";
import { start } from "./board.js";
import style from "./player.css";

adopt(style);

async function begin() {
  for (const root of document.querySelectorAll("#player, .arena-player")) {
    const playlist = (root.dataset.playlist ?? "").split(" ").filter(Boolean);
    try {
      if (playlist.length) await rotate(root, playlist);
      else await start(root, await read(`match-${root.dataset.match}`));
    } catch (error) {
      root.prepend(el("p", { class: "notice", role: "alert" }, `This match cannot be played: ${error.message}`));
    }
  }
}

/** One match after the other, for ever; a match that is not here is left out. */
async function rotate(root, ids) {
  for (let at = 0, failed = 0; failed < ids.length; at = (at + 1) % ids.length) {
    try {
      const one = await read(`match-${ids[at]}`);
      failed = 0;
      await (await start(root, one, { isWall: true })).ended;
    } catch (error) {
      failed += 1;
    }
  }
  throw new Error("no match of the playlist is here");
}

if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
else begin();
