// The sections on scores and cutoffs, on strata and on what base rates force.

const nowCutoff = () =>
  chosen.index >= 0
    ? cutoffs()[chosen.index]
    : DATA.cutoff === null || DATA.mirror === null
      ? DATA.cutoff
      : DATA.mirror - DATA.cutoff;
const rate = (name) => ({ title: name, domain: [0, 1], unit: "rate" });
const scoreAxis = (low, high, name = DATA.score || "Score") => ({
  title: name + (DATA.mirror === null ? "" : ", mirrored"),
  domain: [low, high],
  unit: "score",
});

// What the engine says of the groups that are drawn: [it, mark, name].
function ofPicked(list) {
  const { attributes, place, names } = here();
  const order = engine
    .at(attributes, home, { measures: [], metrics: [] })
    .groups.map((group) => place.get(JSON.stringify(group.key)));
  return picked()
    .map((i, kind) => [list[order.indexOf(i)], kind, names[i]])
    .filter(([each]) => each);
}

function moveCutoff(svg) {
  all(".cutoff", svg).forEach((node) => node.remove());
  const { atX, top, bottom } = svg.place;
  if (there(nowCutoff())) svg.append(cutoffLine(atX(nowCutoff()), top, bottom));
}

const GAP = 20;
const PRINTED = 225; // on paper four are abreast: drawn small, they shrink less, and their words stay readable

// A small plot for each group in which the others are grey; `draw` makes that of one place of the list.
function multiples({ name, words, list, wide, draw, titles, rows }) {
  const columns = Math.max(1, Math.floor((wide + GAP) / 265)),
    width = printing ? PRINTED : (wide - GAP * (columns - 1)) / columns,
    plots = list.map((_, i) => draw(i, width));
  const cells = plots.map((svg, i) => h("div", {}, h("h4", {}, bdi(clip(list[i][2], 40))), svg));
  const figure = h(
    "figure",
    { "data-plot": name },
    h("h3", {}, name),
    h("p", { class: "aside" }, words),
    h("div", { class: "multiples" }, cells),
    twin(name, () => table(titles, rows())),
  );
  return { figure, plots };
}

// Curves are drawn once for a set; while the cutoff moves, only its line and the operating points do.
function curvesSection() {
  const { section, controls, body } = part("curves");
  let spread = [],
    roc = [];
  const follow = () => {
    spread.forEach(moveCutoff);
    roc.forEach(([svg, kind, name]) => {
      all(".mark", svg).forEach((node) => node.remove());
      const i = here().names.indexOf(name),
        [x, y] = ["false_positive_rate", "true_positive_rate"].map((key) => now().get(key, i).value),
        { atX, atY } = svg.place;
      if (there(x) && there(y))
        svg.append(mark(kind, atX(x), atY(y), 6, `${name}: FPR ${amount(x, "rate")}, TPR ${amount(y, "rate")}`));
    });
  };
  return (why) => {
    if (why === "metric") return;
    if (why === "cutoff") return follow();
    section.hidden = false; // to be measured
    const figures = [...spreadFigure(widthOf(body)), ...calibrationFigure(widthOf(body)), ...rocFigure(widthOf(body))];
    section.hidden = !figures.length;
    if (section.hidden) return;
    const plotsOf = (name) => (figures.find((each) => each.name === name) || { plots: [] }).plots;
    spread = plotsOf("Distribution");
    roc = plotsOf("ROC").map((svg, i) => [svg, ...figures.find((each) => each.name === "ROC").list[i].slice(1)]);
    title(section, `of ${here().title}`);
    redraw(
      body,
      figures.map((each) => each.figure),
    );
    const open = controls.querySelector("details[open]");
    put(controls, groupChooser());
    if (open) controls.querySelector("details").open = true;
    follow();
  };
}

const counts = () => engine && here().counted;
const made = (settings) => (settings.list.length ? [{ ...settings, ...multiples(settings) }] : []);

function spreadFigure(wide) {
  const list = counts()
    ? ofPicked(engine.distribution(here().attributes)).filter(([each]) => each.share.some((share) => share > 0))
    : [];
  return made({
    name: "Distribution",
    words: "How the scores of each group spread.",
    list,
    wide,
    draw: (i, width) => distribution(list, i, width),
    titles: ["group", "score from", "share"],
    rows: () =>
      list.flatMap(([each, , name]) => each.share.map((share, b) => [name, each.edges[b], amount(share, "rate")])),
  });
}

