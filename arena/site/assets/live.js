// A page of the server: when more is stored, its content is fetched anew, in place; on the wall all but the player.
"use strict";
(() => {
  const { version, events } = document.currentScript.dataset;
  let shown = version;
  new EventSource(events).addEventListener("message", async ({ data }) => {
    if (data === shown) return;
    shown = data;
    const answer = await fetch(location.href);
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const live = document.querySelector("[data-live]") ? "[data-live]" : "main";
    const old = document.querySelector(live), main = page.querySelector(live);
    const scrolled = [...old.querySelectorAll(".scroll")].map((each) => each.scrollLeft);
    const href = old.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
    const chosen = [...old.querySelectorAll("input")].map((each) => each.checked);
    old.replaceWith(main);
    main.querySelectorAll("input").forEach((each, at) => { each.checked = chosen[at] ?? each.checked; });
    main.querySelectorAll(".scroll").forEach((each, at) => { each.scrollLeft = scrolled[at] ?? 0; });
    if (href) main.querySelector(`a[href="${CSS.escape(href)}"]`)?.focus({ preventScroll: true });
    const wall = document.querySelector("[data-playlist]");
    if (wall) wall.dataset.playlist = page.querySelector("[data-playlist]")?.dataset.playlist ?? "";
  });
})();
