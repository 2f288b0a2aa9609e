// A run, and what is shown of it at the chosen step.

/** A new element with a class and a text. */
function made(tag, name = "", text = "") {
  const element = document.createElement(tag);
  if (name) element.className = name;
  if (text) element.textContent = text;
  return element;
}

/** Whether enough of `element` to notice it is on the screen, below what sticks to its top. */
function seen(element) {
  if (!element) return false;
  const { top, bottom } = element.getBoundingClientRect();
  return Math.min(bottom, innerHeight) - Math.max(top, 60) >= Math.min(bottom - top, 60) - 1;
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
    this.alternatives = new Alternatives(this);
    this.rows = [...root.querySelectorAll(".steps li")];
    for (const row of this.rows) row.removeAttribute("id");
    this.listen();
  }

  listen() {
    const act = {
      first: () => this.walk(0),
      back: () => this.by(-1),
      next: () => this.by(1),
      last: () => this.walk(this.last),
      play: () => this.play(),
    };
    for (const button of this.root.querySelectorAll("[data-do]")) {
      button.addEventListener("click", () => act[button.dataset.do]());
    }
    this.find(".time").addEventListener("input", (event) => this.walk(Number(event.target.value)));
    this.find(".slice")?.addEventListener("change", (event) => this.slice(event.target.checked));
    this.find("button.layout")?.addEventListener("click", () => {
      const layout = this.picture.layout === "steps" ? "causality" : "steps";
      this.arrange(layout);
      remember({ layout });
    });
    for (const button of this.root.querySelectorAll("[data-zoom]")) {
      button.addEventListener("click", () => this.picture.zoom(Number(button.dataset.zoom)));
    }
    for (const box of this.root.querySelectorAll(".lanes input")) {
      box.addEventListener("change", () => this.choose(box.value, box.checked));
    }
    this.root.addEventListener("click", (event) => {
      const link = event.target.closest("a[data-to]");
      const mark = event.target.closest(".diagram [data-step]");
      if (!link && !mark) return;
      event.preventDefault();
      this.go(Number(link ? link.dataset.to : mark.dataset.step));
      if (link && !seen(this.picture.place(this.step))) this.picture.box.parentElement.scrollIntoView();
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
    this.walk(step);
  }

  /** Goes to `step`, and keeps in sight what the reader follows: the picture; where that is not on
      the screen, the run in words; where nothing of the run is, the picture comes back. */
  walk(step) {
    const reading = this.row && seen(this.row);
    this.go(step);
    if (seen(this.picture.place(this.step))) return;
    if (reading) this.row.scrollIntoView({ block: "nearest" });
    else if (![".now", ".source", ".timeline"].some((part) => seen(this.find(part)))) {
      this.picture.box.parentElement.scrollIntoView();
    }
  }

  /** Goes to `step`; `told`: others are told, and the address is kept. */
  go(wanted, told = true) {
    const step = Math.min(Math.max(wanted || 0, 0), this.last);
    if (step === this.step && this.alternatives.chosen === null) return;
    this.step = step;
    this.render();
    if (!told) return;
    remember({ [this.fragment]: step, ...(this.alternatives.box ? { instead: null } : {}) });
    speak(`Step ${step} of ${this.last}: ${this.data.steps[step].h}`);
    this.moved(step);
  }

  /** Shows the chosen step. */
  render() {
    const { step } = this;
    const now = this.data.steps[step];
    this.find(".time").value = step;
    this.find(".time").setAttribute("aria-valuetext", `step ${step}: ${now.h}`);
    this.find(".count").textContent = `step ${step} of ${this.last}`;
    this.picture.show(step, this.last);
    this.showNow(now, step);
    this.showState(now, this.cells.moveTo(step), this.down[step]);
    this.showMail(step);
    this.alternatives.show(step);
    this.showClaims(step);
    this.source.show(now, step === this.last ? this.data.failure : null);
    this.row?.removeAttribute("data-now");
    this.row = this.rows[step];
    this.row?.setAttribute("data-now", "");
    this.find(".chart")?.style.setProperty("--now", step);
  }

  /** What happens in a step; without its number it is an alternative. */
  showNow(now, step = null) {
    this.find(".headline").textContent = `${step}. ${now.h}`;
    const fails = this.data.failing && step === this.last;
    this.find(".state").caption.textContent = `The state ${fails ? "before" : "after"} this step`;
    const told = now.e.filter((event) => event[1] !== "handler" && event[0] !== now.h);
    const items = told.map(([said, kind]) => made("li", kind, said));
    for (const [said] of now.c) items.push(made("li", "cut", `never happens, it crashed before: ${said}`));
    if (this.data.failure && step === this.last) {
      items.push(made("li", "cut", `Then: ${this.data.failure[0]}`));
    }
    if (this.context.has(step)) {
      items.push(made("li", "aside", "The violation does not depend on this step."));
    }
    if (this.data.closing && step === this.last) {
      items.push(made("li", "aside", `Then the state is as after step ${this.data.loop}, and so on forever.`));
    }
    this.find(".events").replaceChildren(...items);
  }

  /** The state `texts`, in which the processes of `down` are down, after the step `now`. */
  showState(now, texts, down) {
    const before = new Map(now.d.filter((change) => !change[3]).map(([cell, was]) => [cell, was]));
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
    this.data.cells.forEach(([title, kind, process, , row], cell) => {
      const inside = kind === "local" || kind === "history" || kind === "ghost";
      if (!process || !inside) {
        common.push([cell, title, kind, process]);
        return;
      }
      if (!own.has(row)) own.set(row, { title, cells: new Map() });
      own.get(row).cells.set(process, cell);
    });
    const everybodys = (kind) => kind === "shared" || kind === "ghost";
    this.table(own, common.filter((each) => everybodys(each[2])), value, down, now.p);
    const list = this.find(".world dl");
    list.replaceChildren();
    for (const [cell, title, kind, process] of common) {
      if (everybodys(kind)) continue;
      const row = made("div");
      const definition = made("dd");
      definition.append(value(cell));
      row.append(made("dt", "", process ? `${title} (${process})` : title), definition);
      list.append(row);
    }
    this.find(".world").hidden = !list.childElementCount;
  }

  table(own, shared, value, fallen, acting) {
    const table = this.find(".state");
    const caption = table.caption;
    const head = made("tr");
    head.append(made("td"));
    for (const process of this.data.processes) {
      const cell = made("th", process === acting ? "acting" : "", process);
      cell.scope = "col";
      const down = fallen.has(process);
      const note = down ? "✕ down" : this.data.faulty[process] ?? "";
      if (note) cell.append(made("span", down ? "down" : "faulty", note));
      head.append(cell);
    }
    const rows = [head];
    for (const { title, cells } of own.values()) {
      const row = made("tr");
      const name = made("th", "", title);
      name.scope = "row";
      row.append(name);
      for (const process of this.data.processes) {
        const cell = made("td", fallen.has(process) ? "down" : "");
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

  /** What is in transit after `step`, and, where it is given, the step `way` after that one. */
  showMail(step, way = { s: [], r: [] }) {
    const items = [];
    const gone = new Set(way.r.map((copy) => copy.join()));
    for (const [message, sender, receiver, how, sent, ended] of this.data.sent) {
      if (sent > step || (ended !== null && ended <= step)) continue;
      if (gone.delete([message, sender, receiver].join())) continue;
      const never = how === "missed" ? ", never arrives" : how === "lost" ? ", will be lost" : "";
      items.push(made("li", how.replace(" ", "-"), `${message}  ${sender} → ${receiver}${never}`));
    }
    for (const [message, sender, receiver] of way.s) {
      const item = made("li");
      item.append(made("ins", "", `${message}  ${sender} → ${receiver}`));
      items.push(item);
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

  /** Shows the picture in the layout of that name, where the run has it. */
  arrange(layout) {
    if (!this.picture.other || this.picture.layout === layout) return;
    if (layout !== "steps" && layout !== "causality") return;
    this.picture.swap(this.step, this.last);
    this.find("button.layout").setAttribute("aria-pressed", String(layout === "causality"));
    speak(layout === "steps" ? "In the order of steps" : "In the order of causality");
  }

  /** Shows a process in the picture, or leaves it out; one is always there. */
  choose(process, shown) {
    const hidden = this.picture.hidden;
    if (shown) hidden.delete(process);
    else hidden.add(process);
    if (hidden.size === this.data.processes.length) {
      hidden.delete(process);
      this.find(`.lanes input[value="${CSS.escape(process)}"]`).checked = true;
    }
    this.picture.fold();
    this.picture.uncover(this.step);
    speak(`${this.data.processes.filter((p) => !hidden.has(p)).join(", ")} shown`);
  }

  slice(on) {
    this.root.classList.toggle("sliced", on);
    this.picture.sliced = on;
    this.picture.fold();
    if (this.step !== null) this.picture.uncover(this.step);
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
      if (this.step === this.last) this.walk(0);
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