function calibrationFigure(wide) {
  const list = calibrationBins(here().attributes);
  return made({
    name: "Calibration",
    words: "How often the label is positive at each score, with 95 % intervals.",
    list,
    wide,
    draw: (i, width) => calibration(list, i, width),
    titles: ["group", "from", "to", "observed", "low", "high", "mean score", "n"],
    rows: () =>
      list.flatMap(([bins, , name]) =>
        bins.map((bin) => [
          name,
          bin.from,
          bin.to,
          ...[bin.rate, bin.low, bin.high].map((value) => amount(value, "rate")),
          bin.mean,
          whole(bin.n),
        ]),
      ),
  });
}

function rocFigure(wide) {
  const list = counts()
    ? ofPicked(engine.roc(here().attributes)).filter(([each]) => each.fpr.length && each.tpr.length)
    : [];
  const areas = here().measures.get("auc"),
    area = (name) => (areas ? areas.value[here().names.indexOf(name)] : null);
  const named = (name) => (there(area(name)) ? `${name}: AUC ${figure(area(name))}` : name);
  const series = list.map(([each, kind, name]) => ({
    name: named(name),
    kind,
    points: each.fpr.map((x, i) => [x, each.tpr[i]]),
  }));
  return made({
    name: "ROC",
    words: "What each cutoff trades; the mark is where the decision stands now.",
    list,
    wide,
    draw: (i, width) =>
      lines({
        series: alone(series, i),
        x: rate("False positive rate"),
        y: rate("True positive rate"),
        width,
        height: small(),
        diagonal: true,
        summary: `ROC curve of ${series[i].name}; true positive rate against false positive rate`,
      }),
    titles: ["group", "AUC", "FPR", "TPR"],
    rows: () =>
      list.flatMap(([each, , name]) =>
        each.fpr.map((x, i) => [name, area(name), amount(x, "rate"), amount(each.tpr[i], "rate")]),
      ),
  });
}

const small = () => (printing ? 150 : 200);

// One series in its colour, after the others in grey.
const alone = (series, i) => [
  ...series.filter((_, j) => j !== i).map((each) => ({ ...each, context: true })),
  { ...series[i], plain: true },
];

function groupChooser() {
  const { names } = here(),
    mine = picked(),
    set = chosen.set;
  if (names.length <= MOST) return null;
  const boxes = names.map((name, i) => {
    const change = (event) => {
      const others = mine.filter((other) => other !== i);
      if (event.target.checked && others.length >= MOST) event.target.checked = false;
      else {
        chosen.groups.set(set, event.target.checked ? [...others, i] : others);
        update("groups");
      }
    };
    return h("label", {}, h("input", { type: "checkbox", checked: mine.includes(i), change }), bdi(clip(name, 40)));
  });
  return h(
    "details",
    { class: "chooser" },
    h("summary", {}, `Groups drawn: ${mine.length} of ${whole(names.length)}, at most ${MOST}`),
    h("div", { class: "boxes" }, boxes),
  );
}

function distribution(list, i, width) {
  const count = list[0][0].share.length,
    edges = [...list[0][0].edges];
  if (!(edges[count] > edges[count - 1] + 1e-9))
    edges[count] = 2 * edges[count - 1] - (count > 1 ? edges[count - 2] : edges[count - 1] - 1);
  const series = list.map(([{ share }, kind, name]) => ({
    name,
    kind,
    step: true,
    points: [
      [edges[0], 0],
      ...share.map((part, b) => [edges[b], part]),
      [edges[count], share[count - 1]],
      [edges[count], 0],
    ],
  }));
  const high = Math.max(...list.flatMap(([{ share }]) => share));
  return lines({
    series: alone(series, i),
    x: scoreAxis(edges[0], edges[count]),
    y: { title: "Share of the group", domain: [0, high * 1.08 || 1], unit: "rate" },
    width,
    height: small(),
    summary: `Distribution of the scores of ${series[i].name}, as shares of the group`,
  });
}

