// The page: what a person chose, what holds now, the bar and the verdict. Without this script the tables still stand.

const $ = (id) => document.getElementById(id);
const all = (query, node = document) => [...node.querySelectorAll(query)];
const DATA = JSON.parse($("audit-data").textContent);
const MAIN = document.querySelector("main");
const MANY = 30;

let found,
  engine = null,
  home = -1;
const chosen = { set: 0, index: -1, metric: null, all: false, groups: new Map() };
const sections = {};

async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (mark) => mark.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return JSON.parse(await new Response(stream).text());
}

async function start() {
  found = await unpacked(DATA.packed);
  for (const each of found.results) {
    each.place = new Map(each.groups.map((group, i) => [JSON.stringify(group), i]));
    each.measures = new Map(
      each.measures.map((row) => [row.class === null ? row.name : `${row.name} ${row.class}`, row]),
    );
    each.title = each.attributes.join(" \u00d7 ");
    each.findings = found.findings.filter((one) => String(one.attributes) === String(each.attributes));
  }
  if (DATA.counts) {
    engine = evenhandCompute({ tables: found.tables }, await unpacked(DATA.counts));
    if (engine.recomputes) home = engine.audited;
  }
  chosen.index = home;
  choose(0);
  buildBar();
  const makers = {
    verdict: verdictSection,
    picture: pictureSection,
    lines: linesSection,
    forest: forestSection,
    measures: measuresSection,
    curves: curvesSection,
    sweep: sweepSection,
    heat: heatSection,
    trend: trendSection,
    strata: strataSection,
    notes: notesSection,
    forced: forcedSection,
  };
  for (const id in makers) if ($(id)) sections[id] = makers[id]();
  all(".tabled").forEach(enhance);
  update("set");
  watch();
  followLinks();
  paper();
  new ResizeObserver(resized()).observe(MAIN);
  document.documentElement.dataset.ready = "yes";
}

function resized() {
  const width = () => MAIN.clientWidth;
  let timer = 0,
    last = width();
  const look = () => {
    if (width() !== last) update("width");
    last = width();
  };
  return () => {
    clearTimeout(timer);
    timer = setTimeout(look, 100);
  };
}

// Why: "set" another attribute, "cutoff" the slider, "metric" or "groups" a choice, "width" the window. What is in a closed
// tab waits until that is opened; while the slider moves, a section that is out of sight waits until it comes near.
function update(why) {
  remembered.clear();
  if (why === "width" || why === "set") widths.clear();
  for (const id in sections) {
    if (isClosed(id) || (why === "cutoff" && far.has($(id)))) late.set(id, (late.get(id) || new Set()).add(why));
    else draw(id, why);
  }
}

const far = new Set(),
  late = new Map(); // why each section that waits is to be drawn

const isClosed = (id) => !printing && !$(id).closest(".tab").classList.contains("open");

function catchUp(id) {
  for (const why of late.get(id) || []) draw(id, why);
}

function draw(id, why) {
  late.delete(id);
  sections[id](why);
  if ($(id)) all("details.twin[open]", $(id)).forEach((box) => box.redraw && box.redraw());
}

// Tells of each node whether it is near; `gone` keeps those that are not.
function nearness(nodes, gone, come) {
  const look = (entries) =>
    entries.forEach(({ target, isIntersecting }) => {
      if (!isIntersecting) gone.add(target);
      else if (gone.delete(target)) come(target);
    });
  const observer = new IntersectionObserver(look, { rootMargin: "200px" });
  nodes.forEach((node) => observer.observe(node));
  return observer;
}

function watch() {
  nearness(Object.keys(sections).map($), far, ({ id }) => catchUp(id));
}

let waiting = false;
function soon(why) {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    update(why);
  });
}

// What holds now: the audit's own numbers at the audited cutoff, else what the engine computes from the counts.

const remembered = new Map();
const here = () => found.results[chosen.set];
const moved = () => chosen.index !== home;

function now(set = chosen.set) {
  if (!remembered.has(set)) remembered.set(set, moved() && found.results[set].counted ? recomputed(set) : audited(set));
  return remembered.get(set);
}

function audited(set) {
  const { measures } = found.results[set];
  return {
    get: (key, i) => {
      const row = measures.get(key);
      return row ? { value: row.value[i], low: row.low[i], high: row.high[i], n: row.n[i] } : {};
    },
    overall: (key) => (measures.get(key) || {}).overall,
    finding: (each) => (moved() ? { ...each, stale: true } : each),
  };
}

