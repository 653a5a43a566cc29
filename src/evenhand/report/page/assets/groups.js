// The groups behind the verdict, metrics as lines, groups with intervals and the limit, measures, intersections.

// The groups on which the verdict rests: of the finding that comes first, by the measure of its two groups. A finding
// that brings its own picture, such as a search or the parts of a gap, is shown by that.
function pictureSection() {
  const { section, body } = part("picture"),
    box = section.querySelector("details.twin"),
    first = leading();
  if (box) box.open = false; // it is open for whoever has no script
  const decides = found.findings.some((each) => each.rank === 0),
    own = found.findings.find((each) => each.listed.length && (each.rank === 0 || !decides));
  if (own && !document.querySelector(".stratum")) {
    if (box) box.remove(); // each picture has a table of its own
    return (why) => {
      if (why !== "set" && why !== "width") return;
      title(section, own.title);
      if (!decides) section.querySelector("h2").firstChild.data = "What was found ";
      redraw(body, ...own.listed.map((place) => panelBox(found.panels[place], widthOf(body), own)));
    };
  }
  if (!first && !DATA.strata) {
    section.hidden = !box;
    if (box) box.open = true;
    return () => {};
  }
  return (why) => {
    if (why === "metric" || why === "groups") return;
    const width = widthOf(body),
      strata = strataPanel(document.querySelector(".stratum"));
    if (strata) {
      return put(body, strataPlot(strata, width, printing ? Infinity : FEW));
    }
    const [set, each] = first,
      current = now(set).finding(each),
      key = (each.evidence || {}).measure || rowsOf(found.results[set], each.measures[0])[0][0],
      row = found.results[set].measures.get(key);
    title(section, `${found.results[set].title}: ${row.title}`);
    if (!each.required) section.querySelector("h2").firstChild.data = "Groups ";
    const drawn = forest(set, key, row, current, { ...forestFrame(set, [[key, row]], current, width), many: FEW });
    if (box) drawn.querySelector("details.twin").remove(); // the table below has more of the same groups
    put(body, drawn, aside(there(now(set).overall(key)) ? `${bandWords(current)}${markWords(set, key, current)}` : null));
  };
}

const aside = (words) => (words ? h("p", { class: "aside" }, words) : null);

// The finding that comes first, with the place of its set; null where no group has a number. Where those that decide have
// no measure of groups, as calibration, it is the first one of a measure that people ask for.
function leading() {
  const able = found.results.flatMap((results, set) =>
    results.findings.filter((each) => knownRows(results, each.measures).length).map((each) => [set, each]),
  );
  const deciding = able.filter(([, each]) => each.required).sort((a, b) => a[1].rank - b[1].rank);
  const asked = able.find(([set, each]) => firstRows(found.results[set]).some(([, row]) => each.measures.includes(row.name)));
  return deciding[0] || asked || able[0] || null;
}

