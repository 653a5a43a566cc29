// The pictures that findings bring along, each drawn by its kind, and what a table can do.

// `finding` is the one that brings the panel along, where its unit and its threshold matter.
function panelBox(panel, width = 560, finding = null) {
  const drawn = { curve: curvePanel, distribution: curvePanel, pairs: pairsPanel, table: tablePanel }[panel.kind](
    panel,
    width,
    finding,
  );
  const words = panel.columns.map((_, i) => i).filter((i) => !numeric(panel, i));
  const told = finding && finding.unit === "points" ? inPercent(panel) : panel;
  const full = () => table(told.columns, told.rows, words);
  return h(
    "figure",
    { class: "panel" },
    h("h4", {}, bdi(panel.title)),
    drawn,
    drawn ? twin(panel.title, full) : scrolled(full(), shown(panel.title)),
  );
}

// The table of a finding in points: rates and shares in percent, gaps in points, people as they are.
const PEOPLE = ["people", "measured on"];
const GAPS = ["gap", "low", "high", "shrunken gap", "value"];

function inPercent({ columns, rows, ...panel }) {
  const scaledAt = columns.map((name, i) => numeric({ rows }, i) && !PEOPLE.includes(name));
  const head = (name, i) => (scaledAt[i] ? `${name}, ${GAPS.includes(name) ? "points" : "%"}` : name);
  const cell = (value, i) => (scaledAt[i] && there(value) ? scaled(value, 100) : value);
  return { ...panel, columns: columns.map(head), rows: rows.map((row) => row.map(cell)) };
}

const numeric = (panel, i) => panel.rows.some((row) => typeof row[i] === "number");
const unitFor = (values) => (values.filter(there).every((value) => value >= 0 && value <= 1) ? "rate" : "score");

// Lines over a number. A column of words names the series, the first number is x and those after it are y: the next one
// where the words come first, else each by itself. Without words every number after the first is a series. Columns called
// low and high are an interval of y; stretches from and to make steps.
function curvePanel(panel, width) {
  const { columns, rows } = panel;
  const [low, high, from, to] = ["low", "high", "from", "to"].map((name) => columns.indexOf(name));
  const numbers = columns.map((_, i) => i).filter((i) => i !== low && i !== high && numeric(panel, i));
  const words = columns.findIndex((_, i) => !numeric(panel, i));
  if (numbers.length < 2) return null;
  const step = panel.kind === "distribution" && from >= 0 && to >= 0;
  const x = step ? from : numbers[0];
  const ys = step ? numbers.slice(-1) : words === 0 ? [numbers[1]] : numbers.slice(1, 5);
  const point = (row, y) => [row[x], row[y], end(row, low), end(row, high)];
  const plots =
    words < 0
      ? [[panel.title, ys.map((y) => [columns[y], rows.map((row) => point(row, y))])]]
      : ys.map((y) => [
          columns[y],
          seriesBy(rows, words, (mine) => [
            ...mine.map((row) => point(row, y)),
            ...(step ? [closing(mine, to, y)] : []),
          ]),
        ]);
  const names = plots[0][1].map(([name]) => name);
  const pictures = plots.map(([name, series]) =>
    lines({
      series: series.map(([each, points], kind) => ({
        name: each,
        kind: isLine(each) ? LINE : kind,
        step,
        points,
        marks: !step && points.length < 25,
        free: points.length < 2,
      })),
      x: {
        ...axis(
          step ? "" : columns[x],
          rows.flatMap((row) => [row[x], step ? row[to] : null]),
        ),
        ...periods(panel, x),
      },
      y: gapAxis(
        axis(
          words < 0 ? "" : name,
          series.flatMap(([, points]) => points.flatMap((each) => each.slice(1))),
        ),
      ),
      width: plots.length > 1 ? Math.min(width, 310) : width,
      height: Math.min(340, width * (columns[x] === "period" && !printing ? 0.62 : 0.75)),
      summary: `${panel.title}: ${name}`,
    }),
  );
  const entries = names.map((name, kind) => ({ name, kind: isLine(name) ? LINE : kind }));
  return h("div", {}, legend(entries), h("div", { class: "grid" }, pictures));
}

// What a series is held against is no group, and has the colour of none.
const LINE = 6;
const isLine = (name) => name === "threshold" || name.startsWith("alarm");

// A gap is in points, evidence in powers of ten.
function gapAxis({ title, ...rest }) {
  const made = { ...rest, title: title.replaceAll("_", " ") };
  if (made.title === "gap" && made.unit === "rate") return { ...made, title: "gap, points", unit: "points" };
  return made.title === "log10 of the e-value" ? { ...made, title: "e-value", unit: "log10" } : made;
}