function recomputed(set) {
  const results = found.results[set],
    told = engine.at(results.attributes, chosen.index),
    before = audited(set);
  const rows = [];
  for (const group of told.groups) rows[results.place.get(JSON.stringify(group.key))] = group.measures;
  const known = (key) => told.overall[key] !== undefined;
  return {
    get: (key, i) => (known(key) ? rows[i][key] : before.get(key, i)),
    overall: (key) => (known(key) ? told.overall[key] : before.overall(key)),
    finding: (each) =>
      told.findings[each.metric] ? { ...each, ...told.findings[each.metric], fresh: true } : { ...each, stale: true },
  };
}

const isMissing = (group) => group.includes(null);
const unitOf = (row) =>
  row.unit === "score" && (row.name === "auc" || (DATA.probability && /score|brier|calib/.test(row.name)))
    ? "rate"
    : row.unit;
const rowsOf = (results, name) => [...results.measures].filter(([, row]) => row.name === name);
const knownRows = (results, names) =>
  names.flatMap((name) => rowsOf(results, name)).filter(([, row]) => row.value.some(there));
const firstRows = (results) => knownRows(results, Object.values(DATA.sections).flat());

// Which groups have one of the eight marks; the others are grey.
function picked(set = chosen.set) {
  if (!chosen.groups.has(set)) {
    const { names, people, findings } = found.results[set],
      order = names.map((_, i) => i);
    const lead = findings.find((each) => each.required) || findings[0] || {};
    const pair = lead.evidence || {},
      named = [pair.group, pair.against].map((name) => names.indexOf(name)).filter((i) => people[i] >= DATA.least);
    const largest = [...order].sort((a, b) => people[b] - people[a]);
    chosen.groups.set(set, names.length <= MOST ? order : [...new Set([...named, ...largest])].slice(0, 6));
  }
  const mine = chosen.groups.get(set);
  return printing ? [...mine].sort((a, b) => found.results[set].people[b] - found.results[set].people[a]).slice(0, 4) : mine;
}

const groupLegend = (more) =>
  legend(
    picked().map((i, kind) => ({ name: here().names[i], kind })),
    more,
  );

function choose(set) {
  chosen.set = set;
  const { findings } = here();
  if (findings.some((each) => each.metric === chosen.metric)) return;
  const lead = findings.find((each) => each.required) || findings.find((each) => each.measures.length) || {};
  chosen.metric = lead.metric || null;
}

// The bar.

const UNMOVED = DATA.decided ? "as decided" : "no cutoff"; // where the audit was made at no place of the slider
const cutoffs = () => (engine && engine.recomputes ? engine.cutoffs : []);

function cutoffText(index) {
  const beyond = index === cutoffs().length - 1,
    value = cutoffs()[index],
    mirrored = DATA.mirror !== null;
  const words = String(Number((mirrored ? DATA.mirror - value : value).toPrecision(6)));
  return `${mirrored ? (beyond ? "<" : "\u2264") : beyond ? ">" : "\u2265"} ${words}`;
}

function buildBar() {
  const print = h("button", { type: "button", click: () => window.print() }, "Print");
  document.querySelector(".eyebrow").after(h("div", { class: "buttons" }, themeButton(), print));
  const controls = [found.results.length > 1 ? picker() : null, cutoffs().length > 1 ? slider() : null];
  put($("bar"), ...controls);
  $("bar").hidden = !present(controls).length;
}

function picker() {
  const go = (i) => {
    choose(i);
    update("set");
  };
  if (found.results.length > 4) {
    const titles = found.results.map((each, i) => [String(i), each.title]),
      box = select("Attribute", titles, "0", (value) => go(Number(value)));
    box.classList.add("attribute");
    return box;
  }
  const radios = found.results.map((each, i) =>
    h(
      "label",
      {},
      h("input", { type: "radio", name: "attribute", value: i, checked: i === 0, change: () => go(i) }),
      h("span", {}, bdi(clip(each.title, 36))),
    ),
  );
  return h("fieldset", { class: "segments attribute" }, h("legend", {}, "Attribute"), radios);
}