function calibrationBins(attributes) {
  if (engine && here().counted)
    return ofPicked(engine.calibration(attributes))
      .map(([each, kind, name]) => [each.bins, kind, name])
      .filter(([bins]) => bins.length);
  const { findings, names, groups } = here(),
    each = findings.find((one) => one.metric === "calibration");
  const panel = each && each.panels.map((place) => found.panels[place]).find((one) => one.kind === "curve");
  if (!panel) return [];
  const bin = ([, from, to, n, value, low, high, mean]) => ({ from, to, n, rate: value, low, high, mean });
  return picked()
    .map((i, kind) => [panel.rows.filter((row) => [names[i], spell(groups[i])].includes(row[0])).map(bin), kind, names[i]])
    .filter(([bins]) => bins.length); // audits of before say "f" where those of today say "sex = f"
}

function calibration(list, i, width) {
  const every = list.flatMap(([bins]) => bins),
    domain = DATA.probability
      ? [0, 1]
      : [Math.min(...every.map((bin) => bin.from)), Math.max(...every.map((bin) => bin.to))];
  const series = list.map(([bins, kind, name]) => ({
    name,
    kind,
    marks: true,
    points: bins.map((bin) => [
      bin.mean,
      bin.rate,
      bin.low,
      bin.high,
      `${name}: ${amount(bin.rate, "rate")} at a mean score of ${figure(bin.mean)}, n ${whole(bin.n)}`,
    ]),
  }));
  return lines({
    series: alone(series, i),
    x: scoreAxis(...domain, "Mean score"),
    y: rate("Observed rate"),
    width,
    height: small(),
    diagonal: DATA.probability,
    summary: `Observed rate of ${series[i].name} against mean score, with intervals`,
  });
}

// Gap and accuracy at every cutoff.

function sweepSection() {
  const { section, controls, body } = part("sweep");
  let plots = [],
    metric = null;
  return (why) => {
    if (cutoffs().length < 3 || why === "groups") return;
    section.hidden = !here().counted;
    if (section.hidden) return;
    if (why === "cutoff") return plots.forEach(moveCutoff);
    const sweep = engine.sweep(here().attributes),
      able = here().findings.filter((each) => each.metric in sweep.gaps);
    section.hidden = !able.length;
    if (section.hidden) return;
    const has = (name) => able.some((each) => each.metric === name);
    if (why === "metric" || !has(metric)) metric = has(chosen.metric) ? chosen.metric : able[0].metric;
    const drawGap = (name) => {
      metric = name;
      plots = drawSweep(
        body,
        sweep,
        able.find((each) => each.metric === metric),
      );
      plots.forEach(moveCutoff);
    };
    title(section, `of ${here().title}`);
    put(
      controls,
      select(
        "Gap of",
        able.map((each) => [each.metric, capital(each.title)]),
        metric,
        drawGap,
      ),
    );
    drawGap(metric);
  };
}

function drawSweep(body, sweep, each) {
  const wide = widthOf(body),
    width = wide >= 640 && there(range([...(sweep.accuracy || [])])[0]) ? (wide - 28) / 2 : wide,
    stops = [...cutoffs()],
    last = stops.length - 1,
    gaps = [...sweep.gaps[each.metric]],
    accuracy = [...(sweep.accuracy || [])];
  const x = scoreAxis(stops[0], stops[last], `Cutoff of ${DATA.score || "the score"}`),
    ratio = each.judged_on === "ratio",
    unit = pointsOf(each) ? "points" : "score";
  const points = (values) => values.slice(0, last).map((value, i) => [stops[i], value]);
  const [low, high] = range(gaps),
    top = ratio ? Math.max(1, high) : Math.max(high, (each.threshold || 0) * 1.5) * 1.05,
    bottom = Math.min(0, low);
  const tolerated = there(each.threshold)
    ? ratio
      ? [each.threshold, top]
      : [bottom < 0 ? -each.threshold : 0, each.threshold]
    : null;
  const plots = [
    lines({
      series: [{ name: each.title, kind: 1, plain: true, points: points(gaps) }],
      x,
      y: { title: ratio ? "Ratio" : unit === "points" ? "Gap, points" : "Gap", domain: [bottom, top || 1], unit },
      width,
      height: 250,
      band: tolerated,
      summary: `${each.title} at every cutoff`,
    }),
  ];
  const [least, most] = range(accuracy);
  if (there(least))
    plots.push(
      lines({
        series: [{ name: "accuracy", kind: 0, points: points(accuracy) }],
        x,
        y: { title: "Accuracy", domain: [Math.max(0, least - 0.05), Math.min(1, most + 0.05)], unit: "rate" },
        width,
        height: 250,
        summary: "Accuracy at every cutoff",
      }),
    );
  redraw(
    body,
    h(
      "div",
      { class: "pairs" },
      plots.map((svg) => h("figure", {}, svg)),
    ),
    twin("Every cutoff", () =>
      table(
        ["cutoff", each.title + (unit === "points" ? ", points" : ""), "accuracy"],
        stops.map((_, i) => [cutoffText(i), scaled(gaps[i], unit === "points" ? 100 : 1), amount(accuracy[i], "rate")]),
      ),
    ),
  );
  return plots;
}