// The names of the places on an axis of periods, which are numbered from 1: they stand under it in place of the numbers.
function periods({ columns, rows }, x) {
  const name = columns.indexOf("name");
  if (columns[x] !== "period" || name < 0) return {};
  const names = new Map(rows.filter((row) => row[name] !== null).map((row) => [row[x], String(row[name])]));
  const places = [...names.keys()];
  return { title: "", names, domain: [Math.min(...places) - 0.3, Math.max(...places) + 0.3] };
}

const closing = (rows, to, y) => [rows[rows.length - 1][to], rows[rows.length - 1][y]];

function seriesBy(rows, words, points) {
  const names = [...new Set(rows.map((row) => row[words]))].slice(0, MOST);
  return names.map((name) => [String(name), points(rows.filter((row) => row[words] === name))]);
}

function axis(title, values) {
  const [least, most] = roomy(values, "score"),
    known = values.filter(there);
  return { title, domain: [Math.min(...known) >= 0 && least < 0.6 * most ? 0 : least, most], unit: unitFor(values) };
}

// Parts that add up, from one total to the other: each bar begins where the one before it ends.
function waterfall(panel, width) {
  const { columns, rows } = panel,
    [from, to, value, low, high] = ["from", "to", "value", "low", "high"].map((name) => columns.indexOf(name));
  const known = rows.flatMap((row) => [row[from], row[to]]).filter(there),
    unit = unitFor(known.map(Math.abs)),
    [least, most] = [Math.min(0, ...known), 1.04 * Math.max(0, ...known)];
  const narrow = width < 560,
    left = narrow ? width * 0.34 : 200,
    right = narrow ? 70 : 190,
    bottom = 8 + rows.length * 30,
    svg = plotFrame(width, bottom + 24, panel.title),
    at = scale(least, most || 1, left + 10, width - right);
  gridX(svg, at, ticks(least, most || 1, narrow ? 3 : 6), 8, bottom, unit === "rate" ? "points" : unit);
  const amountOf = (x) => scaled(x, unit === "rate" ? 100 : 1);
  rows.forEach((row, i) => {
    const y = 8 + i * 30,
      total = !there(row[from]),
      [start, end] = [total ? 0 : row[from], row[to]].map((x) => at(there(x) ? x : 0)),
      sign = !total && row[value] > 0 ? "+" : "",
      reach = there(row[low]) && there(row[high]) && !narrow ? ` [${amountOf(row[low])}, ${amountOf(row[high])}]` : "";
    svg.append(
      label(left, y + 19, clip(String(row[0]), Math.floor(left / 6.9)), { class: total ? "end bold" : "end" }, row[0]),
      s("rect", {
        class: `bar-part g${total ? 6 : row[value] >= 0 ? 0 : 1}`,
        x: r1(Math.min(start, end)),
        y: y + 6,
        width: r1(Math.max(Math.abs(end - start), 1.5)),
        height: 18,
        ...raw({ value: row[value], low: row[low], high: row[high] }),
      }),
      label(width - right + 10, y + 19, `${sign}${amountOf(row[value])}${reach}`, {}),
    );
  });
  return svg;
}

// A table that has a value with its ends is also drawn; further numbers of a table become marks beside the value. Gaps of a
// finding in points are in points too, and a band shows which of them are tolerated.
function tablePanel(panel, width, finding = null) {
  const { columns, rows } = panel,
    [low, high, size] = ["low", "high", "n"].map((name) => columns.indexOf(name));
  if (["from", "to", "value"].every((name) => columns.includes(name) && numeric(panel, columns.indexOf(name))))
    return waterfall(panel, width);
  const value = columns.includes("value") ? columns.indexOf("value") : low - 1;
  if (value < 0 || high < 0 || !numeric(panel, value) || rows.length > 40 || rows.length < 2) return null;
  const words = columns.map((_, i) => i).filter((i) => i < value && !numeric(panel, i));
  const beside = columns
    .map((_, i) => i)
    .filter((i) => panel.kind === "table" && i > high && numeric(panel, i))
    .slice(0, 3);
  const gaps = finding && columns[value] === "gap" && there(finding.threshold),
    tolerated = gaps ? [-finding.threshold, finding.threshold] : [];
  const every = rows.flatMap((row) => [row[value], row[low], row[high], ...beside.map((i) => row[i])]).concat(tolerated),
    unit = gaps && pointsOf(finding) ? "points" : unitFor(every);
  const drawn = rows.map((row) => {
    const name = words.map((i) => row[i]).join(" / "),
      got = { value: row[value], low: row[low], high: row[high], n: end(row, size) };
    return {
      label: name,
      small: size >= 0 && got.n < DATA.least,
      got,
      beside: beside.map((i) => row[i]),
      points: [{ ...got, kind: 0, title: pointWords(name, got, unit) }],
    };
  });
  const heads = size < 0 ? [] : [{ title: "n", cell: ({ got }) => whole(got.n) }];
  const measured = gaps ? `gap${unit === "points" ? ", points" : ""}` : "measured";
  const names = [{ name: measured, kind: 0 }, ...beside.map((i, kind) => ({ name: columns[i], kind: kind + 2 }))];
  return h(
    "div",
    {},
    beside.length || gaps ? legend(names) : null,
    intervals({
      rows: drawn,
      domain: roomy(every, unit),
      unit,
      width,
      band: gaps ? tolerated : null,
      heads,
      above: drawn.some((row) => Array.from(row.label).length > (width < 560 ? 18 : 30)),
      summary: panel.title,
    }),
  );
}

