"use strict";
// Folds a picture: leaves out lanes and rows, and moves the rest together.

const ROW_ABOVE = 22; // from the top of a row to the signs in it
const FOLDED = 16; // the height of rows that are left out
const SVG_NS = "http://www.w3.org/2000/svg";

/** A piecewise linear map of coordinates: `knots` are pairs of an old and a new one. */
function along(knots) {
  return (at) => {
    let low = 0;
    let high = knots.length - 1;
    if (at <= knots[0][0]) return at - knots[0][0] + knots[0][1];
    if (at >= knots[high][0]) return at - knots[high][0] + knots[high][1];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (knots[middle][0] <= at) low = middle;
      else high = middle;
    }
    const [[from, to], [next, nextTo]] = [knots[low], knots[high]];
    return to + ((at - from) * (nextTo - to)) / (next - from);
  };
}

/** Bands, each [its old beginning, its new size], and the old end, as knots. */
function knotsOf(bands, end) {
  let at = bands[0][0];
  const knots = bands.map(([begin, size]) => {
    const knot = [begin, at];
    at += size;
    return knot;
  });
  return [...knots, [end, at]];
}

/** Where an element is moved to by its `transform`, or null. */
function place(element) {
  const found = /translate\(([-\d.]+),([-\d.]+)\)/.exec(element?.getAttribute("transform") ?? "");
  return found && [Number(found[1]), Number(found[2])];
}

function shift(element, dx, dy) {
  element.style.translate = dx || dy ? `${dx}px ${dy}px` : "";
}

class Folding {
  constructor(svg) {
    this.svg = svg;
    this.all = (selector) => [...svg.querySelectorAll(selector)];
    [, , this.width, this.height] = svg.getAttribute("viewBox").split(" ").map(Number);
    this.lanes = this.all("g.lane").map((lane) => ({
      lane, process: lane.dataset.process, x: Number(lane.querySelector("line").getAttribute("x1")),
    }));
    this.marks = this.all("g.step[data-step]").map((mark) => {
      const [x, y] = place(mark.querySelector("g[transform]"));
      return { mark, x, y, step: mark.dataset.step };
    });
    const rule = svg.querySelector(".rule");
    this.end = Number(rule.getAttribute("y1"));
    this.rows = [];
    const tops = new Map();
    for (const { step, y } of this.marks) tops.set(step, Math.min(y, tops.get(step) ?? y));
    for (const mark of this.marks) mark.row = tops.get(mark.step);
    this.rows = [...new Set(tops.values())].sort((a, b) => a - b);
    this.ways = this.all("g.arrow[data-from] .way").map((way) => [way, way.getAttribute("d")]);
  }

  /** Leaves out the processes of the set `hidden`, and, where `sliced`, what does not matter. */
  fold(hidden, sliced) {
    const gone = ({ dataset, classList }) => hidden.has(dataset.lane) || hidden.has(dataset.from)
      || hidden.has(dataset.to) || hidden.has(dataset.process)
      || (sliced && classList.contains("context"));
    const lost = new Set();
    for (const part of this.all("g.arrow, g.arrow-text, g.forged-from, g.lane, g.strip, g.violation, g.step")) {
      const out = gone(part) || (part.matches("g.step.lose") && lost.has(part.dataset.step));
      part.toggleAttribute("hidden", out);
      part.style.display = out ? "none" : "";
      if (out && part.matches("g.arrow.lost")) lost.add(part.dataset.ended);
    }
    this.x = this.across(hidden);
    const kept = new Set(this.marks.filter(({ mark }) => !mark.hasAttribute("hidden")).map((m) => m.row));
    this.y = this.down(kept);
    this.move();
  }

  across(hidden) {
    const xs = this.lanes.map((lane) => lane.x);
    const half = xs.length > 1 ? (xs[1] - xs[0]) / 2 : 0;
    const bands = this.lanes.map(({ process, x }) => [x - half, hidden.has(process) ? 0 : 2 * half]);
    return along(half ? [[0, 0], ...knotsOf(bands, xs.at(-1) + half)] : [[0, 0]]);
  }

  down(kept) {
    const bands = [];
    this.all(".folded").forEach((sign) => sign.remove());
    let folded = 0;
    this.rows.forEach((row, i) => {
      const next = i + 1 < this.rows.length ? this.rows[i + 1] - ROW_ABOVE : this.end;
      const size = next - (row - ROW_ABOVE);
      if (kept.has(row)) folded = 0;
      else folded += 1;
      bands.push([row - ROW_ABOVE, !folded ? size : folded === 1 ? Math.min(FOLDED, size) : 0]);
      if (folded === 1) this.sign(row - ROW_ABOVE, i, kept);
    });
    return along(bands.length ? knotsOf(bands, this.end) : [[0, 0]]);
  }

