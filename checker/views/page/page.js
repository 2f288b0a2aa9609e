"use strict";
// One Run for each run on the page; Together moves two of them along the steps that they share.

const SVG_STEP = "g.step[data-step]";
const SVG_ARROW = "g.arrow, g.arrow-text";

/** A new element with a class and a text. */
function made(tag, name = "", text = "") {
  const element = document.createElement(tag);
  if (name) element.className = name;
  if (text) element.textContent = text;
  return element;
}

/** What stands in the page's address: `#step=7&theme=dark` as a map. */
function address() {
  return new URLSearchParams(location.hash.slice(1));
}

/** Puts `changes` into the page's address, without a new entry in the history. */
function remember(changes) {
  const found = address();
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) found.delete(name);
    else found.set(name, value);
  }
  const text = found.toString();
  try {
    history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
  } catch {
    location.replace(`#${text}`);
  }
}

/** The state of every cell at a step, moved along by what each step changes. */
class Cells {
  constructor(data) {
    this.steps = data.steps;
    this.texts = data.cells.map((cell) => cell[3]);
    this.at = 0;
  }

  moveTo(step) {
    while (this.at < step) {
      this.at += 1;
      for (const [cell, , after] of this.steps[this.at].d) this.texts[cell] = after;
    }
    while (this.at > step) {
      for (const [cell, before] of this.steps[this.at].d) this.texts[cell] = before;
      this.at -= 1;
    }
    return this.texts;
  }
}

/** Which processes are down after each step, as a list of sets that are shared where equal. */
function fallen(steps) {
  let down = new Set();
  return steps.map((step) => {
    for (const [, kind, process] of step.e) {
      if (kind !== "crash" && kind !== "recover") continue;
      down = new Set(down);
      if (kind === "crash") down.add(process);
      else down.delete(process);
    }
    return down;
  });
}

/** The last line of the block that begins in line `first` (both from 1), by its braces. */
function blockEnd(lines, first) {
  let depth = 0;
  for (let line = first; line <= lines.length; line += 1) {
    const code = lines[line - 1].replace(/\/\/.*/, "");
    for (const sign of code) {
      if (sign === "{") depth += 1;
      if (sign === "}") depth -= 1;
    }
    if (depth <= 0) return line;
  }
  return first;
}

class Picture {
  constructor(root) {
    this.box = root.querySelector(".diagram");
    this.svg = this.box.querySelector("svg");
    this.steps = new Map();
    this.marks = new Map();
    for (const mark of this.box.querySelectorAll(SVG_STEP)) {
      const step = Number(mark.dataset.step);
      if (!this.steps.has(step)) this.steps.set(step, []);
      this.steps.get(step).push(mark);
      this.date(step, mark);
    }
    for (const mark of this.box.querySelectorAll(SVG_ARROW)) {
      const { sent, ended } = mark.dataset;
      this.date(Number(sent ?? ended ?? 0), mark);
    }
    this.deliveries = [...this.box.querySelectorAll(".delivery")];
    this.violations = [...this.box.querySelectorAll(".violation")];
    this.shown = null;
  }

  /** Fades what is later than `step`, marks what is now, and scrolls there. */
  show(step, last) {
    const was = this.shown ?? last;
    for (const [number, mark] of this.dated(Math.min(was, step) + 1, Math.max(was, step))) {
      mark.classList.toggle("later", number > step);
    }
    for (const mark of this.steps.get(this.shown) ?? []) {
      mark.classList.remove("now");
      mark.setAttribute("tabindex", "-1");
    }
    for (const mark of this.steps.get(step) ?? []) {
      mark.classList.add("now");
      mark.setAttribute("tabindex", "0");
    }
    for (const mark of this.deliveries) {
      mark.classList.toggle("later", Number(mark.dataset.step ?? last) > step);
    }
    for (const mark of this.violations) mark.classList.toggle("later", step < last);
    this.shown = step;
    this.uncover(step);
  }

