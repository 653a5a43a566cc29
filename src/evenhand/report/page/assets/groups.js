// The sections on metrics and groups: every metric a line, groups with intervals and tolerance, dots, intersections.

// Lines are made once for a set and then only change their numbers, so that an open one stays open.
function metricsSection() {
  const { section, body } = part("metrics");
  let lines = [],
    drawn = -1,
    domain = [0, 4],
    observer = null;
  const gone = new Set();
  const tell = (line) => line.tell(now().finding(line.audited), domain);
  return (why) => {
    if (why !== "set" && why !== "cutoff") return;
    const { findings, title: on } = here();
    section.hidden = !findings.length;
    if (section.hidden) return;
    if (drawn !== chosen.set) {
      const sizes = findings.map((each) => multiples(each)[0]).filter(there);
      const most = Math.min(8, Math.max(3, Math.ceil(1.1 * Math.max(0, ...sizes.map(Math.abs)))));
      domain = [sizes.some((value) => value < 0) ? -most : 0, most];
      lines = findings.map((each) => metricLine(chosen.set, each));
      put(body, byFamily(lines, domain));
      title(section, `on ${on}`);
      drawn = chosen.set;
      if (observer) observer.disconnect();
      gone.clear();
      observer = nearness(
        lines.map((line) => line.node),
        gone,
        (node) => tell(lines.find((line) => line.node === node)),
      );
    }
    for (const line of lines) if (why !== "cutoff" || !gone.has(line.node)) tell(line);
  };
}

// A metric of one's own may be called "constructor", which every plain object seems to have.
const familyOf = (metric) => (Object.hasOwn(DATA.family, metric) ? DATA.family[metric] : "own");

function byFamily(lines, domain) {
  const nodes = [];
  const group = (name, mine) => {
    if (mine.length)
      nodes.push(h("h3", {}, name), nodes.length ? null : stripAxis(domain), ...mine.map((line) => line.node));
  };
  const isJudged = (line) => there(line.audited.threshold);
  for (const [family, name] of Object.entries(DATA.families))
    group(
      name,
      lines.filter((line) => isJudged(line) && familyOf(line.audited.metric) === family),
    );
  group(
    "Shown and not judged",
    lines.filter((line) => !isJudged(line)),
  );
  return nodes;
}

function stripAxis(domain) {
  const at = stripScale(domain),
    svg = s("svg", { class: "strip", viewBox: `0 0 ${STRIP.width} 16` });
  for (const value of [1, ...ticks(domain[0], domain[1], 4)]) {
    const name = value === 1 ? "limit" : value ? `${value} \u00d7` : "0";
    svg.append(label(at(value), 12, name, { class: "tick middle" }));
  }
  return h(
    "div",
    { class: "line head", "aria-hidden": "true" },
    h("span"),
    h("span"),
    h("span", { class: "picture" }, svg),
  );
}

function metricLine(set, each) {
  const [state, value, between] = ["verdict", "value", "between"].map((name) => h("span", { class: name }));
  const svg = there(each.threshold)
    ? s("svg", { class: "strip", viewBox: `0 0 ${STRIP.width} ${STRIP.height}`, "aria-hidden": "true" })
    : null;
  const inside = h("div", { class: "inside" });
  const name = h(
    "span",
    { class: "metric-name" },
    shown(capital(each.title)),
    each.required ? h("small", {}, "decides") : null,
  );
  const [figureNode, reachNode] = [h("b"), h("small")];
  value.append(figureNode, reachNode);
  const node = h(
    "details",
    { class: "metric", "data-metric": each.metric },
    h("summary", { class: "line" }, state, name, h("span", { class: "picture" }, svg), value, between),
    inside,
  );
  let last = {};
  const open = () => node.open && put(inside, metricInside(set, last));
  node.addEventListener("toggle", open);
  const tell = (current, domain) => {
    const before = last;
    last = current;
    for (const name of ["value", "low", "high", "shown", "group", "against"]) delete node.dataset[name];
    fill(node, findingData(current), []);
    if (before.verdict !== current.verdict) put(state, icon(current.verdict));
    if (svg && before.value !== current.value) strip(svg, current, domain);
    figureNode.textContent = judged(current);
    reachNode.textContent = current.stale ? "as audited" : reach(current);
    const pair = current.evidence;
    put(
      between,
      pair && pair.group ? [bdi(clip(pair.group, 40)), " / ", bdi(clip(pair.against || "\u2013", 40))] : [],
    );
    open();
  };
  return { audited: each, node, tell };
}

