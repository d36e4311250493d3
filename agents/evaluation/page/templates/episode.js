// One episode, as its record tells it.
const STOPS = { solved: "the world said that the task is achieved", failed: "the world ended it without success", max_steps: "the limit of steps was reached",
  gave_up: "the agent had nothing more to do", context_full: "the transcript outgrew the context" };
const REJECTED = { truncated: "cut off at the limit of tokens: not sent to the world", malformed: "not a command: not sent to the world" };

const fold = (title, ...inside) => make("details", {}, make("summary", {}, title), make("div", {}, inside));
const tag = (text, kind) => make("span", kind ? { class: kind } : {}, text);
const percent = (p) => p >= 0.0995 ? `${Math.round(p * 100)}%` : p >= 0.000995 ? `${(p * 100).toPrecision(2)}%` : p.toExponential(1);
const total = (questions, key) => questions.flatMap((each) => each.parts).reduce((sum, part) => sum + part[key], 0);

function episodeOf(told, line, run, near) {
  const questions = told.events.flatMap((event) => event.questions || []);
  const link = (address, text) => address ? make("a", { href: address }, text) : make("span", { "aria-disabled": "true" }, "");
  return [
    make("nav", { class: "bar", "aria-label": "Episodes" }, make("a", { href: "#episodes", id: "all" }, "‹ All episodes"),
      make("span", {}, link(near.before, "Previous"), link(near.after, "Next"))),
    make("h1", {}, told.id),
    make("p", { class: "facts" },
      tag(told.won ? "won" : "lost", told.won ? "won" : "lost"), tag(`${run.letter}: ${run.label}`), tag(`${told.kind} ${told.name}`),
      tag(STOPS[told.stop] || told.stop)),
    told.causes.length > 0 && make("p", { class: "facts" }, tag(`why not won: ${told.causes[0][0]} (${told.causes[0][1]})`, "lost"),
      told.causes.slice(1).map(([cause, fact]) => tag(`also: ${cause} (${fact})`))),
    line.wrong && make("p", { class: "warning" }, line.wrong),
    make("p", { class: "goal" }, told.goal),
    make("p", { class: "facts" },
      tag(`${points(told.score)} points`), tag(plural(told.actions, "action")), tag(plural(questions.length, "question") + " to the model"),
      tag(`${count(total(questions, "prompt_tokens"))} tokens read (${count(total(questions, "cached"))} from the cache), ${count(total(questions, "tokens"))} said`),
      tag(`${time(told.seconds)}, of which the model ${time(total(questions, "seconds"))}`), tag(`seed ${told.seed}`),
      told.attempts > 1 && tag(`begun ${told.attempts} times`)),
    (told.memory.before || told.memory.after) && make("p", { class: "facts" }, tag(`memory before: ${told.memory.before || "empty"}`), tag(`after: ${told.memory.after || "empty"}`)),
    told.prompt.length ? fold(`The first prompt, whole (${plural(told.prompt.reduce((n, each) => n + each.content.length, 0), "character")})`, messages(told.prompt)) : null,
    row("", {}, make("p", { class: "observation" }, told.begins)),
    told.events.map((event) => SHOWN[event.type](event, told)),
  ].flat().filter((each) => each);
}

const row = (at, attributes, ...inside) => make("div", { class: "step", ...attributes }, make("div", { class: "at" }, at), inside);
const aside = (...inside) => row("", { class: "step aside" }, ...inside);