  date(step, mark) {
    if (!this.marks.has(step)) this.marks.set(step, []);
    this.marks.get(step).push(mark);
  }

  /** Pairs of a step, from `first` to `last`, and what the picture shows of it. */
  *dated(first, last) {
    for (let step = first; step <= last; step += 1) {
      for (const mark of this.marks.get(step) ?? []) yield [step, mark];
    }
  }

  uncover(step) {
    const marks = this.steps.get(step);
    if (!marks) {
      if (step === 0) this.box.scrollTop = 0;
      return;
    }
    const mark = marks[0].getBoundingClientRect();
    const box = this.box.getBoundingClientRect();
    const margin = 48;
    if (mark.top < box.top + margin) this.box.scrollTop -= box.top + margin - mark.top;
    if (mark.bottom > box.bottom - margin) this.box.scrollTop += mark.bottom - box.bottom + margin;
    if (mark.left < box.left + margin) this.box.scrollLeft -= box.left + margin - mark.left;
    if (mark.right > box.right - margin) this.box.scrollLeft += mark.right - box.right + margin;
  }
}

class Source {
  constructor(root) {
    this.files = [...root.querySelectorAll(".file")];
    this.buttons = [...root.querySelectorAll(".files button")];
    this.lines = this.files.map((file) => [...file.querySelectorAll("li")]);
    this.marked = [];
    this.chosen = 0;
    this.buttons.forEach((button, number) => {
      button.addEventListener("click", () => this.open(number));
    });
    if (!this.files.length) return;
    this.open(0);
    const begins = this.lines[0].findIndex((line) => /^protocol\b/.test(line.textContent.trim()));
    if (begins >= 0) this.uncover(0, begins + 6);
  }

  open(number) {
    this.chosen = number;
    this.files.forEach((file, at) => { file.hidden = at !== number; });
    this.buttons.forEach((b, at) => b.setAttribute("aria-pressed", String(at === number)));
  }

  /** Marks the handlers, the effects and the place of the crash of `step`. */
  show(step) {
    for (const line of this.marked) {
      line.classList.remove("handler", "inside", "effect", "crash");
      line.querySelector(".mark")?.remove();
    }
    this.marked = [];
    for (const button of this.buttons) button.classList.remove("spoken-of");
    const places = step.e.filter((event) => event[3]);
    for (const [, kind, , [file, line]] of places) {
      if (kind === "handler") this.handler(file, line);
    }
    for (const [said, kind, , [file, line]] of places) {
      if (kind !== "handler") this.mark(file, line, "effect", `● ${said}`);
    }
    const cut = step.c.find((event) => event[3]);
    if (cut) this.mark(cut[3][0], cut[3][1], "crash", "✕ crashed before this: " + cut[0]);
    const first = cut ?? places.find((e) => e[1] !== "handler" && e[3][0] === 0)
      ?? places.find((e) => e[3][0] === 0) ?? places[0];
    if (first) this.uncover(first[3][0], first[3][1]);
  }

  handler(file, first) {
    const texts = this.lines[file].map((line) => line.querySelector("code").textContent);
    const end = blockEnd(texts, first);
    for (let line = first; line <= end; line += 1) {
      this.mark(file, line, line === first ? "handler" : "inside");
    }
  }

  mark(file, number, name, said = "") {
    const line = this.lines[file]?.[number - 1];
    if (!line) return;
    line.classList.add(name);
    this.marked.push(line);
    this.buttons[file].classList.add("spoken-of");
    if (!said) return;
    line.querySelector(".mark")?.remove();
    line.append(made("span", "mark", said));
  }

  uncover(file, number) {
    if (file !== this.chosen) this.open(file);
    const line = this.lines[file][number - 1];
    if (!line) return;
    const box = line.closest(".code");
    const top = line.offsetTop - box.clientHeight / 2 + line.offsetHeight / 2;
    box.scrollTop = Math.max(top, 0);
  }
}

