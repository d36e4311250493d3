// What the world asks of a page; evaluated before the page's own scripts, as the object `groundling`.
(() => {
  const HARNESS = "#reward-display, #click-canvas, #sync-task-cover, #query, script, style";
  // Attributes of MiniWoB++'s own recorder, and those that repeat what classes say
  const LEFT_OUT = /^(data-(wob|tampered|recording).*|aria-.*|role|tabindex)$/;
  const VOID = new Set(["area", "br", "col", "hr", "img", "input", "wbr"]);
  const INTERACTIVE = new Set(["a", "button", "input", "label", "option", "select", "textarea"]);
  const IN_PARTS = new Set(["date", "datetime-local", "month", "time", "week"]);
  const WITHOUT_TEXT = new Set(["checkbox", "radio", "button", "submit", "reset", "image"]);

  const leftOut = (name, value) =>
    LEFT_OUT.test(name) || (value === "" && (name === "class" || name === "style"));
  const tag = (element) => element.tagName.toLowerCase();
  const ofTask = (node) =>
    node.nodeType === Node.ELEMENT_NODE && document.body.contains(node) &&
    node !== document.body && node.id !== "wrap" && !node.closest(HARNESS);

  // ---- what is shown

  function shown(element) {
    if (tag(element) === "option") { // those of a closed list have no place of their own
      const list = element.closest("select");
      return list !== null && shown(list);
    }
    return element.checkVisibility({ visibilityProperty: true }) &&
      [...element.getClientRects()].some((rect) => rect.width > 0 && rect.height > 0);
  }

  // ---- the state as text

  const escaped = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  const said = (text) => escaped(/[\n\r]/.test(text) ? text.replace(/\s+/g, " ") : text);

  function attributes(element, fields) {
    const all = new Map();
    for (const { name, value } of element.attributes) {
      if (!leftOut(name, value)) all.set(name, value);
    }
    const held = (name, value, there) => (there ? all.set(name, value) : all.delete(name));
    if (fields && tag(element) === "input") {
      if (!WITHOUT_TEXT.has(element.type)) held("value", element.value, element.value !== "");
      else if (element.type === "checkbox" || element.type === "radio") {
        held("checked", "", element.checked);
      }
    }
    if (fields && tag(element) === "option") held("selected", "", element.selected);
    return [...all].map(([name, value]) =>
      value === "" ? ` ${name}` : ` ${name}="${escaped(value).replace(/"/g, "&quot;")}"`).join("");
  }

  function html(element, fields, depth) {
    const name = tag(element);
    const open = `<${name}${attributes(element, fields)}>`;
    if (VOID.has(name)) return open;
    const close = `</${name}>`;
    if (fields && name === "textarea") return open + escaped(element.value) + close;
    const nodes = [...element.childNodes].filter((node) =>
      node.nodeType === Node.TEXT_NODE || (node.nodeType === Node.ELEMENT_NODE && !node.matches(HARNESS)));
    const words = nodes.some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
    if (words || depth < 0) { // white space between words and elements counts, so no line breaks
      return open + nodes.map((node) =>
        node.nodeType === Node.TEXT_NODE ? said(node.data) : html(node, fields, -1)).join("") + close;
    }
    const inner = nodes.filter((node) => node.nodeType === Node.ELEMENT_NODE);
    if (!inner.length) return open + close;
    const indent = "\n" + " ".repeat(depth + 1);
    return open + inner.map((node) => indent + html(node, fields, depth + 1)).join("") +
      "\n" + " ".repeat(depth) + close;
  }

  function state(fields) {
    const roots = [];
    for (const child of document.body.children) {
      if (child.id === "wrap") roots.push(...child.children);
      else roots.push(child);
    }
    return roots.filter(ofTask).map((root) => html(root, fields, 0)).join("\n");
  }

  // ---- pointing at an element

  function select(xpath) {
    const found = document.evaluate(xpath, document, null, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE, null);
    return Array.from({ length: found.snapshotLength }, (_, i) => found.snapshotItem(i)).filter(ofTask);
  }

  const brief = (element) => {
    const copy = element.cloneNode(false);
    for (const { name, value } of [...copy.attributes]) if (leftOut(name, value)) copy.removeAttribute(name);
    return copy.outerHTML.replace(/<\/[^>]*>$/, "").slice(0, 120);
  };

  // Where a click meets it: the middle of its first box, else wherever it is free. A field of several
  // parts is met at its first one, from which typing goes on to the others.
  function point(element) {
    element.scrollIntoView({ block: "nearest", inline: "nearest", behavior: "instant" });
    const rights = IN_PARTS.has(element.type) ? [0.1] : [0.5, 0.25, 0.75, 0.1, 0.9];
    let over = null;
    for (const rect of element.getClientRects()) {
      for (const down of [0.5, 0.25, 0.75, 0.1, 0.9]) {
        for (const right of rights) {
          const x = rect.left + rect.width * right, y = rect.top + rect.height * down;
          const hit = document.elementFromPoint(x, y);
          if (hit && (element === hit || element.contains(hit))) return { x, y };
          over = over || hit;
        }
      }
    }
    return { covered: over ? brief(whole(over, element)) : "the edge of the page" };
  }

  function whole(part, beside) { // what covers as a whole: a popup, not the paragraph in it
    let all = part;
    while (!all.id && all.parentElement && !all.parentElement.contains(beside)) all = all.parentElement;
    return all;
  }

  function locate(xpath) {
    let found;
    try {
      found = select(xpath);
    } catch (error) {
      return { problem: "malformed" };
    }
    const visible = found.filter(shown);
    if (!found.length) return { problem: "nothing" };
    if (!visible.length) return { problem: "hidden", count: found.length, brief: brief(found[0]) };
    const element = visible[0];
    const about = { count: visible.length, tag: tag(element), brief: brief(element),
      disabled: element.matches(":disabled") };
    if (about.tag === "option") return about;
    const place = point(element);
    return place.covered ? { problem: "covered", ...about, ...place } : { ...about, ...place };
  }

  function choose(xpath) { // as if picked from its list by a person
    const option = select(xpath).filter(shown)[0];
    const list = option.closest("select");
    list.focus();
    if (list.multiple) option.selected = true;
    else list.selectedIndex = [...list.options].indexOf(option);
    for (const kind of ["input", "change"]) list.dispatchEvent(new Event(kind, { bubbles: true }));
  }

  // ---- what can be named

  function literal(text) { // as XPath writes it on one line; null where it cannot
    if (!text.trim() || /[\x00-\x1f]/.test(text) || text.isWellFormed?.() === false) return null;
    return !text.includes("'") ? `'${text}'` : !text.includes('"') ? `"${text}"` : null;
  }

  const texts = (element) =>
    [...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE).map((node) => node.data);

  const step = (element) => // svg's elements have a namespace, which a bare name does not match
    element.namespaceURI === "http://www.w3.org/1999/xhtml" ? tag(element) : `*[name()='${element.tagName}']`;

  function ways(element) { // XPaths that may point at it alone, the plainest first
    const name = step(element);
    const predicate = (key, value) => (literal(value || "") ? `[${key}=${literal(value)}]` : "");
    const id = predicate("@id", element.id), kind = predicate("@class", element.getAttribute("class"));
    const words = predicate("text()", texts(element).find((text) => text.trim()));
    const others = ["name", "type", "value", "href"].map((key) => predicate("@" + key, element.getAttribute(key)));
    return [id, words, kind, kind && words && kind + words, ...others].filter(Boolean)
      .map((predicates) => `//${name}${predicates}`);
  }

  function pointer(element, known) {
    if (known.has(element)) return known.get(element);
    const alone = (xpath) => {
      const visible = select(xpath).filter(shown);
      return visible.length === 1 && visible[0] === element;
    };
    let way = ways(element).find(alone);
    if (!way) {
      const name = step(element), kin = [...element.parentElement.children].filter((one) => step(one) === name);
      const parent = element.parentElement;
      const above = ofTask(parent) && shown(parent) ? pointer(parent, known) : "//body/" + (parent.id === "wrap" ? "div[@id='wrap']" : "");
      way = `${above}/${name}[${kin.indexOf(element) + 1}]`.replace(/([^/])\/\/+/g, "$1/");
    }
    known.set(element, way);
    return way;
  }

  function names() {
    const elements = [...document.body.querySelectorAll("*")].filter(ofTask).filter(shown);
    const known = new Map();
    const worth = (element) => !["br", "hr", "wbr"].includes(tag(element)) &&
      (INTERACTIVE.has(tag(element)) || !element.firstElementChild ||
        (element.id && element.id !== "area") || texts(element).some((text) => text.trim()));
    const pointed = elements.filter(worth);
    const option = (element) => tag(element) === "option";
    const pointers = (some) => some.map((element) => pointer(element, known));
    return {
      TAG: elements.map(tag),
      ID: elements.map((element) => element.id),
      CLASS: elements.map((element) => element.getAttribute("class") || ""),
      TEXT: elements.flatMap(texts),
      XPATH: pointers(pointed.filter((element) => !option(element))),
      OPTION: pointers(pointed.filter(option)),
    };
  }

  // ---- the episode

  function begin(seed, mode) {
    core.EPISODE_MAX_TIME = 1e9; // the pages' own limits are 7 to 30 seconds
    core.endEpisode(0);
    Math.seedrandom(seed);
    core.setDataMode(mode);
    core.startEpisodeReal();
    const utterance = core.getUtterance();
    return typeof utterance === "string" ? utterance : utterance.utterance;
  }

  const outcome = () => ({
    ready: WOB_TASK_READY, done: WOB_DONE_GLOBAL, raw: WOB_RAW_REWARD_GLOBAL,
    reason: WOB_REWARD_REASON === null || WOB_REWARD_REASON === undefined ? "" : String(WOB_REWARD_REASON),
  });

  function selection(cut) { // what ctrl+c takes
    const field = document.activeElement;
    if (field && typeof field.selectionStart === "number") {
      const text = field.value.slice(field.selectionStart, field.selectionEnd);
      return { text, cut: cut && text !== "" && !field.readOnly };
    }
    return { text: String(window.getSelection()), cut: false };
  }

  // A click meant for a field of numbers can hit its arrows, which no XPath can name.
  const style = document.createElement("style");
  style.textContent = "input::-webkit-inner-spin-button { display: none; }";
  document.addEventListener("DOMContentLoaded", () => document.head.append(style));

  window.groundling = { state, locate, choose, names, begin, outcome, selection };
})();
