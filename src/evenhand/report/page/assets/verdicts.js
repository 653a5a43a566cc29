'use strict';

// Gaps between groups, the pair of groups they rest on, and the verdict; see verdicts/ in Python.
// Undefined is NaN inside, null in results.
const evenhandVerdicts = (() => {
  const { estimate, repeated, filled, memo, total, mean, folded, isNumber, NEAR, FAR } =
    typeof evenhandInference === 'undefined' ? require('./inference.js').evenhandInference : evenhandInference;
  const { TOLERANCE, worst, almost, sureness, sidesOf, Pairs, againstEnds, sizeOf, foldOf, decidingEnds } =
    typeof evenhandEnds === 'undefined' ? require('./ends.js').evenhandEnds : evenhandEnds;

  // --- Gaps: values are [measure][group], NaN where a group takes no part --------------------------------------------

  const NO_GAP = { difference: NaN, ratio: NaN, high: null, low: null, measure: null };

  // Highest less lowest, and lowest over highest. able(measure, group) says who may be the highest: null is everyone.
  // Of groups with the same value the largest is named.
  function gapBetween(values, { aggregate, judged_on: judgedOn }, able, sizes) {
    const found = values.map((row, i) => {
      let high = 0, low = row.length - 1, top = -Infinity, bottom = Infinity, count = 0;
      for (let g = 0; g < row.length; g++) {
        if (isNumber(row[g])) count += 1;
        const better = row[g] > top || (row[g] === top && sizes[g] > sizes[high]);
        if (better && (!able || able(i, g))) [high, top] = [g, row[g]];
      }
      for (let g = 0; g < row.length; g++) {
        const worse = row[g] < bottom || (row[g] === bottom && sizes[g] >= sizes[low]);
        if (worse && g !== high) [low, bottom] = [g, row[g]];
      }
      const enough = count > 1;
      return { high, low, enough, difference: enough ? top - bottom : NaN, ratio: enough ? bottom / top : NaN };
    });
    const single = aggregate === 'worst';
    if (!(single ? found.some((part) => part.enough) : found.every((part) => part.enough))) return NO_GAP;
    const differences = found.map((part) => part.difference), ratios = found.map((part) => part.ratio);
    const measure = worst(judgedOn === 'ratio' ? ratios.map((ratio) => -ratio) : differences);
    const { high, low } = found[measure];
    if (!single) return { difference: mean(differences), ratio: mean(ratios), high, low, measure: null };
    const known = ratios.filter(isNumber);
    const ratio = known.length ? Math.min(...known) : NaN;
    return { difference: Math.max(...differences.filter(isNumber)), ratio, high, low, measure };
  }

  // Each group less its baseline, and over it; averaged over the measures where that is asked for.
  function compared(values, base, aggregate) {
    const apart = (change) => values.map((row, i) => Array.from(row, (value, g) => change(value, base[i][g])));
    return [averaged(apart((a, b) => a - b), aggregate, Math.abs), averaged(apart((a, b) => a / b), aggregate, folded)];
  }

  function averaged(rows, aggregate, size) {
    if (aggregate === 'worst') return rows;
    const change = aggregate === 'mean_abs' ? size : (value) => value;
    return [rows[0].map((_, g) => mean(rows.map((row) => change(row[g]))))];
  }

  // The group that lies farthest from its baseline; that may be another one for the ratio.
  function gapAgainst([differences, ratios], plan) {
    const size = differences[0].length, sizes = differences.flat().map(Math.abs);
    const distances = ratios.flat().map(plan.one_sided || plan.aggregate === 'mean_abs' ? (ratio) => ratio : folded);
    if (!sizes.some(isNumber)) return NO_GAP;
    const locate = (place) => [Math.floor(place / size), place % size];
    const far = locate(worst(sizes)), apart = locate(worst(distances.map((distance) => -distance)));
    const named = plan.judged_on === 'ratio' && distances.some(isNumber) ? apart : far;
    return {
      difference: differences[far[0]][far[1]],
      ratio: ratios[apart[0]][apart[1]],
      high: named[1],
      low: null,
      measure: plan.aggregate === 'worst' ? named[0] : null,
      at: { difference: far, ratio: apart },
    };
  }

  // --- The rule ------------------------------------------------------------------------------------------------------

  // Is a whole interval beyond what is tolerated, all of it within, an estimate within? A difference counts on both sides
  // of 0, a ratio above 1 only where it is two-sided.
  function rule(threshold, byRatio, twoSided) {
    const limit = (threshold ?? 0) + (byRatio ? -TOLERANCE : TOLERANCE), both = twoSided && limit > 0;
    const outside = ([low, high]) => (byRatio
      ? high < limit || (both && low > 1 / limit) : low > limit || high < -limit);
    const inside = ([low, high]) => (byRatio
      ? low >= limit && (!both || high <= 1 / limit) : low >= -limit && high <= limit);
    const passes = (value) => {
      if (threshold === null || !isNumber(value)) return null;
      return byRatio ? (twoSided ? folded(value) : value) >= limit : Math.abs(value) <= limit;
    };
    const verdict = ({ value, low, high }) => {
      if (threshold === null) return 'not judged';
      if (value === null || low === null || high === null) return 'inconclusive';
      return outside([low, high]) ? 'fail' : inside([low, high]) ? 'pass' : 'inconclusive';
    };
    return { outside, inside, passes, verdict };
  }

  // --- Judging -------------------------------------------------------------------------------------------------------

  // One metric on the groups of a state. `named` says who takes part, `place` is that of the reference, −1 without one;
  // critical(side, count) is the deviate of near or far ends for so many groups. `bounds` has the value that is judged,
  // with the ends that decide, and the evidence: the pair of groups on which the verdict rests.
  class Judged {
    constructor(plan, state, names, { named, place, share }, critical) {
      Object.assign(this, { plan, state, names, named, place, share, critical, byRatio: plan.judged_on === 'ratio' });
      this.kind = this.byRatio ? 'ratio' : 'difference';
      const alike = this.selectedAlike();
      this.settled = plan.settled.includes(alike) ? alike : null;
      if (this.settled) this.plan = plan = { ...plan, threshold: null };
      this.values = plan.measures.map((name) => {
        const values = state.values(name);
        return filled(values.length, (g) => (named[g] ? values[g] : NaN));
      });
      this.base = plan.kind === 'pairs' ? null : plan.measures.map((name) => this.baseline(name));
      this.apart = this.base && compared(this.values, this.base, plan.aggregate);
      this.gap = this.base ? gapAgainst(this.apart, plan) : gapBetween(this.values, plan, this.able(), this.sizes());
      this.rule = rule(plan.threshold, this.byRatio, this.base !== null && !plan.one_sided);
      this.bounds = memo(() => this.withWorstCase(this.base ? this.boundsAgainst(false) : this.boundsBetween(false)));
    }

    // The judged estimate of the two groups on which the verdict rests, which is what a page shows.
    get shown() {
      const { value, evidence } = this.bounds();
      return evidence ? evidence[this.kind] : value;
    }

    baseline(name) {
      const { state, place, plan: { against } } = this;
      if (against === 'rest') return state.known(name).rest().values(name);
      const own = state.values(name);
      const value = against === 'overall' ? state.known(name).everyone().values(name)[0] : own[place] ?? NaN;
      return own.map((_, g) => (g === place ? NaN : value));
    }

    // The largest gap that is possible, where the data cannot bound it.
    farthest() {
      if (this.byRatio) return 0;
      return this.plan.measures.every((name) => this.state.measures.get(name).unit === 'rate') ? 1 : Infinity;
    }

    // The weight of each group beside that of the heaviest.
    sizes() {
      const { state: { cells }, named } = this, sums = named.map((_, g) => total(cells.slice(g * 8, g * 8 + 8)));
      return sums.map((sum) => Math.round((1e9 * sum) / Math.max(...sums)));
    }

    // Who is large enough for a pass, [measure][group].
    enough() {
      return this.plan.measures.map((name) => Array.from(this.state.support(name), (n) => n >= this.plan.min_group_size));
    }

    // Who may be the highest group that others are measured by: where nobody is large enough, everyone; null without one.
    able() {
      const { plan, named, share } = this;
      if (plan.against !== 'highest') return null;
      const fits = this.enough().map((row) => row.map((large, g) => large && named[g] && share(g) >= plan.min_reference_share));
      return (i, g) => fits[i][g] || !fits[i].some(Boolean);
    }

    // Those who may support a pass: nobody, where the reference is too small, or where small groups leave it open.
    large() {
      const { place, named, plan } = this, enough = this.enough(), fits = (g) => enough.every((row) => row[g]);
      const left = plan.small_groups === 'inconclusive' && named.some((takes, g) => takes && !fits(g));
      // Who others may be measured by lies below them all, and is measured by nobody: no pass rests on that.
      const alone = plan.against === 'highest' && this.gap.difference < 0;
      const lost = left || alone || (place >= 0 && !fits(place));
      return enough.map((row) => row.map((large, g) => large && named[g] && !lost));
    }

    // --- Labels that are missing for a reason; see verdicts/bounds/worst_case.py

    withWorstCase(bounds) {
      const { plan, state, rule: { verdict } } = this, decided = verdict(bounds.value);
      if (plan.missing_labels !== 'bounds' || plan.threshold === null || bounds.value.low === null) return bounds;
      const large = this.large(), selective = this.named.some((_, g) => large.some((row) => row[g]) && state.selective(g));
      if (decided === 'fail' || !selective || !plan.measures.some((name) => state.isOpen(name))) return bounds;
      const worst = this.base ? this.boundsAgainst(true) : this.boundsBetween(true), then = verdict(worst.value);
      return then === decided || then === 'inconclusive' ? { ...worst, lacksLabels: decided === 'pass' && then !== decided } : bounds;
    }

    withoutInterval() {
      const { gap } = this, only = (value) => estimate(value, null);
      const [difference, ratio] = [only(gap.difference), only(gap.ratio)];
      const evidence = { measure: gap.measure, group: gap.high, other: gap.low, difference, ratio };
      return { value: only(gap[this.kind]), evidence: gap.high === null ? null : evidence, gaps: { difference, ratio } };
    }

    // --- Between extremes

    reach(usable, worst) {
      const { plan, state } = this, single = plan.aggregate === 'worst';
      const able = this.able();
      const pairs = plan.measures.map((name, i) => {
        const spread = worst ? state.bounded(name) : state.spread(name), { low, high } = sidesOf(spread);
        const known = (g) => Number.isFinite(low.values[g])
          && (worst ? isNumber(high.values[g]) && isNumber(this.values[i][g]) : true);
        const chosen = usable[i].flatMap((takes, g) => (takes && known(g) ? [g] : []));
        return chosen.length < 2 ? null : new Pairs(spread, chosen, this.critical, able ? (g) => able(i, g) : undefined);
      });
      const known = pairs.filter(Boolean), join = (values, pick) => (single ? pick(...values) : mean(values));
      const end = (name, ratio) => known.map((each) => each.largest(name, ratio).size);
      return {
        pairs,
        difference: (side) => (!known.length ? side : side === 0
          ? join(end('near', false).map((low) => Math.max(low, 0)), Math.max) : join(end('far', false), Math.max)),
        ratio: (side) => (!known.length ? side : side === 1
          ? join(end('near', true).map((high) => Math.min(high, 1)), Math.min) : join(end('far', true), Math.min)),
      };
    }

    endsBetween(everyone, far) {
      const { gap } = this, { high, low } = gap, pairs = gap.measure === null ? null : everyone.pairs[gap.measure];
      // Where the only group that others may be measured by lies below them all, the gap has an end on that side too.
      const below = Boolean(pairs) && gap.difference < 0;
      const difference = () => [
        Math.min(everyone.difference(0), gap.difference, below ? -pairs.difference('far')(low, high) : Infinity),
        Math.max(gap.difference, ...far.map((each) => each.difference(1)), below ? 0 : -Infinity),
      ];
      const ratio = () => [
        Math.min(gap.ratio, ...far.map((each) => each.ratio(0)), below ? 1 : Infinity),
        Math.max(everyone.ratio(1), gap.ratio, below ? 1 / pairs.ratio('far')(high, low) : -Infinity),
      ];
      return { difference, ratio };
    }

    boundsBetween(worst) {
      const { gap, kind, rule: { verdict } } = this;
      if (!isNumber(gap[kind])) return this.withoutInterval();
      const large = this.large(), enough = large.every((row) => row.filter(Boolean).length > 1);
      const everyone = this.reach(this.values.map(() => this.named), worst);
      const same = large.every((row) => row.every((takes, g) => takes === this.named[g]));
      const passing = !enough ? null : same ? everyone : this.reach(large, worst);
      let far = [passing ?? everyone], ends = this.endsBetween(everyone, far);
      let value = estimate(gap[kind], ends[kind]());
      if (passing && verdict(value) !== 'pass') {
        far = [everyone, passing];
        ends = this.endsBetween(everyone, far);
        value = estimate(gap[kind], ends[kind]());
      }
      if (!passing && verdict(value) === 'pass') {
        // No two groups are large enough, so nothing bounds the gap on its far side.
        value = { ...value, [this.byRatio ? 'low' : 'high']: this.farthest() };
      }
      const shown = (name) => (name === kind ? value : estimate(gap[name], ends[name]()));
      const gaps = { get difference() { return shown('difference'); }, get ratio() { return shown('ratio'); } };
      const pick = this.plan.threshold === null || gap.measure === null ? null
        : this.strongest(everyone, far, verdict(value) === 'fail');
      const pair = pick && this.evidenceBetween(everyone, pick, value);
      const agrees = pair && pair[kind].value !== null && verdict(pair[kind]) === verdict(value);
      if (agrees) return { value, evidence: pair, gaps };
      // Else the extremes themselves decide, such as a group without an interval that lies beyond the threshold. A pass
      // rests on those that are large enough.
      const fit = verdict(value) === 'pass'
        ? gapBetween(this.values.map((row, i) => filled(row.length, (g) => (large[i][g] ? row[g] : NaN))), this.plan, this.able(), this.sizes()) : gap;
      const named = fit.high === null ? gap : fit, again = (name, told) => ({ ...told, value: estimate(named[name], null).value });
      const evidence = { measure: gap.measure, group: named.high, other: named.low,
        difference: again('difference', gaps.difference), ratio: again('ratio', gaps.ratio) };
      return { value, evidence, gaps };
    }

    // A pair of groups with the ends of its difference and of its ratio.
    evidenceBetween(everyone, { reach, measure, pair: [high, low] }, value) {
      const near = everyone.pairs[measure], far = reach.pairs[measure], row = this.values[measure];
      const difference = row[high] - row[low], ratio = row[low] / row[high], free = this.farthest();
      // Only a pair whose estimate has the other sign has an end on the other side of no gap.
      const first = difference < 0 ? -far.difference('far')(low, high) : Math.max(near.difference('near')(high, low), 0);
      const last = difference < 0 ? 1 / far.ratio('far')(high, low) : Math.min(near.ratio('near')(low, high), 1);
      const reached = [Math.min(first, difference), Math.max(far.difference('far')(high, low), difference)];
      const folds = [Math.min(far.ratio('far')(low, high), ratio), Math.max(last, ratio)];
      // Where nothing bounds the judged value on its far side, nothing bounds the pair's either.
      // Of a fail that does not matter: the pair has its own far end.
      const open = this.rule.verdict(value) !== 'fail';
      if (open && this.byRatio && value.low === 0) folds[0] = 0;
      if (open && !this.byRatio && value.high === free) reached[1] = free;
      return { measure, group: high, other: low, difference: estimate(difference, reached), ratio: estimate(ratio, folds) };
    }

    // On a fail the pair whose gap is surest, of those that alone fail; otherwise the pair with the farthest far end.
    strongest(everyone, far, failed) {
      const { byRatio, rule } = this;
      const outside = (near) => (byRatio ? rule.outside([0, near]) : near > 0 && rule.outside([near, near]));
      let best = null;
      for (const reach of failed ? [everyone] : far) {
        reach.pairs.forEach((pairs, measure) => {
          if (!pairs) return;
          const { size, pair } = failed ? pairs.surest(this.values[measure], outside, byRatio) : pairs.largest('far', byRatio);
          const extent = byRatio && !failed ? -size : size;
          if (pair && (!best || almost(extent) > best.extent)) {
            best = { extent, reach, measure, pair: byRatio ? [...pair].reverse() : pair };
          }
        });
      }
      return best;
    }

    // --- Against a baseline

    // Near and far ends against the baseline, [measure][near, far][group]; NaN where nothing is compared.
    endsAgainst(ratio, worst) {
      const { plan: { against, measures }, state, place } = this;
      const again = (spread, ...where) => (spread.low
        ? { low: repeated(spread.low, ...where), high: repeated(spread.high, ...where) } : repeated(spread, ...where));
      return measures.map((name, i) => {
        const row = state.measures.get(name), added = against === 'overall' && (row.of.length > 0 || row.share);
        const others = state.known(name);
        const both = (of) => [of(state), against === 'reference' ? again(of(state), place)
          : added ? again(of(others.everyone()), 0, state.size) : of(others.rest())];
        // Nobody is compared without a value of the people who are known.
        const known = both((from) => from.spread(name)), [spread, base] = worst ? both((from) => from.bounded(name)) : known;
        const shares = against === 'overall' && !added ? others.shares(row, worst) : null;
        const sides = [...known, spread, base].map(sidesOf).flatMap(({ low, high }) => [low, high]);
        const usable = this.named.map((takes, g) => takes && g !== place && (!worst || isNumber(this.values[i][g]))
          && sides.every((side) => Number.isFinite(side.values[g])));
        const count = usable.filter(Boolean).length;
        return [['near', NEAR], ['far', FAR]].map(([side, offset]) =>
          againstEnds(spread, base, this.critical(side, count), offset, ratio, shares, added)
            .map((ends, g) => (usable[g] ? ends : [NaN, NaN])));
      });
    }

    // The ends that decide, [measure][group]; of one measure where they are averaged.
    decided(ratio, worst) {
      const { plan: { aggregate } } = this, found = this.endsAgainst(ratio, worst), values = this.apart[ratio ? 1 : 0];
      const size = aggregate !== 'mean_abs' ? (ends) => ends : ratio ? foldOf : sizeOf;
      const joined = (side) => (aggregate === 'worst' ? found.map((row) => row[side])
        : [found[0][side].map((_, g) => [0, 1].map((end) => mean(found.map((row) => size(row[side][g])[end]))))]);
      const [near, far] = [joined(0), joined(1)], middle = ratio ? 1 : 0;
      return values.map((row, i) => row.map((value, g) => decidingEnds(near[i][g], far[i][g], value, middle)));
    }

    boundsAgainst(worst) {
      const { gap, plan, place, kind, rule: { verdict } } = this, single = plan.aggregate === 'worst';
      if (!isNumber(gap[kind])) return this.withoutInterval();
      const ends = { difference: this.decided(false, worst), ratio: this.decided(true, worst) };
      const values = { difference: this.apart[0], ratio: this.apart[1] };
      const joined = (rows) => (single ? rows : [rows[0].map((_, g) => rows.every((row) => row[g]))])
        .map((row) => row.map((takes, g) => takes && g !== place));
      const compared_ = joined(this.values.map(() => this.named)), large = joined(this.large());
      const [at, supported] = this.decidingGroup(values[kind], ends[kind], compared_, large);
      if (!at) return this.withoutInterval();
      const shown = (name, [i, g]) => estimate(values[name][i][g], ends[name][i][g]);
      const told = { difference: shown('difference', at), ratio: shown('ratio', at) };
      if (!supported && verdict(told[kind]) === 'pass') {
        const side = this.byRatio || told[kind].value < 0 ? 'low' : 'high', free = this.farthest();
        told[kind] = { ...told[kind], [side]: side === 'low' && !this.byRatio ? -free : free };
      }
      return {
        value: told[kind],
        evidence: { measure: single ? at[0] : null, group: at[1], other: null, ...told },
        gaps: { difference: shown('difference', gap.at.difference), ratio: shown('ratio', gap.at.ratio) },
      };
    }

    // [measure, group] on which the verdict rests, and whether a pass is supported by groups that are large enough: on a
    // fail the group whose gap is surest, otherwise the one with the farthest far end.
    decidingGroup(values, ends, compared_, large) {
      const { gap, byRatio, plan, rule: { outside, inside, passes } } = this;
      if (plan.threshold === null) return [gap.at[this.kind], false];
      const every = values.flatMap((row, i) => Array.from(row, (_, g) => [i, g]));
      const taking = every.filter(([i, g]) => compared_[i][g] && isNumber(values[i][g]));
      const of = ([i, g]) => ends[i][g], scale = byRatio ? Math.log : (end) => end;
      const farthest = (list, size, then) => {
        if (!list.length) return null;
        const sizes = list.map((at) => size(of(at).map(scale), at)), enough = almost(sizes[worst(sizes)]);
        const equal = list.filter((_, k) => sizes[k] >= enough);
        return then && equal.length > 1 ? farthest(equal, then) : equal[0];
      };
      const failing = taking.filter((at) => outside(of(at)));
      // The end towards no gap is the near one.
      const sure = (ends_, at) => sureness(values[at[0]][at[1]], of(at)[Math.abs(ends_[0]) < Math.abs(ends_[1]) ? 0 : 1], byRatio);
      if (failing.length) return [farthest(failing, sure), false];
      const mine = every.filter(([i, g]) => large[i][g]);
      const supported = mine.length > 0 && mine.every((at) => inside(of(at)))
        && taking.every(([i, g]) => passes(values[i][g]));
      const extent = byRatio && plan.one_sided ? ([low]) => -low : ([low, high]) => Math.max(high, -low);
      // Of groups that may lie equally far from no gap, the one that surely lies farthest.
      const surely = ([low, high]) => (isNumber(low) && isNumber(high) ? Math.max(low, -high) : -Number.MAX_VALUE);
      return [farthest(supported ? mine : taking, extent, surely), supported];
    }

    // --- What is told

    // The two groups on which the verdict rests, with the people that each is measured on.
    evidenceRow(evidence) {
      if (!evidence) return null;
      const { plan, state, names, place } = this;
      const measures = evidence.measure === null ? plan.measures : [plan.measures[evidence.measure]];
      const least = (from, g) => Math.min(...measures.map((name) => from(name).support(name)[g]));
      const own = () => state;
      const { group, other } = evidence, n = least(own, group);
      const against = {
        rest: () => least((name) => state.known(name).rest(), group),
        overall: () => least((name) => state.known(name).everyone(), 0),
        reference: () => least(own, place),
      };
      return {
        measure: evidence.measure === null ? null : plan.measures[evidence.measure],
        group: names[group],
        against: other === null ? plan.against_name : names[other],
        n,
        n_against: other === null ? against[plan.against]() : least(own, other),
      };
    }

    // Why values are undefined, each reason once.
    reasons() {
      const { plan, state, names } = this;
      const of = (name) => names.map((group, g) => (isNumber(state.values(name)[g]) ? null : state.reason(name, g, group)));
      return [...new Set(plan.measures.flatMap(of))].filter((reason) => reason !== null);
    }

    // Then rates of selection and of errors are the same for any groups, and nothing is judged by them.
    selectedAlike() {
      const { state: { cells }, named } = this;
      const sum = (places) => total(named.map((takes, g) => (takes ? total(places.map((c) => cells[g * 8 + c])) : 0)));
      const refused = sum([0, 2, 4]), selected = sum([1, 3, 5]);
      return (refused > 0) === (selected > 0) ? null : selected > 0 ? "everybody" : "nobody";
    }

    told() {
      const { plan, gap, names, rule: { passes, verdict } } = this, { value, evidence, gaps } = this.bounds();
      const enough = this.enough(), small = (g) => this.named[g] && !enough.every((row) => row[g]);
      const told = {
        index: plan.finding,
        metric: plan.metric,
        ...value,
        judged_on: plan.judged_on,
        threshold: plan.threshold,
        passes: value.value === null ? null : passes(value.value),
        verdict: verdict(value),
        highest: gap.high === null ? null : names[gap.high],
        lowest: gap.low === null ? plan.against_name : names[gap.low],
        shown: this.shown,
        lacks_labels: Boolean(this.bounds().lacksLabels),
        evidence: this.evidenceRow(evidence),
        left_out: plan.threshold === null ? [] : names.filter((_, g) => small(g)),
        reasons: this.reasons(),
        settled: this.settled,
      };
      // Among many groups the ends of the one that is not judged take long, so they wait until asked for.
      for (const kind of ['difference', 'ratio']) Object.defineProperty(told, kind, { get: () => gaps[kind] });
      return told;
    }
  }

  return { Judged };
})();

if (typeof module !== 'undefined') module.exports = { evenhandVerdicts };
