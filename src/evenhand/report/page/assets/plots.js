// Plots: numbers in, an SVG element out. Nothing here knows about audits.

const ROW = 26;

function gridX(svg, at, values, top, bottom, unit) {
  const text = tickText(unit, values);
  for (const value of values) {
    const x = r1(at(value));
    svg.append(
      s("path", { class: "rule", d: `M${x} ${top}V${bottom}` }),
      label(x, bottom + 15, text(value), { class: "tick middle" }),
    );
  }
}

// Names under an axis, as many as there is room for; a long name is cut, and its title has it whole.
function gridNames(svg, at, names, top, bottom, width) {
  const short = (name) => (shown(name).length > 12 ? `${shown(name).slice(0, 11)}…` : shown(name));
  const places = [...names.keys()].sort((one, other) => one - other),
    room = 7 * Math.max(...places.map((place) => short(names.get(place)).length)) + 12;
  const every = Math.max(1, Math.ceil((places.length * room) / width));
  places.forEach((place, i) => {
    const x = r1(at(place));
    if (i % every) return;
    const words = label(x, bottom + 18, short(names.get(place)), { class: "tick middle" });
    words.append(s("title", {}, shown(names.get(place))));
    svg.append(s("path", { class: "rule", d: `M${x} ${top}V${bottom}` }), words);
  });
}

// Rows of points with intervals; `band` is shaded, `line` is upright. Ends outside the domain become arrows.
// rows: {label, strong, small, points: [{kind, value, low, high, title}], beside: [value]}; heads: {title, cell(row)}
// `above` puts each label on a line of its own, where labels are too long to stand beside their row.
function intervals({ rows, domain, unit, width, band, line, lineName, heads = [], above = false, summary }) {
  const narrow = width < 560;
  const points = Math.max(...rows.map((row) => row.points.length));
  const own = rows.map((row) => (above ? broken(row.label, Math.floor(width / 6.9)) : [])),
    over = 14 * Math.max(...own.map((words) => words.length)),
    height = over + (points > 1 ? Math.max(ROW + 4, 9 * points + 12) : ROW);
  const beside = Math.min(
    narrow ? width * 0.42 : 230,
    12 + Math.max(...rows.map(({ label }) => Math.max(7.2 * Math.min(Array.from(label).length, 30), widthOfWords(label)))),
  );
  const left = above ? 0 : beside;
  const room = narrow ? 42 : 68;
  const columns = (narrow ? heads.slice(-1) : heads).map((head, i, some) => ({
    ...head,
    x: width - 2 - room * (some.length - 1 - i),
  }));
  const right = room * columns.length + 16;
  const top = heads.length ? 24 : 8,
    bottom = top + rows.length * height;
  const svg = plotFrame(width, bottom + 24, summary);
  const at = scale(domain[0], domain[1], left + 10, width - right);
  const clamp = (x) => Math.min(Math.max(x, domain[0]), domain[1]);
  if (band) {
    const from = at(clamp(band[0])),
      to = at(clamp(band[1]));
    if (to > from)
      svg.append(s("rect", { class: "band", x: r1(from), y: top, width: r1(to - from), height: bottom - top }));
  }
  gridX(svg, at, ticks(domain[0], domain[1], narrow ? 3 : Math.min(8, (width - left - right) / 70)), top, bottom, unit);
  if (there(line) && line >= domain[0] && line <= domain[1]) {
    svg.append(
      s(
        "path",
        { class: "overall", d: `M${r1(at(line))} ${top}V${bottom}`, ...raw({ value: line }) },
        s("title", {}, lineName || "everyone"),
      ),
    );
  }
  for (const { x, title } of columns) svg.append(label(x, 14, title, { class: "head end" }));
  rows.forEach((row, i) => {
    const y = top + i * height + (height + over) / 2,
      bold = row.strong ? " bold" : "";
    if (row.strong) svg.append(s("rect", { class: "strong", x: 0, y: r1(top + i * height), width, height }));
    const name = above
      ? own[i].map((words, k) => label(0, y + 4 - 14 * (own[i].length - k), words, { class: bold.trim() }, row.label))
      : [label(left, y + 4, fitted(row.label, left), { class: `end${bold}` }, row.label)];
    svg.append(...name);
    row.points.forEach((point, j) => {
      if (!there(point.value)) {
        if (point.reason)
          svg.append(
            label(left + 14, y + 4, clip(point.reason, Math.floor((width - left - right) / 6)), { class: "reason" }),
          );
        return;
      }
      const middle = y + (j - (row.points.length - 1) / 2) * 9;
      const dot = mark(point.kind, at(clamp(point.value)), middle, 4.6, point.title);
      svg.append(
        whisker(at, domain, point, middle, row.small || point.small),
        fill(dot, { ...raw(point), "data-group": row.label }, []),
      );
    });
    (row.beside || []).forEach((value, j) => {
      if (there(value)) svg.append(mark(j + 2, at(clamp(value)), y, 3.6));
    });
    for (const { x, cell } of columns) svg.append(label(x, y + 4, cell(row), { class: "end" }));
  });
  return svg;
}