class Run {
  constructor(root, data, fragment) {
    this.root = root;
    this.data = data;
    this.fragment = fragment;
    this.last = data.steps.length - 1;
    this.step = null;
    this.moved = () => {};
    this.cells = new Cells(data);
    this.down = fallen(data.steps);
    this.context = new Set(data.context);
    this.picture = new Picture(root);
    this.source = new Source(root);
    this.find = (selector) => root.querySelector(selector);
    this.rows = [...root.querySelectorAll(".steps li")];
    for (const row of this.rows) row.removeAttribute("id");
    this.listen();
  }

  listen() {
    const act = {
      first: () => this.go(0),
      back: () => this.by(-1),
      next: () => this.by(1),
      last: () => this.go(this.last),
      play: () => this.play(),
    };
    for (const button of this.root.querySelectorAll("[data-do]")) {
      button.addEventListener("click", () => act[button.dataset.do]());
    }
    this.find(".time").addEventListener("input", (event) => this.go(Number(event.target.value)));
    this.find(".slice")?.addEventListener("change", (event) => this.slice(event.target.checked));
    this.root.addEventListener("click", (event) => {
      const link = event.target.closest("a[data-to]");
      const mark = event.target.closest(".diagram [data-step]");
      if (!link && !mark) return;
      event.preventDefault();
      this.go(Number(link ? link.dataset.to : mark.dataset.step));
      if (mark) mark.focus({ preventScroll: true });
    });
    this.picture.box.addEventListener("keydown", (event) => {
      const mark = event.target.closest(SVG_STEP);
      if (mark && event.key === "Enter") this.go(Number(mark.dataset.step));
    });
  }

  /** The next step in a direction; where the slice is on, the next one that matters. */
  by(way) {
    let step = this.step + way;
    const sliced = this.root.classList.contains("sliced");
    while (sliced && step > 0 && step < this.last && this.context.has(step)) step += way;
    this.go(step);
  }

  /** Goes to `step`; `told`: others are told, and the address is kept. */
  go(wanted, told = true) {
    const step = Math.min(Math.max(wanted || 0, 0), this.last);
    if (step === this.step) return;
    this.step = step;
    const now = this.data.steps[step];
    this.find(".time").value = step;
    this.find(".time").setAttribute("aria-valuetext", `step ${step}: ${now.h}`);
    this.find(".count").textContent = `step ${step} of ${this.last}`;
    this.picture.show(step, this.last);
    this.showNow(now, step);
    this.showState(now, step);
    this.showMail(step);
    this.showClaims(step);
    this.source.show(now);
    this.row?.removeAttribute("data-now");
    this.row = this.rows[step];
    this.row?.setAttribute("data-now", "");
    this.find(".chart")?.style.setProperty("--now", step);
    if (!told) return;
    remember({ [this.fragment]: step });
    speak(`Step ${step} of ${this.last}: ${now.h}`);
    this.moved(step);
  }

  showNow(now, step) {
    this.find(".headline").textContent = `${step}. ${now.h}`;
    const told = now.e.filter((event) => event[1] !== "handler" && event[0] !== now.h);
    const items = told.map(([said, kind]) => made("li", kind, said));
    for (const [said] of now.c) items.push(made("li", "cut", `never happens, it crashed before: ${said}`));
    if (this.context.has(step)) {
      items.push(made("li", "aside", "The violation does not depend on this step."));
    }
    if (this.data.closing && step === this.last) {
      items.push(made("li", "aside", `Then all is as it was after step ${this.data.loop}, and so on for ever.`));
    }
    this.find(".events").replaceChildren(...items);
  }

