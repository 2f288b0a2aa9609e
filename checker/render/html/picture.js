"use strict";
// The picture of a run, and the text of its protocol.

const SVG_STEP = "g.step[data-step]";
const SVG_ARROW = "g.arrow, g.arrow-text";

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
    this.shown = step;
    this.uncover(step);
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