const end = (row, i) => (i < 0 ? null : row[i]);

// Pairs with intervals are drawn as such. Else the first two columns name rows and columns of a grid, which the first
// number fills; pairs that would leave most of it empty, such as single people, stay a table.
function pairsPanel(panel, width) {
  const drawn = tablePanel(panel, width);
  if (drawn) return drawn;
  const value = panel.columns.findIndex((_, i) => i > 1 && numeric(panel, i)),
    size = panel.columns.indexOf("n");
  const [rows, columns] = [0, 1].map((i) => [...new Set(panel.rows.map((row) => row[i]))]);
  if (value < 0 || rows.length > 30 || columns.length > 30 || 2 * panel.rows.length < rows.length * columns.length)
    return null;
  const known = new Map(panel.rows.map((row) => [JSON.stringify([row[0], row[1]]), row]));
  const [low, high] = range(panel.rows.map((row) => row[value]));
  const cell = (i, j) => {
    const row = known.get(JSON.stringify([rows[i], columns[j]]));
    return row
      ? {
          text: figure(row[value]),
          n: end(row, size),
          share: there(row[value]) ? (row[value] - low) / (high - low || 1) : null,
        }
      : null;
  };
  return scrolled(heat({ rows, columns, cell }), shown(panel.title));
}

// Tables: sorted by a click on a title, copied as CSV.

function enhance(box) {
  const grid = box.querySelector("table"),
    body = grid.tBodies[0],
    heads = [...grid.tHead.rows[0].cells];
  heads.forEach((cell, i) => {
    const sort = () => {
      const down = cell.getAttribute("aria-sort") === "ascending",
        rows = [...body.rows];
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      cell.setAttribute("aria-sort", down ? "descending" : "ascending");
      const everyone = rows.filter((row) => row.className === "everyone");
      const sorted = rows
        .filter((row) => !everyone.includes(row))
        .sort((a, b) => compare(a.cells[i].textContent, b.cells[i].textContent) * (down ? -1 : 1));
      body.append(...sorted, ...everyone);
    };
    put(cell, h("button", { type: "button", click: sort }, ...cell.childNodes));
  });
  const button = h("button", { type: "button", class: "copy" }, "Copy as CSV");
  const say = (words) => {
    button.textContent = words;
    setTimeout(() => {
      button.textContent = "Copy as CSV";
    }, 1600);
  };
  button.addEventListener("click", () =>
    copy(csv(grid)).then(
      () => say("Copied"),
      () => say("Copying is not allowed here"),
    ),
  );
  box.querySelector("h3").after(button);
}

function compare(a, b) {
  const [x, y] = [a, b]
    .map((text) => /^[\u2264\u2265<>]?\s*(-?[\d,]*\.?\d+)/.exec(text.trim()))
    .map((match) => (match ? Number(match[1].replace(/,/g, "")) : null));
  if (x !== null && y !== null) return x - y;
  return x !== null || y !== null ? (x === null ? 1 : -1) : a.localeCompare(b);
}

async function copy(text) {
  if (navigator.clipboard && window.isSecureContext) return navigator.clipboard.writeText(text);
  const area = h("textarea", { class: "away" });
  area.value = text;
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  if (!done) throw new Error("copying is not allowed here");
}

// A value with its interval becomes three columns. A text that a spreadsheet would take for a formula gets a quote.
function csv(grid) {
  const lines = [...grid.rows].map((row) => [...row.cells].map((cell) => cell.textContent.trim()));
  const split = lines[0].map((_, i) => i > 0 && lines.slice(1).some((line) => / \[\S+, \S+\]$/.test(line[i])));
  const wide = lines.map((line, r) =>
    line.flatMap((text, i) => {
      if (!split[i]) return [text];
      if (r === 0) return [text, `${text} low`, `${text} high`];
      const [, value, low = "", high = ""] = /^(\S+)(?: \[(\S+), (\S+)\])?$/.exec(text) || [null, text];
      return [value, low, high];
    }),
  );
  return wide.map((line) => line.map(csvCell).join(",")).join("\r\n") + "\r\n";
}

function csvCell(text) {
  const number = /^-?[\d,]*\.?\d+$/.test(text),
    plain = number ? text.replace(/,/g, "") : text;
  const guarded = !number && /^[=+\-@\t\r]/.test(plain) ? `'${plain}` : plain;
  return /[",\r\n]/.test(guarded) ? `"${guarded.replace(/"/g, '""')}"` : guarded;
}