  showState(now, step) {
    const texts = this.cells.moveTo(step);
    const before = new Map(now.d.map(([cell, was]) => [cell, was]));
    const value = (cell) => {
      const box = made("span");
      if (before.has(cell)) {
        box.append(made("del", "", before.get(cell)), " → ", made("ins", "", texts[cell]));
      } else {
        box.textContent = texts[cell];
      }
      return box;
    };
    const own = new Map();
    const common = [];
    this.data.cells.forEach(([title, kind, process], cell) => {
      const inside = kind === "local" || kind === "history";
      if (!process || !inside) {
        common.push([cell, title, kind, process]);
        return;
      }
      if (!own.has(title)) own.set(title, new Map());
      own.get(title).set(process, cell);
    });
    this.table(own, common.filter((each) => each[2] === "shared"), value, step, now.p);
    const list = this.find(".world dl");
    list.replaceChildren();
    for (const [cell, title, kind, process] of common) {
      if (kind === "shared") continue;
      const row = made("div");
      const definition = made("dd");
      definition.append(value(cell));
      row.append(made("dt", "", process ? `${title} (${process})` : title), definition);
      list.append(row);
    }
    this.find(".world").hidden = !list.childElementCount;
  }

  table(own, shared, value, step, acting) {
    const table = this.find(".state");
    const caption = table.caption;
    const head = made("tr");
    head.append(made("td"));
    for (const process of this.data.processes) {
      const cell = made("th", process === acting ? "acting" : "", process);
      cell.scope = "col";
      const down = this.down[step].has(process);
      const note = down ? "✕ down" : this.data.faulty[process] ?? "";
      if (note) cell.append(made("span", down ? "down" : "faulty", note));
      head.append(cell);
    }
    const rows = [head];
    for (const [title, cells] of own) {
      const row = made("tr");
      const name = made("th", "", title);
      name.scope = "row";
      row.append(name);
      for (const process of this.data.processes) {
        const cell = made("td", this.down[step].has(process) ? "down" : "");
        if (cells.has(process)) cell.append(value(cells.get(process)));
        row.append(cell);
      }
      rows.push(row);
    }
    for (const [cell, title] of shared) {
      const row = made("tr");
      const name = made("th", "", title);
      name.scope = "row";
      const text = made("td", "shared");
      text.colSpan = this.data.processes.length;
      text.append(value(cell));
      row.append(name, text);
      rows.push(row);
    }
    table.replaceChildren(caption, ...rows);
  }

  showMail(step) {
    const items = [];
    for (const [message, sender, receiver, how, sent, ended] of this.data.sent) {
      if (sent > step || (ended !== null && ended <= step)) continue;
      const never = how === "missed" ? ", never arrives" : how === "lost" ? ", will be lost" : "";
      items.push(made("li", how.replace(" ", "-"), `${message}  ${sender} → ${receiver}${never}`));
    }
    if (!items.length) items.push(made("li", "none", "none"));
    this.find(".mail").replaceChildren(...items);
  }

  showClaims(step) {
    const at = this.data.closing && step === this.last ? this.data.loop : step;
    for (const item of this.root.querySelectorAll("[data-claim]")) {
      const bits = this.data.claims[Number(item.dataset.claim)];
      const bit = bits[Math.min(at, bits.length - 1)];
      if (bit === undefined) continue;
      item.classList.toggle("true", bit === "1");
      item.classList.toggle("false", bit !== "1");
      item.querySelector(".truth").textContent = bit === "1" ? "✓" : "✗";
      item.querySelector(".spell").textContent = bit === "1" ? " (true now)" : " (false now)";
    }
  }

  slice(on) {
    this.root.classList.toggle("sliced", on);
    const box = this.find(".slice");
    if (box) box.checked = on;
    remember({ slice: on ? "1" : null });
    speak(on ? "Only what matters is shown" : "All steps are shown");
  }

  play() {
    const button = this.find("[data-do=play]");
    if (this.playing) {
      clearInterval(this.playing);
      this.playing = null;
    } else {
      if (this.step === this.last) this.go(0);
      this.playing = setInterval(() => {
        this.by(1);
        if (this.step === this.last) this.play();
      }, 900);
    }
    button.setAttribute("aria-pressed", String(Boolean(this.playing)));
    button.setAttribute("aria-label", this.playing ? "pause" : "play");
    button.textContent = this.playing ? "Pause" : "Play";
  }
}