function slider() {
  const output = h("output", { for: "cutoff" }),
    last = cutoffs().length - 1,
    middle = home >= 0 ? home : Math.floor(last / 2);
  const back = h("button", { type: "button" }, home < 0 ? capital(UNMOVED) : "Back to audited");
  const input = h("input", { id: "cutoff", type: "range", min: 0, max: last, step: 1, value: middle });
  const go = (index) => {
    chosen.index = index;
    output.dataset.cutoff = index < 0 ? "" : cutoffs()[index];
    output.textContent = index < 0 ? UNMOVED : cutoffText(index) + (moved() ? "" : " (audited)");
    input.setAttribute("aria-valuetext", output.textContent);
    back.disabled = !moved();
  };
  input.addEventListener("input", () => {
    go(Number(input.value));
    soon("cutoff");
  });
  back.addEventListener("click", () => {
    input.value = middle;
    go(home);
    soon("cutoff");
  });
  go(home);
  return h(
    "div",
    { class: "field wide" },
    h("label", { for: "cutoff" }, "Cutoff of ", bdi(clip(DATA.score || "the score", 24))),
    input,
    output,
    back,
  );
}

function themeButton() {
  const root = document.documentElement,
    button = h("button", { type: "button" });
  const dark = () =>
    (root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const tell = () => {
    button.textContent = dark() ? "Light" : "Dark";
  };
  button.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    tell();
  });
  tell();
  return button;
}

// What sections share.

const part = (id) => ({
  section: $(id),
  controls: $(id).querySelector(".controls"),
  body: $(id).querySelector(".body"),
});
const title = (section, words) => put(section.querySelector(".of"), bdi(words));

// Asking for a width makes the browser lay out the whole page, so it is asked once for each width of the window.
const widths = new Map();

function widthOf(node) {
  if (printing) return PAPER;
  if (!widths.has(node)) {
    const known = node.clientWidth || node.parentNode.clientWidth || MAIN.clientWidth - 106; // out of sight: a section
    widths.set(node, Math.max(280, Math.floor(known)));
  }
  return widths.get(node);
}

function select(name, options, value, change) {
  const id = `choose-${name.replace(/\W/g, "")}`;
  const box = h(
    "select",
    { id, change: (event) => change(event.target.value) },
    options.map(([key, text]) => h("option", { value: key, selected: key === value }, clip(text, 60))),
  );
  return h("div", { class: "field" }, h("label", { for: id }, name), box);
}

// Table twins that are open stay open when a section is drawn again.
function redraw(body, ...nodes) {
  const open = all("details.twin", body).map((box) => box.open);
  put(body, ...nodes);
  all("details.twin", body).forEach((box, i) => {
    box.open = open[i] || false;
  });
}

// Verdict.

const RANK = ["fail", "inconclusive", "pass", "not judged"];

function overallVerdict(findings) {
  const counted = findings
    .filter((each) => !each.settled)
    .map((each) => (each.verdict === "inconclusive" ? DATA.inconclusive : each.verdict));
  const decided = RANK.find((verdict) => counted.includes(verdict)) || "not judged";
  // What would decide and is not there may be anything: see Audit.verdict.
  return DATA.incomplete && (decided === "pass" || !counted.length) ? "inconclusive" : decided;
}

function verdictSection() {
  return (why) => {
    if (!["set", "cutoff", "width"].includes(why)) return;
    const deciding = found.results.flatMap(({ findings }, set) =>
      findings.filter((each) => each.required).map((each) => [set, now(set).finding(each)]),
    );
    const order = (a, b) => RANK.indexOf(a[1].verdict) - RANK.indexOf(b[1].verdict) || a[1].rank - b[1].rank;
    put($("verdict-state"), icon(moved() ? overallVerdict(deciding.map(([, each]) => each)) : DATA.verdict));
    for (const node of all(".as-judged")) node.hidden = moved(); // these are sentences of the audit
    $("moved").hidden = !moved();
    $("moved").textContent = moved() ? movedWords() : "";
    const audited = found.findings.filter((each) => each.required),
      first = deciding.sort(order).slice(0, DATA.cards);
    const width = cardWidth(first.length);
    put(
      $("cards"),
      first.map(([set, each], i) => card(set, each, gapDomain(each, audited), width, i === 0 && !moved())),
    );
  };
}

// The room for the picture of a card: one card has half of the row, others what `.cards` of the style gives each of them.
function cardWidth(cards) {
  const row = widthOf($("cards")),
    columns = Math.max(1, Math.min(cards, Math.floor((row + 16) / (printing ? 216 : 336))));
  return Math.min(cards === 1 && row > 720 ? row / 2 : (row - 16 * (columns - 1)) / columns, 528) - 42;
}

