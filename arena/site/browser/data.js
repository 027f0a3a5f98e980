// Data files and drawing modules announce themselves; a match is asked for by its id.
const found = new Map();
const waiting = new Map();
const tables = new Map();
const assets = document.currentScript?.src;

globalThis.arena_data = (name, value) => {
  found.set(name, value);
  waiting.get(name)?.(value);
};
globalThis.arena_table = (game, draw) => tables.set(game, draw);

export const tableOf = (game) => tables.get(game);

/** The data of that name; if no script of the page brought it, the file of that name is added to the page. */
export function data(name) {
  if (found.has(name)) return Promise.resolve(found.get(name));
  if (!assets) return Promise.reject(new Error(`${name} is not in this page`));
  return added(name, new URL(`../data/${encodeURIComponent(name)}.js`, assets), waiting);
}

/** The drawing module of a game, from the page or from the asset beside the player. */
export async function table(game) {
  if (!tables.has(game) && assets) await added(game, new URL(`${encodeURIComponent(game)}.js`, assets)).catch(() => 0);
  return tables.get(game);
}

function added(name, url, await_in) {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = url;
    script.addEventListener("error", () => reject(new Error(`${name} is not here`)));
    if (await_in) await_in.set(name, resolve);
    else script.addEventListener("load", resolve);
    document.head.append(script);
  });
}

/** A packed list: JSON, deflated, in base64. */
export async function unpacked(packed) {
  if (!packed) return [];
  const bytes = Uint8Array.from(atob(packed), (char) => char.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

/** A match with all that is packed in it; `name` is that of its data. */
export async function match(name) {
  const one = await data(name);
  if (!one.unpacked) {
    const [stills, views, motions] = await Promise.all([one.stills, one.views, one.motions].map(unpacked));
    Object.assign(one, { stills, views, motions, unpacked: true });
  }
  return one;
}
