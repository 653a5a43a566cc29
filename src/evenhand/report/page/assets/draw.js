// Elements, words and marks: what every plot is made of. Text is only ever put in as text nodes.

const SVG = "http://www.w3.org/2000/svg";
const MISSING = "(missing)";
// What a browser would act on instead of showing it, or what turns a line around; as in page/static.py.
const UNSEEN =
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

function fill(node, props, kids) {
  for (const key in props) {
    const value = props[key];
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") node.addEventListener(key, value);
    else node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...present(kids));
  return node;
}

const present = (kids) => kids.flat().filter((kid) => kid !== null && kid !== undefined && kid !== "");
const put = (node, ...kids) => node.replaceChildren(...present(kids));

const h = (tag, props = {}, ...kids) => fill(document.createElement(tag), props, kids);
const s = (tag, props = {}, ...kids) => fill(document.createElementNS(SVG, tag), props, kids);

const shown = (name) => String(name).replace(UNSEEN, "\ufffd");
// No number is parted from what belongs to it; as `tied` in page/static.py.
const tied = (text) => text.replace(/(?<=\d) (?=%)|(?<=\bn) (?== \d)|(?<=[=≥≤]) (?=-?\d)/g, "\u00a0");
const bdi = (name) => h("bdi", {}, shown(name));
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
const spell = (group) => group.map((value) => (value === null ? MISSING : value)).join(", ");

function clip(name, width) {
  const marks = Array.from(shown(name));
  return marks.length <= width ? marks.join("") : marks.slice(0, Math.max(width - 1, 1)).join("") + "\u2026";
}

// Numbers as Python writes them in its tables.

const there = (value) => value !== null && value !== undefined && Number.isFinite(value);
const whole = (value) => Math.round(value).toLocaleString("en-US");

function figure(value) {
  if (!there(value)) return "undefined";
  if (Math.abs(value) >= 1e3 && Math.abs(value) < 1e12) return whole(value);
  return String(Number(value.toPrecision(3)));
}

function amount(value, unit, none = "undefined") {
  if (!there(value)) return none;
  return unit === "rate" ? `${(100 * value).toFixed(1)} %` : figure(value);
}

function scaled(value, scale) {
  if (!there(value)) return "\u2013";
  if (scale === 1 && Math.abs(value) >= 1e3) return figure(value);
  const digits = scale === 100 ? 1 : 2;
  const rounded = Number((scale * value).toFixed(digits)) + 0;
  return rounded.toFixed(digits);
}

// A ratio, and the value of the worst group, may not be less than their threshold.
const isFloor = (found) => found.judged_on === "ratio" || found.judged_on === "floor";
const pointsOf = (found) =>
  found.unit === "points" || (found.judged_on === "difference" && found.unit === "rate");

// A finding shows the gap of the two groups on which its verdict rests.
function judged({ shown: { value }, ...found }) {
  if (!there(value)) return "undefined";
  const scale = pointsOf(found) ? 100 : 1;
  return scaled(value, scale) + (scale === 100 ? " points" : "");
}

function reach({ shown: { low, high }, ...found }) {
  const scale = pointsOf(found) ? 100 : 1;
  if (!there(low) && !there(high)) return "";
  return `${scaled(low, scale)} to ${there(high) ? scaled(high, scale) : "\u221e"}`;
}

function limit(found) {
  if (!there(found.threshold)) return "not judged";
  const around = found.judged_on === "difference" && Object.values(found.shown).some((end) => end < 0);
  const side = around ? "\u00b1" : isFloor(found) ? "\u2265 " : "\u2264 ";
  if (pointsOf(found)) return `${side}${Number((100 * found.threshold).toPrecision(6))}`;
  return `${side}${Number(found.threshold.toPrecision(4)).toLocaleString("en-US")}`;
}

// The numbers as they are, beside the words and marks that round them: whoever checks a page reads these.
const raw = (found) =>
  Object.fromEntries(
    ["value", "low", "high", "n"].filter((key) => there(found[key])).map((key) => [`data-${key}`, String(found[key])]),
  );

// Scales and ticks.

const scale = (from, to, start, end) => (value) => start + ((value - from) / (to - from || 1)) * (end - start);

function ticks(low, high, most) {
  const rough = (high - low) / Math.max(most, 1) || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough * 0.999);
  const found = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++)
    found.push(Number((i * step).toPrecision(12)));
  return found;
}

function roomy(values, unit) {
  const known = values.filter(there);
  let low = Math.min(...known),
    high = Math.max(...known);
  if (!known.length) return [0, 1];
  const air = (high - low) * 0.06 || Math.abs(high) * 0.1 || 1;
  if (unit === "rate")
    return [Math.max(0, low - air < 0.15 ? 0 : low - air), Math.min(1, high + air > 0.85 ? 1 : high + air)];
  return [low >= 0 && low < air * 4 ? 0 : low - air, high + air];
}