// How wide words are in a plot: letters of some scripts, and some capitals, are twice as wide as others.
const MEASURE = document.createElement("canvas").getContext("2d");

function widthOfWords(words) {
  if (!MEASURE.font.startsWith("12.5px")) MEASURE.font = `12.5px ${getComputedStyle(document.body).fontFamily}`;
  return MEASURE.measureText(shown(words)).width;
}

// As much of a name as there is room for.
function fitted(name, room) {
  let most = Math.floor((room - 4) / 6.9);
  while (most > 1 && widthOfWords(clip(name, most)) > room) most -= 1;
  return clip(name, most);
}

// A name in as many lines as it takes, broken between its parts and never within a band; a part that is too long by itself is cut.
function broken(name, most) {
  const lines = [];
  for (const part of name.split(name.includes(" = ") ? /(?<=, )(?=[^=,]+ = )/ : /(?<=, )/)) {
    const last = lines.length - 1;
    if (last >= 0 && (lines[last] + part).trimEnd().length <= most) lines[last] += part;
    else lines.push(part);
  }
  return lines.map((words) => clip(words.trimEnd(), most));
}

function whisker(at, domain, point, y, small) {
  if (!there(point.low) && !there(point.high)) return s("g");
  const low = there(point.low) ? point.low : domain[0] - 1,
    high = there(point.high) ? point.high : domain[1] + 1;
  const from = at(Math.min(Math.max(low, domain[0]), domain[1])),
    to = at(Math.max(Math.min(high, domain[1]), domain[0]));
  let d = `M${r1(from)} ${r1(y)}H${r1(to)}`;
  d +=
    low < domain[0] - 1e-9
      ? `m0 0M${r1(from + 5)} ${r1(y - 4)}L${r1(from)} ${r1(y)}l5 4`
      : `M${r1(from)} ${r1(y - 3.5)}v7`;
  d += high > domain[1] + 1e-9 ? `M${r1(to - 5)} ${r1(y - 4)}L${r1(to)} ${r1(y)}l-5 4` : `M${r1(to)} ${r1(y - 3.5)}v7`;
  return s("path", { class: `whisker ${point.kind < 0 ? "other" : `g${point.kind}`}${small ? " small" : ""}`, d });
}

// One gap with its interval, in the unit of its metric: the band is what is tolerated, the dashed line the threshold.
const STRIP = { width: 250, height: 38, middle: 12, end: 22 };
const stripFrame = (width = STRIP.width) =>
  s("svg", { class: "strip", viewBox: `0 0 ${r1(width)} ${STRIP.height}`, width: r1(width), "aria-hidden": "true" });

// Gaps of rates share an axis, and so do ratios; any other number has an axis of its own. It comes from the audit, so that
// it stays where it is while the cutoff moves.
const sharedAxis = (each) => (each.judged_on === "ratio" ? "ratio" : pointsOf(each) ? "points" : "");