function metricInside(set, each) {
  const aside = (words) => h("p", { class: "aside" }, bdi(words));
  const about = $(`about-${each.metric}`),
    as = !moved() || each.stale;
  return [
    h("p", { class: "sentence" }, bdi(sentence(set, each))),
    as ? each.notes.map(aside) : null,
    as && there(each.p)
      ? aside(
          `Test of no gap at all: p ${each.p < 0.001 ? "< 0.001" : `= ${each.p.toFixed(3)}`}, corrected for the number of questions.`,
        )
      : null,
    about
      ? [
          h("p", {}, about.querySelector("summary").lastChild.textContent.trim()),
          about.querySelector("dl").cloneNode(true),
        ]
      : null,
    as ? each.panels.map((place) => panelBox(found.panels[place])) : null,
  ].flat();
}

// Groups with their intervals and the tolerance.

function forestSection() {
  const { section, controls, body } = part("forest");
  return (why) => {
    if (why === "groups") return;
    const results = here();
    // Distances are between groups, so that no group has one by itself.
    const drawable = ([, row]) => row.value.some(there);
    const able = results.findings.filter((each) => each.measures.some((name) => rowsOf(results, name).some(drawable)));
    section.hidden = !able.length;
    if (section.hidden) return;
    const each = able.find((one) => one.metric === chosen.metric) || able.find((one) => one.required) || able[0];
    if (why === "set" || why === "metric") {
      title(section, `of ${results.title}`);
      const pick = (metric) => {
        chosen.metric = metric;
        update("metric");
      };
      put(
        controls,
        select(
          "Metric",
          able.map((one) => [one.metric, capital(one.title)]),
          each.metric,
          pick,
        ),
        moreButton(results),
      );
      section.querySelector(".band-words").textContent = bandWords(each);
    }
    const current = now().finding(each),
      width = widthOf(body),
      rows = each.measures.flatMap((name) => rowsOf(results, name));
    const bands = rows.map(([key]) => band(key, current)),
      unit = unitOf(rows[0][1]);
    // One axis for all measures; it does not jump while the cutoff moves.
    const domain =
      unit === "rate" && cutoffs().length
        ? [0, 1]
        : roomy([rows.map(([, row]) => [row.value, row.low, row.high]), bands].flat(3), unit);
    redraw(
      body,
      rows
        .map(([key, row], i) => [
          h("h3", {}, shown(capital(row.title))),
          forest(key, row, current, { width, domain, unit, band: bands[i] }),
        ])
        .flat(),
    );
  };
}

function moreButton({ names }) {
  if (names.length <= MANY) return null;
  const press = () => {
    chosen.all = !chosen.all;
    update("metric");
  };
  return h(
    "button",
    { type: "button", click: press },
    chosen.all ? `Show the ${MANY} that stand out` : `Show all ${whole(names.length)} groups`,
  );
}

const averaged = (each) => /^mean/.test(each.aggregate);
const extremes = (each) => each.against === "extremes" || each.against === "highest";

function bandWords(each) {
  if (DATA.strata) return "These are over all strata together; the finding holds the strata fixed.";
  const common = "The upright line is everyone; squares mark the two groups on which the verdict rests.";
  if (!there(each.threshold)) return common;
  if (averaged(each)) return `${common} The gaps are averaged, so no one band is the limit.`;
  if (extremes(each))
    return `The band is as wide as the gap that is tolerated: where every mark fits in it, the estimate is within the limit. ${common}`;
  return `The band is how far a group may lie from what it is compared with. ${common}`;
}

// Between extremes the band lies over the middle of all marks, so that they fit in it just when the gap is tolerated.
function band(key, each) {
  const t = each.threshold;
  if (!there(t) || each.judged_on === "value" || averaged(each) || DATA.strata) return null;
  const { names, groups } = here(),
    ratio = each.judged_on === "ratio";
  if (extremes(each)) {
    const [low, high] = range(groups.map((group, i) => (isMissing(group) ? null : now().get(key, i).value)));
    if (!there(low)) return null;
    return ratio
      ? [Math.sqrt(low * high * t), Math.sqrt((low * high) / t)]
      : [(low + high - t) / 2, (low + high + t) / 2];
  }
  const at = names.indexOf(each.against),
    middle = at >= 0 ? now().get(key, at).value : each.against === "everyone" ? now().overall(key) : null;
  if (!there(middle)) return null;
  return ratio ? [middle * t, middle / t] : [middle - t, middle + t];
}