// Lines are made once for a set and then only change their numbers, so that an open one stays open.
function linesSection() {
  const { section, body } = part("lines");
  let lines = [],
    drawn = -1,
    observer = null;
  const gone = new Set();
  const tell = (line) => line.tell(now().finding(line.audited));
  for (const row of all("#every-finding [id]")) row.removeAttribute("id"); // links lead to the lines now
  return (why) => {
    if (why !== "set" && why !== "cutoff") return;
    const { findings, title: on } = here();
    section.hidden = !findings.length;
    if (section.hidden) return;
    if (drawn !== chosen.set) {
      lines = findings.map((each) => metricLine(chosen.set, each, gapDomain(each, findings)));
      put(body, byFamily(lines));
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

function byFamily(lines) {
  const nodes = [];
  const group = (name, mine) => {
    if (mine.length) nodes.push(h("h3", {}, name), ...mine.map((line) => line.node));
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

function metricLine(set, each, domain) {
  const [state, value, between] = ["verdict", "value", "between"].map((name) => h("span", { class: name }));
  const svg = there(each.threshold) ? stripFrame() : null;
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
    { class: "metric", id: `metrics/${shown(each.metric)}`, "data-metric": each.metric },
    h("summary", { class: "line" }, state, name, h("span", { class: "picture" }, svg), value, between),
    inside,
  );
  let last = {};
  const open = () => node.open && put(inside, metricInside(set, last, inside));
  node.addEventListener("toggle", open);
  const tell = (current) => {
    const before = last;
    last = current;
    for (const name of ["value", "low", "high", "shown", "group", "against"]) delete node.dataset[name];
    fill(node, findingData(current), []);
    if (before.verdict !== current.verdict) put(state, icon(current.verdict));
    if (svg && before.shown !== current.shown) strip(svg, current, domain);
    figureNode.textContent = judged(current);
    reachNode.textContent = current.stale ? "as audited" : reach(current) + (current.watched ? ", all periods" : "");
    const pair = current.evidence;
    put(
      between,
      pair && pair.group ? [bdi(clip(pair.group, 40)), " / ", bdi(clip(pair.against || "\u2013", 40))] : [],
    );
    open();
  };
  return { audited: each, node, tell };
}

function metricInside(set, each, box) {
  const note = (words) => h("p", { class: "aside" }, bdi(tied(words)));
  const about = $(`about-${each.metric}`),
    as = !moved() || each.stale;
  return [
    h("p", { class: "sentence" }, bdi(tied(sentence(set, each)))),
    as ? each.notes.map(note) : null,
    as && there(each.p)
      ? note(
          `Test of no gap at all: p ${each.p < 0.001 ? "< 0.001" : `= ${each.p.toFixed(3)}`}, corrected for the number of questions.`,
        )
      : null,
    as ? each.panels.map((place) => panelBox(found.panels[place], Math.min(560, widthOf(box)), each)) : null,
    about
      ? [
          h("p", {}, question(each.metric)),
          about.querySelector("dl")?.cloneNode(true) ?? null,
        ]
      : null,
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
      section.querySelector(".band-words").textContent = DATA.strata
        ? "These are over all strata together; the finding compares within each stratum."
        : bandWords(each);
    }
    const current = now().finding(each),
      rows = each.measures.flatMap((name) => rowsOf(results, name)),
      frame = forestFrame(chosen.set, rows, current, widthOf(body));
    redraw(
      body,
      rows
        .map(([key, row]) => [h("h3", {}, shown(capital(row.title))), forest(chosen.set, key, row, current, frame)])
        .flat(),
    );
  };
}

// One axis for all measures of a metric; it does not jump while the cutoff moves.
function forestFrame(set, rows, each, width) {
  const unit = unitOf(rows[0][1]),
    bands = rows.map(([key]) => band(set, key, each));
  const domain =
    unit === "rate" && cutoffs().length
      ? [0, 1]
      : roomy([rows.map(([, row]) => [row.value, row.low, row.high]), bands].flat(3), unit);
  return { width, domain, unit };
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

// Is it one value that is judged, and no gap?
const isAlone = (each) => each.judged_on !== "difference" && each.judged_on !== "ratio";

// What the band is, in one line.
function bandWords(each) {
  const everyone = "The upright line is everyone";
  if (DATA.strata || !there(each.threshold) || isAlone(each)) return `${everyone}.`;
  if (averaged(each)) return `${everyone}. The gaps are averaged, so no one band is the threshold.`;
  const ratio = each.judged_on === "ratio",
    wide = pointsOf(each) ? `${Number((100 * each.threshold).toPrecision(6))} points` : figure(each.threshold);
  if (extremes(each)) {
    const size = ratio ? `so wide that its ends are in the ratio ${wide}` : `${wide} wide, as the threshold`;
    return `${everyone}. The band around it is ${size}: two groups inside it are within the threshold of each other.`;
  }
  const reach = ratio ? `from ${wide} times to 1 / ${wide} times` : `${wide} to either side of`;
  return `${everyone}. The band is the threshold: ${reach} ${each.against}.`;
}

// What a square and a dashed line are, where they tell groups apart.
function markWords(set, key, { evidence, required, verdict }) {
  const { names } = found.results[set],
    pair = evidence && [evidence.group, evidence.against].filter((name) => names.includes(name)),
    few = names.map((_, i) => now(set).get(key, i)).some(({ value, n }) => there(value) && n < DATA.least);
  const rests = required && verdict !== "not judged" && pair && evidence.measure === key,
    squares = rests && pair.length < names.length && pair.length;
  const told = squares > 1 ? "The squares are the two groups on which" : "The square is the group on which";
  return `${squares ? ` ${told} the verdict rests.` : ""}${few ? ` A dashed interval rests on fewer than ${DATA.least} people.` : ""}`;
}

// Around what groups are compared with; where that is each other, around everyone, as wide as the gap that is tolerated.
function band(set, key, each) {
  const t = each.threshold;
  if (!there(t) || isAlone(each) || averaged(each) || DATA.strata) return null;
  const at = found.results[set].names.indexOf(each.against),
    between = extremes(each),
    ratio = each.judged_on === "ratio",
    reach = between ? (ratio ? Math.sqrt(t) : t / 2) : t;
  const middle = at >= 0 ? now(set).get(key, at).value : between || each.against === "everyone" ? now(set).overall(key) : null;
  if (!there(middle)) return null;
  return ratio ? [middle * reach, middle / reach] : [middle - reach, middle + reach];
}

// Where there are many groups, those whose interval stays farthest away from everyone, as they were audited.
const attention = new Map();

function drawnGroups(set, key, row, many) {
  const order = found.results[set].names.map((_, i) => i),
    memo = `${set} ${many} ${key}`;
  if (order.length <= many || (chosen.all && many === MANY)) return order;
  if (!attention.has(memo)) {
    const away = (i) => (there(row.value[i]) ? Math.max(row.low[i] - row.overall, row.overall - row.high[i]) : -9);
    attention.set(
      memo,
      order
        .sort((a, b) => away(b) - away(a))
        .slice(0, many)
        .sort((a, b) => row.value[b] - row.value[a]),
    );
  }
  return attention.get(memo);
}

const pointWords = (name, { value, low, high, n }, unit) =>
  `${name}: ${amount(value, unit)}${there(low) && there(high) ? `, ${amount(low, unit)} to ${amount(high, unit)}` : ""}, n ${whole(n || 0)}`;

function forest(set, key, row, each, { many = MANY, ...frame }) {
  const { names, title: on } = found.results[set],
    { unit } = frame,
    order = drawnGroups(set, key, row, many),
    get = (i) => now(set).get(key, i),
    overall = now(set).overall(key);
  const pair = (each && each.evidence) || {};
  const rows = order.map((i) => {
    const got = get(i),
      name = names[i],
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
    band: each ? band(set, key, each) : null,
    line: overall,
    lineName: `everyone: ${amount(overall, unit)}`,
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
    left ? aside(`${whole(left)} more groups lie nearer to everyone, or are too small to tell.`) : null,
    twin(row.title, () =>
      table(
        [on, row.title, "low", "high", "n"],
        names.map((name, i) => [name, get(i).value, get(i).low, get(i).high, whole(get(i).n || 0)]),
      ),
    ),
  );
}

// Every measure that people ask for first, as small plots under plain titles.

const FEW = 12;

function measuresSection() {
  const { section, body } = part("measures");
  return (why) => {
    if (why === "metric" || why === "groups") return;
    const results = here(),
      blocks = Object.entries(DATA.sections)
        .map(([name, names]) => [name, knownRows(results, names)])
        .filter(([, rows]) => rows.length);
    section.hidden = !blocks.length;
    if (section.hidden) return;
    const wide = widthOf(body),
      width = wide >= 700 ? (wide - 28) / 2 : wide;
    title(section, `of ${results.title}`);
    redraw(
      body,
      h(
        "div",
        { class: "pairs" },
        blocks.flatMap(([name, rows]) =>
          rows.map(([key, row]) => {
            const frame = { ...forestFrame(chosen.set, [[key, row]], {}, width), many: FEW },
              drawn = forest(chosen.set, key, row, null, frame);
            drawn.prepend(h("h3", {}, name), h("p", { class: "aside" }, shown(capital(row.title))));
            return drawn;
          }),
        ),
      ),
    );
  };
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