function movedWords() {
  const was = home < 0 ? `the audit was made ${DATA.decided ? "of what was decided" : "without a cutoff"}` : `the audit was made at ${cutoffText(home)}`;
  return `Computed again with the cutoff at ${cutoffText(chosen.index)}; ${was}.`;
}

// What a metric asks, as the catalogue has it.
function question(metric) {
  const about = $(`about-${metric}`);
  return about ? (about.querySelector("summary") || about).lastChild.textContent.trim() : "";
}

// The sentence of the first card stands above the cards already: it names its groups alone.
function card(set, each, domain, width, told) {
  const on = each.attributes.join(" \u00d7 "),
    reached = reach(each);
  return h(
    "article",
    { class: `card ${each.verdict.replace(" ", "-")}`, "data-metric": each.metric, "data-on": on, ...findingData(each) },
    h("header", {}, icon(each.verdict), h("span", { class: "on" }, bdi(on))),
    h("h3", {}, shown(capital(each.title))),
    question(each.metric) ? h("p", { class: "asks" }, question(each.metric)) : null,
    each.watched
      ? h("p", { class: "figure" }, each.verdict === "fail" ? "alarm" : "no alarm",
          h("small", {}, `by the evidence of all periods; threshold ${limit(each)}`))
      : h("p", { class: "figure" }, judged(each), h("small", {}, `${reached ? `${reached}, ` : ""}threshold ${limit(each)}${each.within && !each.fresh ? `; ${each.within}` : ""}`)),
    there(each.threshold) && !each.watched ? strip(stripFrame(width), each, domain) : null,
    h("p", { class: "sentence" }, bdi(tied(told ? between(set, each) : sentence(set, each)))),
    each.settled
      ? h("p", { class: "aside" }, `${capital(each.settled)} is selected here: nothing is judged by it.`)
      : null,
    each.stale ? h("p", { class: "aside" }, "As audited: not computed again.") : null,
  );
}

// What a finding says now, as attributes.
const findingData = (each) => ({
  ...raw(each),
  ...(there(each.shown.value) ? { "data-shown": String(each.shown.value) } : {}),
  "data-verdict": each.verdict,
  "data-group": each.evidence && each.evidence.group,
  "data-against": each.evidence && each.evidence.against,
  "data-stale": each.stale ? "true" : "false",
});

// Is there a gap beyond doubt, where it is open whether the gap exceeds the threshold?
function isClear({ verdict, judged_on: kind, shown: { low, high } }) {
  const none = kind === "ratio" ? 1 : 0;
  return verdict === "inconclusive" && kind !== "value" && there(low) && there(high) && (low > none || high < none);
}

// The pair of groups on which the verdict rests, and by what they are compared.
function between(set, each) {
  const pair = each.evidence,
    row = pair && found.results[set].measures.get(pair.measure);
  return pair && pair.against ? `${pair.group} and ${pair.against}${row ? `, by the ${row.title}` : ""}` : "";
}

// The pair of groups on which the verdict rests, with the people that each is measured on.
function sentence(set, each) {
  if (!each.fresh) return each.sentence;
  const { measures, names } = found.results[set],
    pair = each.evidence;
  if (!pair || !there(each.shown.value))
    return `The ${each.title} cannot be computed here${each.reasons.length ? `: ${each.reasons.slice(0, 4).join("; ")}` : ""}.`;
  const row = measures.get(pair.measure);
  // Where measures are averaged, each has a highest and a lowest group of its own.
  if (!row && names.length > 2 && names.includes(pair.against))
    return `On average over the measures, the highest and the lowest group differ: ${judged(each)}.`;
  const of = (name, n) => {
    const i = names.indexOf(name),
      value = i < 0 || !row ? null : now(set).get(pair.measure, i).value;
    return `${there(value) ? `${amount(value, row.unit)} for ` : ""}${name}${there(n) ? ` (n = ${whole(n)})` : ""}`;
  };
  const gap = row ? `The ${row.title} is` : "On average over the measures, this is between",
    small = each.verdict === "pass" && each.left_out.length ? `, leaving out ${each.left_out.join(", ")}`
      : each.lacks_labels ? ", because labels are missing" : "";
  return `${gap} ${of(pair.group, pair.n)} and ${of(pair.against, pair.n_against)}: ${isClear(each) ? "there is a gap, " : ""}${judged(each)}${small}.`;
}