function gapDomain(each, every) {
  const kind = sharedAxis(each),
    alike = kind ? every.filter((other) => sharedAxis(other) === kind) : [each];
  const values = alike.map((other) => other.shown.value).filter(there);
  if (each.judged_on === "floor") return [0, Math.max(1.1 * each.threshold, ...values, values.every((x) => x <= 1) ? 1 : 0)];
  if (kind === "ratio") return [0, Math.min(4, Math.max(1, 1.1 * Math.max(0, ...values)))];
  const limits = alike.map((other) => 1.6 * (other.threshold || 0)),
    near = Math.max(...limits, ...values.map(Math.abs)),
    ends = alike.flatMap((other) => [other.shown.low, other.shown.high]).filter((end) => Math.abs(end) < 1.6 * near),
    most = 1.02 * Math.max(near, ...ends.map(Math.abs)), // an end that lies much farther away becomes an arrow
    end = kind === "points" ? Math.min(roundUp(most), 1) : roundUp(most);
  return [values.some((value) => value < 0) ? -end : 0, end];
}

// The next round number, at which an axis may end.
function roundUp(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return Number((power * [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].find((factor) => factor * power >= value * 0.999)).toPrecision(3));
}

function stripLabels(at, found, domain, width) {
  const points = pointsOf(found),
    text = (value) => (points ? String(Number((100 * value).toPrecision(3))) : figure(value));
  const around = found.judged_on === "difference" && domain[0] < 0, // a gap with a sign may go as far to either side
    limitAt = at(around ? 0 : found.threshold),
    words = `threshold ${around ? "\u00b1" : ""}${text(found.threshold)}`,
    half = 3.3 * words.length;
  const middle = Math.min(Math.max(limitAt, half), width - half);
  const y = STRIP.height - 3,
    labels = [label(middle, y, words, { class: "tick middle" })];
  for (const [value, side] of [
    [domain[0], ""],
    [domain[1], " end"],
  ]) {
    const x = at(value),
      wide = 7 * text(value).length;
    if (Math.abs(x - middle) > half + wide) labels.push(label(x, y, text(value), { class: `tick${side}` }));
  }
  return labels;
}

function strip(svg, found, domain) {
  const width = Number(svg.getAttribute("width")),
    at = scale(domain[0], domain[1], 4, width - 4),
    { value, low, high } = found.shown,
    t = found.threshold,
    ratio = found.judged_on === "ratio";
  const inside = (x) => Math.min(Math.max(x, domain[0]), domain[1]);
  const [from, to] = (found.judged_on === "floor" ? [t, domain[1]] : ratio ? [t, domain[1] > 1 ? 1 / t : 1] : [domain[0] < 0 ? -t : 0, t]).map((x) => at(inside(x)));
  const ends = [t, ratio ? domain[1] > 1 && 1 / t : domain[0] < 0 && -t].filter((x) => there(x) && x === inside(x));
  const kids = [
    s("rect", { class: "band", x: r1(from), y: 0, width: r1(Math.max(to - from, 0)), height: STRIP.end }),
    s("path", { class: "rail", d: `M4 ${STRIP.end}H${r1(width - 4)}` }),
    s("path", { class: "limit", d: ends.map((x) => `M${r1(at(x))} 0V${STRIP.end}`).join("") }),
    ...stripLabels(at, found, domain, width),
  ];
  if (there(value)) {
    const name = found.watched ? "not-judged" : found.verdict.replace(" ", "-"), // a watch judges by other evidence
      line = whisker(at, domain, { low, high }, STRIP.middle);
    line.setAttribute("class", `whisker ${name}`);
    kids.push(line);
    const shape = { fail: 1, inconclusive: 3 }[name] || 0;
    if (value === inside(value))
      kids.push(s("path", { class: `mark ${name}`, d: outline(shape, at(value), STRIP.middle, 4.4) }));
  }
  svg.replaceChildren(...kids);
  return svg;
}

