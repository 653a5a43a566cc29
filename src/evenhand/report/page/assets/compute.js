'use strict';

// What an audit says, computed again for any cutoff from the counts that the page carries. Coefficients and critical
// values come from Python (data.tables); on the same counts both give the same numbers. The counts are in parts, each of
// some attributes: most pages have one with all of them, a page to share one for each set that may leave.
// evenhandCompute(data, counts) answers for sets of attributes and stops of the slider; −1 stands for "as decided".
const evenhandCompute = (() => {
  const {
    State, prepared, effective, estimate, normalTail, memo, lazily, total, orNull, isNumber, text, spell, NEAR,
  } = typeof evenhandInference === 'undefined' ? require('./inference.js').evenhandInference : evenhandInference;
  const { Judged } = typeof evenhandVerdicts === 'undefined' ? require('./verdicts.js').evenhandVerdicts : evenhandVerdicts;

  const WILSON = 1.959963984540054;

  // Where the cells TN FP FN TP U0 U1 D0 D1 stand in a 3 × 3 table of (label, prediction).
  const PLACES = [0, 1, 3, 4, 6, 7, 2, 5];

  // The groups of some attributes, in the order that Python gives them, with their 3 × 3 tables.
  // `codes` has what people read in place of values that say little by themselves, by attribute.
  function grouped(part, attributes, kinds, codes) {
    const places = attributes.map((name) => part.sensitive.indexOf(name));
    const parts = part.groups.map((full) => places.map((place) => full[place]));
    const rank = places.map((place) => new Map(part.values[place].map((value, i) => [value, i])));
    const order = (a, b) => {
      const i = a.findIndex((value, at) => value !== b[at]);
      return i < 0 ? 0 : rank[i].get(a[i]) - rank[i].get(b[i]);
    };
    const groups = [...new Map(parts.map((group) => [text(group), group])).values()].sort(order);
    const keys = groups.map(text), place = new Map(keys.map((key, i) => [key, i]));
    const of = parts.map((group) => place.get(text(group)));
    const tables = Object.fromEntries(kinds.map((kind) => {
      const sums = new Float64Array(groups.length * 9);
      of.forEach((to, from) => {
        for (let i = 0; i < 9; i++) sums[to * 9 + i] += part[kind][from * 9 + i];
      });
      return [kind, sums];
    }));
    const read = (value, i) => codes?.[attributes[i]]?.[value] ?? value;
    const people = groups.map((_, g) => total(tables.n.subarray(g * 9, g * 9 + 9)));
    return {
      part, groups, keys, of, tables, people, all: total(people), names: groups.map((group) => spell(group.map(read))),
      missing: groups.map((group) => group.includes(null)),
    };
  }

  // People (or weights) by group, label and bin, and their sums below each stop and from it on. Both are summed by
  // themselves, so that what holds nobody is exactly 0. `unscored` are those with a label and no score, [group, label].
  function cumulated(grouping, kind, bins) {
    const { scores } = grouping.part, size = grouping.groups.length, dense = new Float64Array(size * 3 * bins);
    let at = 0;
    scores.cells.forEach((count, row) => {
      const start = (grouping.of[Math.floor(row / 3)] * 3 + row % 3) * bins;
      for (let bin = -1, left = count; left > 0; left--, at++) {
        bin += scores.step[at];
        dense[start + bin] += scores[kind][at];
      }
    });
    const below = new Float64Array(size * 3 * (bins + 1)), above = new Float64Array(size * 3 * (bins + 1));
    for (let row = 0; row < size * 3; row++) {
      const from = row * bins, to = row * (bins + 1);
      for (let i = 0; i < bins; i++) below[to + i + 1] = below[to + i] + dense[from + i];
      for (let i = bins - 1; i >= 0; i--) above[to + i] = above[to + i + 1] + dense[from + i];
    }
    const unscored = new Float64Array(size * 2);
    for (let g = 0; g < size; g++) {
      for (let label = 0; label < 2; label++) {
        const start = g * 9 + label * 3, lacking = grouping.sums.n && grouping.sums.n.unscored[g * 2 + label] === 0;
        const all = total(grouping.tables[kind].subarray(start, start + 3));
        unscored[g * 2 + label] = lacking ? 0 : all - above[(g * 3 + label) * (bins + 1)];
      }
    }
    return { dense, below, above, unscored };
  }

  // The eight cells of every group at a stop. Whoever has no score is undecided.
  function cellsAt(grouping, kind, stop, bins) {
    const size = grouping.groups.length, cells = new Float64Array(size * 8);
    for (let g = 0; g < size; g++) {
      if (stop < 0) {
        for (let c = 0; c < 8; c++) cells[g * 8 + c] = grouping.tables[kind][g * 9 + PLACES[c]];
        continue;
      }
      const { below, above, unscored } = grouping.sums[kind];
      for (let label = 0; label < 3; label++) {
        const row = (g * 3 + label) * (bins + 1) + stop;
        cells[g * 8 + label * 2] = below[row];
        cells[g * 8 + label * 2 + 1] = above[row];
        if (label < 2) cells[g * 8 + 6 + label] = unscored[g * 2 + label];
      }
    }
    return cells;
  }

  return (data, counts) => {
    const { tables } = data, { scores, has, parts } = counts, weighted = Boolean(parts[0].w);
    const kinds = weighted ? ['n', 'w', 'w2'] : ['n'], mass = weighted ? 'w' : 'n';
    const measures = new Map(tables.measures.map((row) => [row.name, prepared(row)]));
    const stops = Float64Array.from(scores ? scores.stops : []), bins = Math.max(stops.length - 1, 0);

    const deviates = new Map();
    const deviate = (z) => {
      if (!deviates.has(z)) deviates.set(z, { z, tail: normalTail(z) });
      return deviates.get(z);
    };

    // The smallest part that has all of the attributes, as Audit.counts chooses it.
    const partOf = (attributes) => parts.filter((part) => attributes.every((name) => part.sensitive.includes(name)))
      .reduce((best, part) => (best && best.sensitive.length <= part.sensitive.length ? best : part), null);

    const grouping = memo((attributes) => {
      const found = grouped(partOf(attributes), attributes, kinds, tables.codes);
      found.sums = {};
      if (scores) for (const kind of kinds) found.sums[kind] = cumulated(found, kind, bins);
      return found;
    });

    // Only the last state is kept: a slider seldom comes back, and what is known of a state is large.
    const PLACE = Symbol('the place of a group');
    let last = {};
    function state(attributes, stop) {
      const key = text([attributes, stop]);
      if (last.key !== key) {
        const [people, cells, squares] = ['n', mass, 'w2'].map((kind) =>
          (kind === 'w2' && !weighted ? null : cellsAt(grouping(attributes), kind, stop, bins)));
        last = { key, made: new State(measures, cells, people, squares) };
      }
      return last.made;
    }

    const decides = (stop) => stop >= 0 || has.prediction;
    const available = (stop) => [...measures.values()]
      .filter((row) => row.needs.every((role) => (role === 'prediction' ? decides(stop) : has[role])))
      .map((row) => row.name);
    const plansOf = memo((attributes, stop) => {
      const there = available(stop), key = text(attributes);
      return tables.plans.filter((plan) => text(plan.attributes) === key
        && plan.measures.every((name) => there.includes(name)));
    });

    // Who takes part in a comparison, and where the reference stands: those without a group are shown and not judged.
    const taking = memo((attributes, reference) => {
      const { keys, missing, people, all } = grouping(attributes), rare = tables.policy.min_group_share * all;
      const place = reference ? keys.indexOf(text(reference)) : -1;
      const share = (g) => people[g] / all;
      return { place, share, named: keys.map((_, g) => g === place || (!missing[g] && people[g] >= rare)) };
    });

    function judged(plan, attributes, now) {
      const critical = (side, count) => deviate(tables.critical[plan.critical][side][count]);
      return new Judged(plan, now, grouping(attributes).names, taking(attributes, plan.reference), critical);
    }

    // One measure of every group, with limits that hold for all of them together.
    function measured(now, names, name) {
      const spread = now.spread(name), support = now.support(name);
      const there = spread && spread.values.reduce((count, value) => count + isNumber(value), 0);
      const ends = spread && spread.limits(deviate(tables.own[there]), NEAR);
      return Array.from(now.values(name), (value, g) => {
        const told = estimate(value, ends && [ends[0][g], ends[1][g]]);
        told.n = support[g];
        told.reason = isNumber(value) ? null : now.reason(name, g, names[g]);
        return told;
      });
    }

    // Every group and every finding at a stop. Measures and findings are computed when they are looked at.
    function at(attributes, stop) {
      const { groups, names, people, missing } = grouping(attributes), now = state(attributes, stop);
      const shown = available(stop), told = memo((name) => measured(now, names, name));
      const row = Object.create(null, Object.fromEntries(shown.map((name) =>
        [name, { enumerable: true, get() { return told(name)[this[PLACE]]; } }])));
      const plans = plansOf(attributes, Math.min(stop, 0));
      const list = lazily(plans.map((_, i) => String(i)), (i) => judged(plans[i], attributes, now).told());
      const first = new Map(plans.map((plan, i) => [plan.metric, String(i)]).reverse());
      return {
        groups: groups.map((key, g) => ({
          name: names[g],
          key,
          people: people[g],
          missing: missing[g],
          measures: Object.create(row, { [PLACE]: { value: g } }),
        })),
        overall: lazily(shown, (name) => orNull(now.everyone().values(name)[0])),
        findings: lazily([...first.keys()], (metric) => list[first.get(metric)]),
        list,
      };
    }

    // Accuracy over everyone and the gap of every metric, as it is shown, at every stop; computed when they are looked at.
    const sweep = memo((attributes) => {
      const first = new Map(plansOf(attributes, 0).map((plan) => [plan.metric, plan]).reverse());
      const everywhere = (tell) => Array.from(stops, (_, stop) => tell(state(attributes, stop)));
      return {
        cutoffs: stops,
        accuracy: has.label ? everywhere((now) => orNull(now.everyone().values('accuracy')[0])) : null,
        gaps: lazily([...first.keys()], (metric) =>
          everywhere((now) => judged(first.get(metric), attributes, now).shown.value)),
      };
    });

    const above = (found, g, label) => {
      const start = (g * 3 + label) * (bins + 1);
      return found.sums[mass].above.subarray(start, start + bins + 1);
    };

    // The ROC curve of each group from the lowest cutoff to the highest, and where a stop stands on it. The area under it
    // is not computed here: it depends on the order of scores between the stops.
    function roc(attributes, stop = -1) {
      if (!scores || !has.label) return [];
      const found = grouping(attributes), now = state(attributes, stop);
      return found.names.map((name, g) => {
        const [negative, positive] = [0, 1].map((label) => above(found, g, label));
        // Without labels on one side of the decision, the curve would be that of the others.
        const silent = ['refused', 'selected'].some((side) => now.silent(side)[g]);
        const share = (counts) => (counts[0] > 0 && !silent ? Array.from(counts, (count) => count / counts[0]) : []);
        const point = () => ({
          fpr: orNull(now.values('false_positive_rate')[g]),
          tpr: orNull(now.values('true_positive_rate')[g]),
        });
        return {
          name,
          missing: found.missing[g],
          fpr: share(negative),
          tpr: share(positive),
          point: decides(stop) ? point() : null,
        };
      });
    }

    // By group and calibration bin: people, observed rate with Wilson's interval, mean score.
    const calibration = memo((attributes) => {
      if (!scores || !scores.edges || !has.label) return [];
      const found = grouping(attributes), count = scores.edges.length - 1, z2 = WILSON * WILSON;
      const first = new Float64Array(found.groups.length * count);
      found.of.forEach((to, from) => {
        for (let i = 0; i < count; i++) first[to * count + i] += found.part.scores.first[from * count + i];
      });
      const summed = (kind, g, label) => {
        const sums = new Float64Array(count);
        for (let b = 0; b < bins; b++) sums[scores.by_edge[b]] += found.sums[kind].dense[(g * 3 + label) * bins + b];
        return sums;
      };
      return found.names.map((name, g) => {
        const [rest, top] = [0, 1].map((label) => summed(mass, g, label));
        const [restSquares, topSquares] = weighted ? [0, 1].map((label) => summed('w2', g, label)) : [];
        const told = Array.from(top, (positive, i) => {
          const all = positive + rest[i];
          const [k, n] = weighted ? effective(positive, rest[i], topSquares[i], restSquares[i]) : [positive, all];
          const middle = (k + z2 / 2) / (n + z2), reach = WILSON / (n + z2) * Math.sqrt(k * (n - k) / n + z2 / 4);
          return {
            from: scores.edges[i],
            to: scores.edges[i + 1],
            n: Math.floor(n + 1e-6), // whole people, as Python counts them, whatever the last digit of a weight
            rate: k / n,
            low: k > 0 ? middle - reach : 0,
            high: k < n ? middle + reach : 1,
            mean: first[g * count + i] / all,
          };
        });
        return { name, missing: found.missing[g], bins: told.filter((bin) => isNumber(bin.rate)) };
      });
    });

    // The share of each group in at most `most` stretches of the score; the last edge is the end of the range.
    const distribution = memo((attributes, most = 40) => {
      if (!scores) return [];
      const found = grouping(attributes), width = Math.ceil(bins / most), starts = [];
      for (let b = 0; b < bins; b += width) starts.push(b);
      const edges = [...starts.map((b) => stops[b]), scores.high];
      return found.names.map((name, g) => {
        const counts = [0, 1, 2].map((label) => above(found, g, label)), all = total(counts.map((row) => row[0]));
        const inside = (b) => total(counts.map((row) => row[b] - row[Math.min(b + width, bins)]));
        return { name, missing: found.missing[g], edges, share: starts.map((b) => (all > 0 ? inside(b) / all : 0)) };
      });
    });

    return {
      attributeSets: tables.attribute_sets,
      cutoffs: stops,
      audited: scores ? scores.audited : -1,
      recomputes: tables.plans.length > 0,
      at,
      sweep,
      roc,
      calibration,
      distribution,
    };
  };
})();

if (typeof module !== 'undefined') module.exports = { evenhandCompute };
