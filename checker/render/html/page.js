// The whole page: its address, its theme, its keys; Together moves two runs.

/** Changes of the address that are still to be made: browsers allow only so many in a second. */
let waiting = null;

/** What stands in the page's address: `#step=7&theme=dark` as a map. */
function address() {
  return new URLSearchParams(location.hash.slice(1));
}

/** Puts `changes` into the page's address, without a new entry in the history. */
function remember(changes) {
  if (waiting) {
    Object.assign(waiting, changes);
    return;
  }
  waiting = {};
  write(changes);
  setTimeout(() => {
    const left = waiting;
    waiting = null;
    if (Object.keys(left).length) remember(left);
  }, 150);
}

function write(changes) {
  const found = address();
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) found.delete(name);
    else found.set(name, value);
  }
  try {
    history.replaceState(null, "", `#${found}`);
  } catch {
    location.replace(`#${found}`);
  }
}

/** Tells it to those who listen to the page. */
function speak(text) {
  document.querySelector(".spoken").textContent = text;
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
      run.picture.part(common + 1);
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
  const asked = address().get("theme");
  const known = asked === "dark" || asked === "light";
  theme(known ? asked : dark ? "dark" : "light", known);
  document.querySelector(".theme").addEventListener("click", () => {
    theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
  });
  const keys = document.querySelector("dialog.keys");
  document.querySelector(".help").addEventListener("click", () => keys.showModal());

  const follow = () => {
    if (waiting) waiting = {};
    const found = address();
    runs.forEach((run) => {
      const asked = found.get(run.fragment);
      const step = asked === null || asked === "" || Number.isNaN(Number(asked))
        ? together ? together.common : run.last
        : Math.trunc(Number(asked));
      run.go(step, false);
      if (found.get("instead")) run.alternatives.enter(Number(found.get("instead")) - 1);
      run.arrange(found.get("layout"));
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
    Home: () => (together ? together.both(0) : chosen().walk(0)),
    End: () => (together ? together.both(Math.max(...runs.map((run) => run.last))) : chosen().walk(chosen().last)),
    " ": () => chosen().play(),
    l: () => {
      const layout = chosen().picture.layout === "steps" ? "causality" : "steps";
      for (const run of runs) run.arrange(layout);
      remember({ layout });
    },
    "+": () => chosen().picture.zoom(1), "-": () => chosen().picture.zoom(-1),
    c: () => runs.forEach((run) => {
      if (run.context.size) run.slice(!run.root.classList.contains("sliced"));
    }),
    a: () => chosen().alternatives.toggle(),
    Escape: () => runs.some((run) => run.alternatives.leave()),
    "?": () => keys.showModal(),
  };
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || keys.open || !acts[event.key]) return;
    const target = event.target;
    if (/^(Arrow|Home|End)/.test(event.key) && target.closest("input, .code")) return;
    if (event.key === " " && target.matches("button, summary, input, a")) return;
    event.preventDefault();
    acts[event.key]();
  });
}

begin();
