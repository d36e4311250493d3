"use strict";
// Elements and texts. Nothing a record holds is ever markup: it enters the page through `make` as text.

// Characters that would not be seen, or would turn what follows around, are shown by name.
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;
const visible = (text) => String(text).replace(/\r\n/g, "\n").replace(UNSEEN,
  (c) => `⟨U+${c.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);

function make(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key === "onclick") element.addEventListener("click", value);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== undefined && value !== null && value !== false) element.setAttribute(key, visible(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false || child === "") continue;
    element.append(child instanceof Node ? child : visible(child));
  }
  return element;
}

const count = (value) => String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, "\u202f");
const plural = (number, word) => `${count(number)} ${word}${number === 1 ? "" : "s"}`;
const points = (value) => String(Math.round(value * 10) / 10);
const time = (s) => s < 0.1 ? `${(s * 1000).toFixed(1)} ms` : s < 60 ? `${s.toFixed(1)} s` : `${Math.floor(s / 60)} min ${Math.round(s % 60)} s`;

async function unsqueeze(text) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

// Packs: in the page itself, or scripts beside it that call `groundlingPack`. The last few are kept.
const packs = new Map();
const awaited = new Map();
const KEPT = 4;

window.groundlingPack = (number, digest, text) => {
  const waiting = awaited.get(number);
  if (waiting) waiting(digest, text);
};

function packText(number, known) {
  const own = document.getElementById(`pack-${number}`);
  if (own) return Promise.resolve(own.textContent);
  return new Promise((resolve, reject) => {
    const script = make("script", { src: known.file });
    const end = (act) => { awaited.delete(number); script.remove(); act(); };
    awaited.set(number, (digest, text) => end(() => digest === known.digest ? resolve(text)
      : reject(new Error(`${known.file} belongs to another report; make this one again`))));
    script.onerror = () => end(() => reject(new Error(`${known.file} is not beside this page; copy the folder along with it`)));
    document.head.append(script);
  });
}

async function openPack(number, known) {
  if (!packs.has(number)) packs.set(number, packText(number, known).then(unsqueeze));
  const pack = packs.get(number);
  packs.delete(number);
  packs.set(number, pack);
  for (const old of packs.keys()) if (packs.size > KEPT) packs.delete(old);
  try { return await pack; } catch (error) { packs.delete(number); throw error; }
}