// Strata beside the whole; theorems with their curve.

function strataSection() {
  return (why) => {
    if (why !== "set" && why !== "width") return;
    for (const box of all(".stratum")) {
      const body = box.querySelector(".body"),
        panel = strataPanel(box);
      if (panel) put(body, strataPlot(panel, widthOf(body)));
    }
  };
}

const strataPanel = (box) => box && found.panels.find((each) => shown(each.title) === box.querySelector("h3").textContent);

// What was measured over time.

function trendSection() {
  return (why) => {
    if (why !== "set" && why !== "width") return;
    for (const box of all(".over-time")) {
      const panel = found.panels.find((each) => shown(each.title) === box.querySelector("h3").textContent),
        body = box.querySelector(".body");
      if (panel) put(body, curvePanel(panel, Math.min(widthOf(body), printing ? PRINTED : 560)));
    }
  };
}

// At most so many strata: those whose groups surely lie farthest apart.
function strataPlot(panel, width, most = Infinity) {
  const [size, value, low, high] = ["n", "value", "low", "high"].map((name) => panel.columns.indexOf(name));
  const groups = [...new Set(panel.rows.map((row) => row[1]))],
    kind = (name) => (groups.length <= MOST ? groups.indexOf(name) : -1);
  const values = panel.rows.flatMap((row) => [row[value], row[low], row[high]]),
    unit = unitFor(values);
  const strata = [...new Set(panel.rows.map((row) => row[0]))],
    together = strata.pop();
  const apart = (stratum) => {
    const mine = panel.rows.filter((row) => row[0] === stratum && there(row[low]) && there(row[high]));
    return mine.length > 1 ? Math.max(...mine.map((row) => row[low])) - Math.min(...mine.map((row) => row[high])) : -9;
  };
  const first = strata.length <= most ? strata : [...strata].sort((a, b) => apart(b) - apart(a)).slice(0, most),
    left = strata.length - first.length;
  const rows = [...strata.filter((stratum) => first.includes(stratum)), together].map((stratum) => ({
    label: stratum,
    strong: stratum === "all together",
    points: panel.rows
      .filter((row) => row[0] === stratum)
      .map((row) => ({
        kind: kind(row[1]),
        value: row[value],
        low: row[low],
        high: row[high],
        small: row[size] < DATA.least,
        title: pointWords(
          `${row[1]} in ${stratum}`,
          { value: row[value], low: row[low], high: row[high], n: row[size] },
          unit,
        ),
      })),
  }));
  return [
    groups.length <= MOST ? legend(groups.map((name, i) => ({ name, kind: i }))) : null,
    intervals({ rows, domain: roomy(values, unit), unit, width, summary: panel.title }),
    left ? aside(`${whole(left)} more strata, whose groups lie nearer to each other, are under Intersections and strata.`) : null,
  ];
}

const saySoIfMoved = (id) => all(`#${id} .as-audited`).forEach((node) => put(node, moved() ? "As audited: not computed again." : ""));

const notesSection = () => () => saySoIfMoved("notes");

function forcedSection() {
  return (why) => {
    saySoIfMoved("forced");
    if (why !== "set" && why !== "width") return;
    for (const box of all(".forced")) {
      const told = found.forced.find((each) => each.attribute === box.dataset.attribute),
        body = box.querySelector(".body");
      box.hidden = !printing && !here().attributes.includes(box.dataset.attribute);
      if (told && !box.hidden) put(body, panelBox(told.drawn, printing ? PAPER / 2 - 20 : widthOf(body)));
    }
  };
}
