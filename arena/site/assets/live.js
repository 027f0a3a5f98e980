// A page of the server: when more is stored, its content is fetched anew, in place.
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
    const old = document.querySelector("main"), main = page.querySelector("main");
    const scrolled = [...old.querySelectorAll(".scroll")].map((each) => each.scrollLeft);
    const href = old.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
    old.replaceWith(main);
    main.querySelectorAll(".scroll").forEach((each, at) => { each.scrollLeft = scrolled[at] ?? 0; });
    if (href) main.querySelector(`a[href="${CSS.escape(href)}"]`)?.focus({ preventScroll: true });
  });
})();