// Where there are many groups, those whose interval stays farthest away from everyone, as they were audited.
const attention = new Map();

function drawnGroups(key, row) {
  const order = here().names.map((_, i) => i),
    memo = `${chosen.set} ${key}`;
  if (order.length <= MANY || chosen.all) return order;
  if (!attention.has(memo)) {
    const away = (i) => (there(row.value[i]) ? Math.max(row.low[i] - row.overall, row.overall - row.high[i]) : -9);
    attention.set(
      memo,
      order
        .sort((a, b) => away(b) - away(a))
        .slice(0, MANY)
        .sort((a, b) => row.value[b] - row.value[a]),
    );
  }
  return attention.get(memo);
}

const pointWords = (name, { value, low, high, n }, unit) =>
  `${name}: ${amount(value, unit)}${there(low) && there(high) ? `, ${amount(low, unit)} to ${amount(high, unit)}` : ""}, n ${whole(n || 0)}`;

function forest(key, row, each, frame) {
  const { names, title: on } = here(),
    { unit } = frame,
    order = drawnGroups(key, row);
  const rows = order.map((i) => {
    const got = now().get(key, i),
      name = names[i];
    const pair = each.evidence || {},
      makes = key === pair.measure && (name === pair.group || name === pair.against);
    return {
      got,
      label: name,
      small: got.n < DATA.least,
      points: [{ ...got, kind: makes ? 1 : 0, title: pointWords(name, got, unit) }],
    };
  });
  const svg = intervals({
    ...frame,
    rows,
    line: now().overall(key),
    lineName: `everyone: ${amount(now().overall(key), unit)}`,
    summary: `${row.title} of each group of ${on}, with intervals`,
    heads: [
      { title: "value", cell: ({ got }) => amount(got.value, unit, "\u2013") },
      { title: "n", cell: ({ got }) => whole(got.n || 0) },
    ],
  });
  const left = names.length - order.length;
  return h(
    "figure",
    { "data-measure": key },
    svg,
    left
      ? h("p", { class: "aside" }, `${whole(left)} more groups lie nearer to everyone, or are too small to tell.`)
      : null,
    twin(row.title, () =>
      table(
        [on, row.title, "low", "high", "n"],
        rows.map(({ label: name, got }) => [name, got.value, got.low, got.high, whole(got.n || 0)]),
      ),
    ),
  );
}

// Group measures as dots.

function dotsSection() {
  const { section, body } = part("dots");
  return (why) => {
    if (why === "metric") return;
    const results = here(),
      rows = firstRows(results);
    section.hidden = !rows.length;
    if (section.hidden) return;
    const width = widthOf(body);
    title(section, `of ${results.title}`);
    const rates = rows.filter(([, row]) => unitOf(row) === "rate"),
      others = rows.filter(([, row]) => unitOf(row) !== "rate");
    const grey = results.names.length - picked().length;
    const lines = () =>
      rows.flatMap(([key, row]) =>
        results.names.map((name, i) => {
          const got = now().get(key, i),
            unit = unitOf(row);
          return [name, row.title, amount(got.value, unit), amount(now().overall(key), unit), whole(got.n || 0)];
        }),
      );
    redraw(
      body,
      groupLegend([
        grey ? h("li", {}, swatch(-1), `${whole(grey)} other groups`) : null,
        h("li", {}, h("span", { class: "upright" }), "everyone"),
      ]),
      [rates, ...others.map((row) => [row])].filter((each) => each.length).map((each) => dots(each, width)),
      twin("Group measures", () => table([results.title, "measure", "value", "everyone", "n"], lines(), [1])),
    );
  };
}