// Lines, steps and points over two axes.
// series: {name, kind, points: [[x, y, low, high]], marks, step, context}; a small plot has no title of its upright axis
function lines({ series, x, y, width, height = 300, diagonal, band, summary }) {
  const small = width < 300,
    left = small ? 50 : 68,
    right = 20,
    top = 14,
    bottom = height - 42;
  const svg = plotFrame(width, height, summary);
  const atX = scale(x.domain[0], x.domain[1], left, width - right),
    atY = scale(y.domain[0], y.domain[1], bottom, top);
  if (band) {
    const from = atY(Math.min(band[1], y.domain[1])),
      to = atY(Math.max(band[0], y.domain[0]));
    if (to > from)
      svg.append(
        s("rect", { class: "band", x: left, y: r1(from), width: r1(width - right - left), height: r1(to - from) }),
      );
  }
  if (x.names) gridNames(svg, atX, x.names, top, bottom, width - left - right);
  else gridX(svg, atX, ticks(x.domain[0], x.domain[1], Math.min(6, (width - left) / 60)), top, bottom, x.unit);
  const levels = ticks(y.domain[0], y.domain[1], Math.min(6, height / 45)),
    level = tickText(y.unit, levels);
  for (const value of levels) {
    const place = r1(atY(value));
    svg.append(
      s("path", { class: "rule", d: `M${left} ${place}H${width - right}` }),
      label(left - 8, place + 4, level(value), { class: "tick end" }),
    );
  }
  svg.append(label((left + width - right) / 2, height - 6, x.title, { class: "axis middle" }));
  if (!small)
    svg.append(
      s("text", { class: "axis middle", transform: `translate(14 ${(top + bottom) / 2}) rotate(-90)` }, shown(y.title)),
    );
  if (diagonal) svg.append(s("path", { class: "diagonal", d: `M${left} ${bottom}L${width - right} ${top}` }));
  for (const each of series) drawSeries(svg, each, atX, atY);
  svg.place = { atX, atY, top, bottom };
  return svg;
}

const cutoffLine = (x, top, bottom) =>
  s("path", { class: "cutoff", d: `M${r1(x)} ${top}V${bottom}` }, s("title", {}, "the cutoff"));

function drawSeries(svg, { kind, points, marks, step, name, free, plain, context }, atX, atY) {
  const known = points.filter((point) => there(point[0]) && there(point[1]));
  const cls = kind < 0 ? "other" : `g${kind}`;
  let d = "",
    last = null;
  for (const [px, py] of known) {
    const sx = r1(atX(px)),
      sy = r1(atY(py));
    d += last === null ? `M${sx} ${sy}` : step ? `H${sx}V${sy}` : `L${sx} ${sy}`;
    last = sy;
  }
  if (context) return svg.append(s("path", { class: "curve context", d }));
  if (!free)
    svg.append(
      s(
        "path",
        {
          class: `curve ${cls}`,
          d,
          "stroke-dasharray": plain ? null : dashes[kind],
          "data-name": name,
          "data-points": JSON.stringify(points.map((point) => point.slice(0, 2))),
        },
        s("title", {}, shown(name)),
      ),
    );
  if (!marks) return;
  for (const [px, py, low, high, title] of known) {
    const sx = atX(px);
    if (there(low) && there(high))
      svg.append(s("path", { class: `whisker ${cls}`, d: `M${r1(sx)} ${r1(atY(low))}V${r1(atY(high))}` }));
    svg.append(mark(kind, sx, atY(py), 3.8, title || name));
  }
}

// A grid of cells, as a table: it needs no twin.
function heat({ rows, columns, cell }) {
  const head = h(
    "tr",
    {},
    h("td", {}, ""),
    columns.map((name) => h("th", { scope: "col" }, bdi(name))),
  );
  const lines = rows.map((row, i) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, bdi(row)),
      columns.map((_, j) => heatCell(cell(i, j))),
    ),
  );
  return h("table", { class: "heat" }, h("thead", {}, head), h("tbody", {}, lines));
}

function heatCell(found) {
  if (!found) return h("td", { class: "none" }, h("span", {}, "no one"));
  const node = h(
    "td",
    { class: found.small ? "small" : null, ...raw(found) },
    h("b", {}, found.text),
    there(found.n) ? h("span", {}, `n ${whole(found.n)}`) : null,
  );
  if (there(found.share)) node.style.setProperty("--t", `${Math.round(found.share * 45)}%`);
  return node;
}

function legend(entries, extra = []) {
  return h(
    "ul",
    { class: "legend" },
    entries.map(({ name, kind }) => h("li", {}, swatch(kind), bdi(clip(name, 40)))),
    extra,
  );
}