/** Two runs that move as one as long as they are the same. */
class Together {
  constructor(runs, common) {
    this.runs = runs;
    this.common = common;
    this.slider = document.querySelector("#together");
    this.said = document.querySelector("output[for=together]");
    this.slider.addEventListener("input", () => this.both(Number(this.slider.value)));
    runs.forEach((run, at) => {
      run.moved = (step) => this.follow(runs[1 - at], step);
      for (const mark of run.picture.steps.get(common + 1) ?? []) mark.classList.add("parts");
      run.rows[common + 1]?.classList.add("parts");
    });
  }

  both(step) {
    for (const run of this.runs) {
      const moved = run.moved;
      run.moved = () => {};
      run.go(step);
      run.moved = moved;
    }
    this.say(step);
  }

  /** Along the steps that are the same, the other run comes along; beyond them it waits there. */
  follow(other, step) {
    if (step <= this.common || other.step < this.common) {
      other.go(Math.min(step, this.common), false);
      remember({ [other.fragment]: other.step });
    }
    this.say(step);
  }

  say(step) {
    this.slider.value = step;
    this.said.textContent = step <= this.common
      ? `step ${step}, the same in both`
      : this.runs.map((run) => `step ${run.step}`).join(" and ") + ", no longer the same";
  }
}

function speak(text) {
  document.querySelector(".spoken").textContent = text;
}

function theme(wanted, kept = true) {
  const root = document.documentElement;
  const button = document.querySelector(".theme");
  root.dataset.theme = wanted;
  button.setAttribute("aria-pressed", String(wanted === "dark"));
  if (kept) remember({ theme: wanted });
}

function begin() {
  document.documentElement.classList.add("js");
  const data = JSON.parse(document.getElementById("data").textContent);
  const fragments = ["step", "other"];
  const runs = [...document.querySelectorAll(".run")].map(
    (root, at) => new Run(root, data.runs[at], fragments[at]),
  );
  const together = runs.length > 1 ? new Together(runs, data.common) : null;
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  theme(address().get("theme") ?? (dark ? "dark" : "light"), address().has("theme"));
  document.querySelector(".theme").addEventListener("click", () => {
    theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
  });
  const keys = document.querySelector("dialog.keys");
  document.querySelector(".help").addEventListener("click", () => keys.showModal());

  const follow = () => {
    const found = address();
    runs.forEach((run) => {
      const asked = found.get(run.fragment);
      const step = asked === null || asked === "" || Number.isNaN(Number(asked))
        ? together ? together.common : run.last
        : Math.trunc(Number(asked));
      run.go(step, false);
      if (found.get("slice") === "1" && !run.root.classList.contains("sliced")) run.slice(true);
    });
    together?.say(runs[0].step);
  };
  const linked = location.hash !== "";
  follow();
  if (linked) scrollTo(0, 0);
  addEventListener("hashchange", follow);

  const step = (way) => {
    if (together && runs.every((run) => run.step + way <= data.common)) together.both(runs[0].step + way);
    else (runs.find((run) => run.root.contains(document.activeElement)) ?? runs[0]).by(way);
  };
  const chosen = () => runs.find((run) => run.root.contains(document.activeElement)) ?? runs[0];
  const acts = {
    ArrowRight: () => step(1), j: () => step(1),
    ArrowLeft: () => step(-1), k: () => step(-1),
    Home: () => (together ? together.both(0) : chosen().go(0)),
    End: () => (together ? together.both(Math.max(...runs.map((run) => run.last))) : chosen().go(chosen().last)),
    " ": () => chosen().play(),
    c: () => runs.forEach((run) => {
      if (run.context.size) run.slice(!run.root.classList.contains("sliced"));
    }),
    "?": () => keys.showModal(),
  };
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || keys.open || !acts[event.key]) return;
    const target = event.target;
    const takes = target.matches("input[type=range]") || target.closest(".code, table, .legend");
    if (takes && /^(Arrow|Home|End)/.test(event.key) && target.matches("input")) return;
    if (event.key === " " && target.matches("button, summary, input, a")) return;
    event.preventDefault();
    acts[event.key]();
  });
}

begin();
