"use strict";
// What else could have happened at a step, and the state to which it would have led.

class Alternatives {
  constructor(run) {
    this.run = run;
    this.data = run.data;
    this.box = run.find(".alternatives");
    this.chosen = null;
    this.box?.querySelector(".back").addEventListener("click", () => this.leave());
  }

  /** Lists the alternatives to `step`. */
  show(step) {
    this.chosen = null;
    if (!this.box) return;
    const [ways, more] = this.data.instead[step] ?? [[], 0];
    const total = ways.length + more;
    this.box.hidden = !total;
    this.box.querySelector("summary").textContent =
      `${total} other ${step ? "step" : "start"}${total > 1 ? "s were" : " was"} possible`;
    const items = ways.map((way, at) => this.item(this.data.others[way], at));
    if (more) items.push(made("li", "aside", `and ${more} more`));
    this.box.querySelector("ol").replaceChildren(...items);
    this.box.classList.remove("stepped");
    this.run.root.classList.remove("aside-step");
  }

  item(way, at) {
    const item = made("li");
    const button = made("button", "", way.h);
    button.type = "button";
    button.setAttribute("aria-pressed", "false");
    button.addEventListener("click", () => this.enter(at));
    item.append(button);
    if (way.x) item.append(made("span", "aside", "leads to the same state"));
    else {
      const told = way.e.map(([said]) => said);
      for (const [cell, before, after, forgotten] of way.d) {
        const [title, kind, process] = this.data.cells[cell];
        if (forgotten || !["local", "shared", "ghost"].includes(kind)) continue;
        told.push(`${title}${process ? ` of ${process}` : ""}: ${before} → ${after}`);
      }
      if (told.length) item.append(made("span", "aside", told.join("; ")));
    }
    return item;
  }

  /** Shows the state after the alternative with that place in the list. */
  enter(at) {
    const { run, data } = this;
    const step = run.step;
    const way = data.others[data.instead[step]?.[0][at]];
    if (!way) return;
    this.chosen = at;
    const texts = [...run.cells.moveTo(Math.max(step - 1, 0))];
    for (const [cell, , after] of way.d) texts[cell] = after;
    const down = new Set(step ? run.down[step - 1] : []);
    for (const [process, falls] of way.f) {
      if (falls) down.add(process);
      else down.delete(process);
    }
    run.picture.show(Math.max(step - 1, 0), run.last);
    run.showNow({ h: way.h, e: way.e.filter(([, kind]) => kind !== "cut"),
      c: way.e.filter(([, kind]) => kind === "cut").map(([said]) => [said.replace(/^.*?: /, "")]) });
    run.find(".headline").textContent = `In place of step ${step}: ${way.h}`;
    run.showState(way, texts, down);
    run.showMail(Math.max(step - 1, 0), way);
    run.showClaims(Math.max(step - 1, 0));
    run.source.show({ e: [], c: [] }, null);
    run.root.classList.add("aside-step");
    this.box.open = true;
    this.box.classList.add("stepped");
    for (const [place, button] of this.box.querySelectorAll("ol button").entries()) {
      button.setAttribute("aria-pressed", String(place === at));
    }
    const command = this.box.querySelector(".command");
    command.hidden = !data.document || !step;
    const [explore, words] = command.querySelectorAll("code");
    explore.textContent = `bivalence explore --from ${data.document}@${step - 1}`;
    words.textContent = way.h;
    remember({ instead: at + 1 });
    speak(`In place of step ${step}: ${way.h}`);
  }

  /** Opens the list, or closes it. */
  toggle() {
    if (!this.box) return;
    this.box.open = !this.box.open;
    if (this.box.open) this.box.querySelector("summary").focus();
  }

  /** Goes back to the step of the run. */
  leave() {
    if (this.chosen === null) return false;
    const at = this.chosen;
    this.run.render();
    remember({ instead: null });
    speak(`Back at step ${this.run.step}`);
    this.box.querySelectorAll("ol button")[at].focus({ preventScroll: true });
    return true;
  }
}