function dots(rows, width) {
  const { names, title: on } = here(),
    unit = unitOf(rows[0][1]);
  const longest = Math.max(...rows.map(([, row]) => row.title.length)),
    left = Math.min(width * 0.34, Math.max(150, 7 * longest)),
    right = 16,
    height = 34,
    top = 6,
    bottom = top + rows.length * height;
  const domain = unit === "rate" ? [0, 1] : roomy([...rows[0][1].value, rows[0][1].overall], unit);
  const svg = plotFrame(width, bottom + 24, `${rows.map(([, row]) => row.title).join(", ")} of the groups of ${on}`);
  const at = scale(domain[0], domain[1], left + 12, width - right);
  gridX(svg, at, ticks(domain[0], domain[1], Math.min(10, (width - left) / 60)), top, bottom, unit);
  rows.forEach(([key, row], r) => {
    const y = top + r * height + height / 2,
      overall = now().overall(key);
    svg.append(
      label(left, y + 4, clip(capital(row.title), Math.floor(left / 6.7)), { class: "end" }, row.title),
      s("path", { class: "rail", d: `M${left + 12} ${y}H${width - right}` }),
    );
    if (there(overall)) svg.append(s("path", { class: "overall", d: `M${r1(at(overall))} ${y - 12}v24` }));
    let grey = "";
    const bright = [];
    names.forEach((name, i) => {
      const got = now().get(key, i),
        kind = picked().indexOf(i);
      if (!there(got.value)) return;
      const x = at(Math.min(Math.max(got.value, domain[0]), domain[1]));
      if (kind < 0) grey += outline(0, x, y, 3);
      else {
        const dot = mark(kind, x, y, got.n < DATA.least ? 3.4 : 5, pointWords(name, got, unit));
        bright.push(fill(dot, { ...raw(got), "data-group": name, "data-measure": key }, []));
      }
    });
    svg.append(s("path", { class: "mark other", d: grey }), ...bright);
  });
  return h("figure", {}, svg);
}

// Where two attributes meet.

function heatSection() {
  const { section, controls, body } = part("heat");
  const pairs = found.results
    .map((_, i) => i)
    .filter(
      (i) =>
        found.results[i].counted && found.results[i].attributes.length === 2 && found.results[i].groups.length <= 400,
    );
  const state = { set: pairs[0], measure: null };
  const fillGrid = () => {
    const results = found.results[state.set],
      row = results.measures.get(state.measure),
      unit = unitOf(row);
    let axes = [0, 1].map((place) => [...new Set(results.groups.map((group) => group[place]))]);
    const turn = axes[0].length > axes[1].length && axes[0].length < 9;
    const [low, high] = range(row.value);
    const cell = (i, j) => {
      const at = results.place.get(JSON.stringify(turn ? [axes[0][j], axes[1][i]] : [axes[0][i], axes[1][j]]));
      if (at === undefined) return null;
      const { value, n } = now(state.set).get(state.measure, at);
      return {
        value,
        text: amount(value, unit),
        n: n || 0,
        small: !(n >= DATA.least),
        share: there(value) ? Math.min(Math.max((value - low) / (high - low || 1), 0), 1) : null,
      };
    };
    const [rows, columns] = (turn ? [axes[1], axes[0]] : axes).map((names) => names.map((name) => spell([name])));
    put(body, scrolled(heat({ rows, columns, cell }), `${row.title} by ${results.title}`));
  };
  return (why) => {
    if (!pairs.length || (why !== "set" && why !== "cutoff")) return;
    if (why === "set" && pairs.includes(chosen.set)) state.set = chosen.set;
    const build = () => {
      const results = found.results[state.set],
        options = firstRows(results);
      section.hidden = !options.length;
      if (section.hidden) return;
      if (!options.some(([key]) => key === state.measure)) state.measure = options[0][0];
      title(section, `of ${results.title}`);
      const pick = (change) => (value) => {
        change(value);
        build();
      };
      put(
        controls,
        pairs.length > 1
          ? select(
              "Attributes",
              pairs.map((i) => [String(i), found.results[i].title]),
              String(state.set),
              pick((value) => {
                state.set = Number(value);
              }),
            )
          : null,
        select(
          "Measure",
          options.map(([key, row]) => [key, capital(row.title)]),
          state.measure,
          pick((value) => {
            state.measure = value;
          }),
        ),
      );
      fillGrid();
    };
    if (why === "set") build();
    else if (!section.hidden) fillGrid();
  };
}

function range(values) {
  const known = values.filter(there);
  return known.length ? [Math.min(...known), Math.max(...known)] : [null, null];
}
