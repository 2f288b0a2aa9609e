// The picture of a run, and the text of its protocol.

const SVG_STEP = "g.step[data-step]";
const ZOOMS = [0.3, 0.45, 0.6, 0.8, 1, 1.25, 1.6, 2, 3];
const SVG_ARROW = "g.arrow, g.arrow-text";

class Picture {
  constructor(root) {
    this.box = root.querySelector(".diagram");
    this.svg = this.box.querySelector("svg");
    this.other = root.querySelector(".other-layout")?.content.querySelector("svg");
    this.orders = [...root.querySelectorAll(".caption [data-layout]")];
    this.parting = null;
    this.hidden = new Set();
    this.sliced = false;
    this.read();
  }

  /** Takes in what the picture shows. */
  read() {
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
    this.folding = new Folding(this.svg);
    this.deliveries = [...this.box.querySelectorAll(".delivery")];
    this.violations = [...this.box.querySelectorAll(".violation")];
    this.shown = null;
  }

  /** The name of the layout that is shown. */
  get layout() {
    return this.orders.find((order) => !order.hidden).dataset.layout;
  }

  /** Shows the same run in the other layout. */
  swap(step, last) {
    const next = document.importNode(this.other, true);
    this.other = this.svg;
    this.svg.replaceWith(next);
    this.svg = next;
    for (const order of this.orders) order.hidden = !order.hidden;
    this.read();
    if (this.hidden.size || this.sliced) this.fold();
    this.part(this.parting);
    this.show(step, last);
  }

  /** Leaves out the lanes of processes in `hidden`, and, where `sliced`, what does not matter. */
  fold() {
    this.folding.fold(this.hidden, this.sliced);
  }

  /** Makes the picture larger (1) or smaller (-1). */
  zoom(way) {
    const wide = this.svg.getBoundingClientRect().width / this.svg.viewBox.baseVal.width;
    const level = ZOOMS.filter((each) => (way > 0 ? each > wide + 0.02 : each < wide - 0.02));
    if (!level.length) return;
    this.box.style.setProperty("--zoom", way > 0 ? level[0] : level.at(-1));
    this.box.classList.add("zoomed");
    this.uncover(this.shown);
  }

  /** Marks the step in which two runs part. */
  part(step) {
    this.parting = step;
    for (const mark of this.steps.get(step) ?? []) mark.classList.add("parts");
  }

  /** Fades what is later than `step`, marks what is now, and scrolls there. */
  show(step, last) {
    const was = this.shown ?? last;
    const focused = this.box.contains(document.activeElement) && document.activeElement !== this.box;
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
    if (focused) this.steps.get(step)?.[0].focus({ preventScroll: true });
    for (const mark of this.deliveries) {
      mark.classList.toggle("later", Number(mark.dataset.step ?? last) > step);
    }
    for (const mark of this.violations) mark.classList.toggle("later", step < last);
    const opened = this.shown === null;
    this.shown = step;
    this.uncover(step, opened);
  }

  /** Where a step is in the picture. */
  place(step) {
    return this.steps.get(step)?.[0] ?? this.box;
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

  /** Scrolls to `step`; when the page has just been `opened`, the left edge stays in sight. */
  uncover(step, opened) {
    const marks = this.steps.get(step)?.filter((mark) => !mark.hasAttribute("hidden"));
    if (!marks?.length) {
      if (step === 0) this.box.scrollTop = 0;
      return;
    }
    const mark = marks[0].getBoundingClientRect();
    const box = this.box.getBoundingClientRect();
    const margin = 48;
    if (mark.top < box.top + margin) this.box.scrollTop -= box.top + margin - mark.top;
    if (mark.bottom > box.bottom - margin) this.box.scrollTop += mark.bottom - box.bottom + margin;
    if (opened) return;
    if (mark.left < box.left + margin) this.box.scrollLeft -= box.left + margin - mark.left;
    if (mark.right > box.right - margin) this.box.scrollLeft += mark.right - box.right + margin;
  }
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

  /** Marks the handlers, the effects and the place of the crash of `step`, and that of an error. */
  show(step, failure) {
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
    const failed = failure?.[3] ? failure : null;
    if (failed) this.mark(...failed[3], "crash", `✕ ${failed[0]}`);
    const first = failed ?? cut ?? places.find((e) => e[1] !== "handler" && e[3][0] === 0)
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
