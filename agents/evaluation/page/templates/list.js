// The list of episodes: filters, order, pages; and which of list and episode is seen.
const PAGE = 50;
const STATES = ["won", "lost", "not evaluated"];
const CLASSES = ["won", "lost", "none"];
const HEADINGS = [
  ["run", "run"], ["task", "task"], ["state", "result"], ["cause", "cause"], ["score", "score", 1], ["actions", "actions", 1],
  ["refinements", "revisions", 1, 1], ["tokens", "tokens", 1, 1], ["seconds", "seconds", 1, 1],
];
const ui = { list: document.getElementById("list"), filters: document.getElementById("filters"), shown: document.getElementById("shown"),
  page: document.getElementById("page"), pager: document.getElementById("pager"), report: document.getElementById("report"),
  episode: document.getElementById("episode"), header: document.querySelector("header") };
const state = { lines: [], found: [], page: 0, order: null, down: false, data: null, scroll: null, inEpisode: false, begun: false, title: document.title };

const idOf = (line) => `${line.task}#${line.repeat}${line.round > 1 ? `.r${line.round}` : ""}`;
const addressOf = (line) => `#episode/${state.data.runs[line.run].letter}/${encodeURIComponent(idOf(line))}`;

function fill(select, values) {
  for (const [value, label] of values) select.append(make("option", { value }, label));
}

function filtered() {
  const chosen = Object.fromEntries(new FormData(ui.filters));
  const part = chosen.text.trim().toLowerCase();
  const found = state.lines.filter((line) =>
    (chosen.run === "" || line.run === Number(chosen.run)) && (chosen.kind === "" || line.kind === chosen.kind)
    && (chosen.state === "" || line.state === Number(chosen.state)) && (chosen.cause === "" || line.cause === chosen.cause)
    && (part === "" || idOf(line).toLowerCase().includes(part)));
  if (state.order) {
    const key = state.order, sign = state.down ? -1 : 1;
    const value = (line) => line[key] === null ? -Infinity : line[key];
    found.sort((a, b) => sign * (value(a) < value(b) ? -1 : value(a) > value(b) ? 1 : 0));
  }
  return found;
}

function show() {
  const { found } = state, last = Math.max(0, Math.ceil(found.length / PAGE) - 1);
  state.page = Math.min(Math.max(0, state.page), last);
  const first = state.page * PAGE, lines = found.slice(first, first + PAGE);
  ui.list.tBodies[0].replaceChildren(...lines.map(rowOf));
  ui.shown.textContent = found.length ? `${count(first + 1)} to ${count(first + lines.length)} of ${plural(found.length, "episode")}`
    + (found.length < state.lines.length ? `, chosen from ${count(state.lines.length)}` : "")
    : "No episode is like that; choose less above.";
  ui.page.textContent = `${state.page + 1} / ${last + 1}`;
  ui.pager.hidden = last === 0;
  for (const button of ui.pager.querySelectorAll("button")) {
    button.disabled = ["first", "back"].includes(button.dataset.page) ? state.page === 0 : state.page === last;
  }
}

function rowOf(line) {
  const id = idOf(line), run = state.data.runs[line.run];
  const cells = {
    run: make("abbr", { title: run.label }, run.letter),
    task: line.pack >= 0 ? make("a", { href: addressOf(line) }, id) : id,
    state: make("span", { class: CLASSES[line.state] }, STATES[line.state]),
    cause: [line.cause, line.wrong && make("span", { class: "lost" }, ` ${line.wrong}`)],
    score: line.score === null ? "–" : points(line.score),
    seconds: line.seconds === null ? "–" : count(line.seconds),
  };
  return make("tr", {}, HEADINGS.map(([key, , number, spare]) => make("td",
    { class: [number && "number", spare && "spare"].filter(Boolean).join(" ") || null },
    key in cells ? cells[key] : line[key] === null ? "–" : count(line[key]))));
}

function refresh() { state.found = filtered(); state.page = 0; show(); }

function headings() {
  ui.list.tHead.replaceChildren(make("tr", {}, HEADINGS.map(([key, name, number, spare]) => {
    const direction = state.order === key ? (state.down ? "descending" : "ascending") : null;
    return make("th", { scope: "col", class: [number && "number", spare && "spare"].filter(Boolean).join(" ") || null },
      make("button", { type: "button", "aria-sort": direction, onclick: () => {
        if (state.order === key && state.down === Boolean(number)) state.down = !state.down;
        else if (state.order === key) state.order = null;
        else { state.order = key; state.down = Boolean(number); }
        headings(); refresh();
      } }, name));
  })));
}

function message(text) {
  ui.episode.replaceChildren(make("nav", { class: "bar" }, make("a", { href: "#episodes" }, "‹ All episodes")), make("p", { class: "warning" }, text));
}

async function route() {
  const [, letter, id] = location.hash.match(/^#episode\/([A-Z]+)\/(.+)$/) || [];
  const open = letter !== undefined;
  if (open && !state.inEpisode) state.scroll = state.begun ? window.scrollY : null;
  ui.report.hidden = ui.header.hidden = open;
  ui.episode.hidden = !open;
  if (!open) {
    document.title = state.title;
    if (state.inEpisode && state.scroll === null) document.getElementById("episodes").scrollIntoView();
    else if (state.inEpisode) window.scrollTo(0, state.scroll);
    state.inEpisode = false;
    return;
  }
  state.inEpisode = true;
  const wanted = decodeURIComponent(id);
  const line = state.lines.find((each) => state.data.runs[each.run].letter === letter && idOf(each) === wanted);
  window.scrollTo(0, 0);
  if (!line || line.pack < 0) return message(`This report has no trajectory of ${wanted} in run ${letter}.`);
  message("Opening…");
  try {
    const pack = await openPack(line.pack, state.data.packs[line.pack]);
    if (location.hash !== addressOf(line)) return;
    const at = state.found.indexOf(line);
    const beside = (number) => at >= 0 && state.found[number] && state.found[number].pack >= 0 ? addressOf(state.found[number]) : null;
    ui.episode.replaceChildren(...episodeOf(pack[line.index], line, state.data.runs[line.run], { before: beside(at - 1), after: beside(at + 1) }));
  } catch (error) { message(error.message); }
  document.title = `${wanted} (${letter})`;
}

async function begin() {
  state.data = await unsqueeze(document.getElementById("data").textContent);
  state.lines = state.data.lines.map((values) => Object.fromEntries(state.data.fields.map((field, number) => [field, values[number]])));
  fill(ui.filters.run, state.data.runs.map((run, number) => [number, `${run.letter}  ${run.label}`]));
  fill(ui.filters.kind, [...new Set(state.lines.map((line) => line.kind))].map((kind) => [kind, kind]));
  fill(ui.filters.cause, [...new Set(state.lines.map((line) => line.cause))].filter(Boolean).sort().map((cause) => [cause, cause]));
  ui.filters.addEventListener("input", refresh);
  ui.filters.addEventListener("submit", (event) => event.preventDefault());
  ui.pager.addEventListener("click", (event) => {
    const step = { first: -Infinity, back: -1, next: 1, last: Infinity }[event.target.dataset.page];
    if (step) { state.page = Math.min(1e9, state.page + step); show(); }
  });
  window.addEventListener("hashchange", route);
  headings();
  refresh();
  const routed = route();
  state.begun = true;
  await routed;
}

begin();