const SHOWN = {
  step(event, told) {
    const asked = event.questions.filter((each) => each.purpose === "ask");
    return row(event.number, {},
      memoryOf(event, told),
      event.thoughts.map((text) => make("p", { class: "thought" }, text)),
      asked.map((each) => make("p", { class: "tags" }, tag("the plan asked, the model answered"), make("code", {}, said(each)))),
      event.wrote !== null && make("p", { class: "tags" }, tag("the model wrote"), make("code", {}, event.wrote)),
      event.rejected ? null : make("div", { class: "action" }, make("code", {}, event.action)),
      make("p", { class: "observation" }, event.observation),
      event.picture && /^data:image\/png;base64,[A-Za-z0-9+/=]+$/.test(event.picture) && make("img", { src: event.picture, alt: `The page after step ${event.number}`, loading: "lazy" }),
      make("p", { class: "tags" },
        event.won && tag("achieved", "won"), event.rejected && tag(REJECTED[event.rejected] || event.rejected, "lost"),
        event.invalid && tag("the world did not understand", "lost"), event.rewritten && tag("sent otherwise than written", "none"),
        event.reward !== 0 && tag(`reward ${event.reward > 0 ? "+" : ""}${points(event.reward)}`, event.reward > 0 ? "won" : "lost"),
        event.reward !== 0 && tag(`${points(event.score)} points`), event.subgoals.length > 0 && tag(`reached: ${event.subgoals.join(", ")}`, "won")),
      questionsOf(event.questions));
  },
  plan(event) {
    const first = event.diff === null;
    return aside(
      make("strong", {}, first ? "Plan" : event.criticised ? `Plan ${event.number + 1}, after criticism` : `Revision ${event.number}`),
      make("p", { class: "tags" }, tag(event.level), event.rejected && tag(`not run: ${event.rejected}`, "lost"),
        event.start_from > 1 && tag(`begins at step ${event.start_from}`), event.failed_step !== null && tag(`the plan before broke off at step ${event.failed_step}`)),
      event.reason && make("p", { class: "observation" }, event.reason),
      first ? null : event.diff.length ? diffOf(event.diff) : make("p", { class: "thought" }, "It is the same as the plan before, word for word."),
      make("details", { open: first && window.matchMedia("(min-width: 46rem)").matches }, make("summary", {}, `The whole plan (${plural(event.text.split("\n").length, "line")})`),
        make("pre", { class: "code", tabindex: 0 }, event.text)));
  },
  note(event) {
    return aside(make("strong", {}, event.kind === "sweet" ? "Note on a sub-goal" : event.kind === "sour" ? "Note on the failure" : `Note (${event.kind})`),
      event.rejected && make("p", { class: "tags" }, tag(`not taken: ${event.rejected}`, "lost")),
      make("p", { class: "observation" }, event.text), questionsOf(event.questions));
  },
  rest(event) {
    return aside(make("strong", {}, "After the last action"), event.thoughts.map((text) => make("p", { class: "thought" }, text)),
      event.failure && make("p", { class: "tags" }, tag("the last plan failed, and no other could be written", "lost")),
      event.failure && make("p", { class: "observation" }, event.failure), questionsOf(event.questions));
  },
};

function diffOf(lines) {
  const classes = { "+": "plus", "-": "minus", "@": "skipped" };
  return make("pre", { class: "code diff", tabindex: 0 }, lines.map(([sign, text]) => make("span", { class: classes[sign] || null }, sign === "@" ? `… ${text}` : `${sign} ${text}`)));
}

function memoryOf(event, told) {
  if (!event.recalled) return null;
  const notes = event.recalled.map((id) => {
    const note = told.notes[id];
    return make("p", { class: "observation" }, make("span", { class: "role" }, note ? `${note.kind}, ${note.of}: ` : `${id}: `),
      note ? note.text : "from memory.path; its text stands in the prompt");
  });
  return event.recalled.length ? fold(`${plural(event.recalled.length, "note")} from memory in the prompts from here`, notes) : make("p", { class: "tags" }, "no note from memory in the prompts from here");
}

const messages = (list) => list.map((each) => [make("p", { class: "role" }, each.role), make("pre", {}, each.content)]);
const said = (question) => question.parts.map((part) => part.text).join("");

function questionsOf(questions) {
  if (!questions.length) return null;
  const purposes = [...new Set(questions.map((each) => each.purpose))].join(", ");
  return fold(`${plural(questions.length, "question")} to the model (${purposes}): ${plural(total(questions, "tokens"), "token")} said, ${time(total(questions, "seconds"))}`,
    questions.map((each) => [
      make("p", { class: "role" }, `${each.purpose} · ${each.id}${each.parts.length > 1 ? ` · said in ${each.parts.length} blanks` : ""}`),
      each.parts.map((part) => partOf(part)),
    ]));
}

function partOf(part) {
  const { mask } = part;
  return [
    part.appended && part.appended.length ? fold("What was appended to the prompt before", messages(part.appended)) : null,
    make("pre", {}, part.text),
    make("p", { class: "tags" },
      tag(part.finish === "rated" ? "options rated, nothing said" : `ended: ${part.finish}`), tag(`read ${count(part.prompt_tokens)} (${count(part.cached)} cached), said ${count(part.tokens)}`),
      tag(time(part.seconds)), part.dropped > 0 && tag(`${plural(part.dropped, "turn")} left out of the prompt`, "none"), part.mended.length > 0 && tag(`mended on the way: ${part.mended.join(", ")}`, "none"),
      tag(`prompt ${part.prompt}${part.exact === true ? ", built again to the byte" : part.exact === false ? ", held more than is recorded" : ""}`), tag(part.grammar ? `grammar ${part.grammar}` : "no grammar")),
    mask && make("p", { class: "tags mask" }, make("span", { class: "likely" }, make("i", { style: `width:${Math.round(mask.probability * 100)}%` })),
      tag(`the model itself gave ${percent(mask.probability)} to a token (geometric mean of ${mask.tokens}), ${percent(mask.whole)} to the whole;`
        + ` its own first choice was allowed at ${mask.legal} of ${mask.tokens}`)),
  ];
}