  /** Says in the margin how many rows are left out from the one with that number on. */
  sign(y, first, kept) {
    let last = first;
    while (last + 1 < this.rows.length && !kept.has(this.rows[last + 1])) last += 1;
    const steps = new Set(this.marks.filter((m) => m.row >= this.rows[first] && m.row <= this.rows[last])
      .map((m) => m.step).filter((step) => step !== "0"));
    if (!steps.size) return;
    const text = document.createElementNS(SVG_NS, "text");
    text.setAttribute("class", "folded words quiet halo");
    text.setAttribute("x", "12");
    text.dataset.y = y;
    text.textContent = `⋯ ${steps.size} step${steps.size > 1 ? "s" : ""} left out`;
    this.svg.querySelector("g.lane").parentElement.append(text);
  }

  move() {
    const { x, y } = this;
    for (const text of this.all(".folded")) text.setAttribute("y", y(Number(text.dataset.y)) + 12);
    for (const { mark, x: left, y: top } of this.marks) {
      shift(mark, mark.matches(".bar") ? 0 : x(left) - left, y(top) - top);
    }
    for (const [way, d] of this.ways) this.arrow(way, d);
    for (const text of this.all("g.arrow-text")) {
      const box = text.querySelector("rect");
      const at = (name, size) => Number(box.getAttribute(name)) + Number(box.getAttribute(size)) / 2;
      const [left, top] = [at("x", "width"), at("y", "height")];
      shift(text, x(left) - left, y(top) - top);
    }
    for (const sign of this.all("g.forged-from")) {
      const [left, top] = place(sign);
      shift(sign, x(left) - left, y(top) - top);
    }
    for (const { lane, process, x: left } of this.lanes) {
      const dx = x(left) - left;
      shift(lane, dx, 0);
      for (const line of lane.querySelectorAll("line, rect")) this.stretch(line);
      for (const strip of this.all("g.strip")) {
        if (strip.dataset.process === process) shift(strip, dx, y(this.end) - this.end);
      }
    }
    for (const box of this.all(".loop-box rect")) this.stretch(box);
    const dy = y(this.end) - this.end;
    const right = x(this.width) - this.width;
    for (const low of this.all(".legend, .rule, .end-of-run")) shift(low, 0, dy);
    for (const violation of this.all("g.violation")) {
      const [left, top] = place(violation.querySelector("g[transform]"));
      shift(violation, x(left) - left, y(top) - top);
    }
    const legend = this.svg.querySelector(".legend").getBBox();
    const wide = right ? Math.max(this.width + right, legend.x + legend.width + 12) : this.width;
    this.svg.setAttribute("viewBox", `0 0 ${wide} ${this.height + dy}`);
    this.svg.style.setProperty("--picture", `${wide}px`);
  }

  arrow(way, d) {
    const points = [];
    way.setAttribute("d", d.replace(/([-\d.]+),([-\d.]+)/g, (_, left, top) => {
      points.push([this.x(Number(left)), this.y(Number(top))]);
      return points.at(-1).map((value) => value.toFixed(1)).join(",");
    }));
    const [[a, b], [c, e]] = points.slice(-2);
    for (const tip of way.parentElement.querySelectorAll("[transform]")) {
      tip.dataset.was ??= tip.getAttribute("transform");
      const turned = tip.dataset.was.includes("rotate")
        ? ` rotate(${(Math.atan2(e - b, c - a) * 180) / Math.PI})` : "";
      tip.setAttribute("transform", `translate(${c},${e})${turned}`);
    }
  }

  /** Moves the upper and the lower end of a line or a rectangle. */
  stretch(shape) {
    const [top, bottom] = shape.matches("line") ? ["y1", "y2"] : ["y", "height"];
    shape.dataset.was ??= `${shape.getAttribute(top)} ${shape.getAttribute(bottom)}`;
    const [first, second] = shape.dataset.was.split(" ").map(Number);
    if (shape.matches("line")) {
      shape.setAttribute(top, this.y(first));
      shape.setAttribute(bottom, this.y(second));
    } else {
      shape.setAttribute(top, this.y(first));
      shape.setAttribute(bottom, Math.max(this.y(first + second) - this.y(first), 0));
    }
  }
}