const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";
const powerText = (value) =>
  Number.isInteger(value) ? `10${value < 0 ? "⁻" : ""}${[...String(Math.abs(value))].map((digit) => RAISED[digit]).join("")}` : "";

// As many digits as it takes to tell neighbours apart.
function tickText(unit, values) {
  if (unit === "log10") return powerText;
  const factor = unit === "rate" || unit === "points" ? 100 : 1,
    step = factor * (values[1] - values[0] || 1);
  const digits = Math.min(6, Math.max(0, 1 - Math.floor(Math.log10(step) + 1e-9)));
  return (value) =>
    Number((factor * value).toFixed(digits)).toLocaleString("en-US", { maximumFractionDigits: digits }) +
    (unit === "rate" ? " %" : "");
}

// Marks: a shape and a colour for each of eight groups, so that colour is never alone.

const MOST = 8;
const CORNERS = [
  null,
  [
    [-1, -1],
    [1, -1],
    [1, 1],
    [-1, 1],
  ],
  [
    [0, -1.25],
    [1.15, 0.85],
    [-1.15, 0.85],
  ],
  [
    [0, -1.35],
    [1.35, 0],
    [0, 1.35],
    [-1.35, 0],
  ],
  [
    [0, 1.25],
    [1.15, -0.85],
    [-1.15, -0.85],
  ],
  [
    [-0.45, -1.3],
    [0.45, -1.3],
    [0.45, -0.45],
    [1.3, -0.45],
    [1.3, 0.45],
    [0.45, 0.45],
    [0.45, 1.3],
    [-0.45, 1.3],
    [-0.45, 0.45],
    [-1.3, 0.45],
    [-1.3, -0.45],
    [-0.45, -0.45],
  ],
  [
    [-1.2, 0],
    [-0.6, -1.05],
    [0.6, -1.05],
    [1.2, 0],
    [0.6, 1.05],
    [-0.6, 1.05],
  ],
  [
    [-1.3, -0.7],
    [1.3, -0.7],
    [1.3, 0.7],
    [-1.3, 0.7],
  ],
];

const r1 = (value) => Math.round(value * 10) / 10;

function outline(kind, x, y, size) {
  const corners = CORNERS[kind] || null;
  if (!corners)
    return `M${r1(x - size)} ${r1(y)}a${size} ${size} 0 1 0 ${2 * size} 0a${size} ${size} 0 1 0 ${-2 * size} 0`;
  return `M${corners.map(([dx, dy]) => `${r1(x + dx * size)} ${r1(y + dy * size)}`).join("L")}z`;
}

function mark(kind, x, y, size, label) {
  const path = s("path", { class: kind < 0 ? "mark other" : `mark g${kind}`, d: outline(kind, x, y, size) });
  if (label) path.append(s("title", {}, shown(label)));
  return path;
}

const swatch = (kind) =>
  s("svg", { class: "swatch", width: 14, height: 14, "aria-hidden": "true" }, mark(kind, 7, 7, 4.6));

const dashes = ["", "7 3", "2 3", "9 3 2 3", "5 2", "1 2", "12 4", "4 4 1 4"];

function icon(verdict) {
  const name = verdict.replace(" ", "-");
  return h(
    "span",
    { class: `state ${name}` },
    s("svg", { class: "icon", "aria-hidden": "true" }, s("use", { href: `#icon-${name}` })),
    verdict,
  );
}

function label(x, y, text, props, whole) {
  return s("text", { x: r1(x), y: r1(y), ...props }, shown(text), whole ? s("title", {}, shown(whole)) : null);
}

function plotFrame(width, height, summary) {
  return s("svg", {
    class: "plot",
    viewBox: `0 0 ${r1(width)} ${r1(height)}`,
    width: r1(width),
    height: r1(height),
    role: "img",
    "aria-label": shown(summary),
  });
}

// Tables: a twin of each plot, made when it is opened.

function table(titles, rows, text = [0]) {
  const head = h(
    "tr",
    {},
    titles.map((title, i) => h("th", { scope: "col", class: text.includes(i) ? "text" : null }, shown(title))),
  );
  const cell = (value, i) => {
    const words =
      typeof value === "number" ? figure(value) : value === null || value === undefined ? "\u2013" : shown(value);
    if (i === 0) return h("th", { scope: "row" }, h("bdi", {}, words));
    return h("td", text.includes(i) ? { class: "text" } : {}, text.includes(i) ? h("bdi", {}, words) : words);
  };
  const lines = rows.map((row) => h("tr", {}, row.map(cell)));
  return h("table", { class: "data" }, h("thead", {}, head), h("tbody", {}, lines));
}

const scrolled = (node, name) => h("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": name }, node);

function twin(name, build) {
  const place = h("div");
  const box = h("details", { class: "twin" }, h("summary", {}, "As a table"), place);
  const draw = () => box.open && place.replaceChildren(scrolled(build(), name));
  box.addEventListener("toggle", draw);
  box.redraw = draw;
  return box;
}
