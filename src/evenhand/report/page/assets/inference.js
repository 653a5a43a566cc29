'use strict';

// Measures of groups, gaps, intervals and verdicts from counts, as Python computes them; see inference/ and
// verdicts/. Arrays in, numbers out: it knows neither cube nor document. Undefined is NaN inside, null in results.
const evenhandInference = (() => {
  // --- Special functions ---------------------------------------------------------------------------------------------

  // log Γ(x) for x > 0: Stirling's series is exact to the last digits from 10 on; the recurrence leads up to it.
  function logGamma(x) {
    let factor = 1;
    for (; x < 10; x += 1) factor *= x;
    const y = 1 / (x * x);
    const series = (1 / 12 - y * (1 / 360 - y * (1 / 1260 - y * (1 / 1680 - y * (1 / 1188 - y * 691 / 360360))))) / x;
    return (x - 0.5) * Math.log(x) - x + 0.9189385332046728 + series - Math.log(factor);
  }

  // The continued fraction of the incomplete beta function, by Lentz's method, for x below the mean.
  function betaFraction(a, b, x) {
    const safe = (value) => (Math.abs(value) < 1e-300 ? 1e-300 : value);
    let c = 1, d = 1 / safe(1 - (a + b) * x / (a + 1)), h = d;
    for (let m = 1; m < 100000; m++) {
      const two = a + 2 * m;
      let step = m * (b - m) * x / ((two - 1) * two);
      d = 1 / safe(1 + step * d);
      c = safe(1 + step / c);
      h *= d * c;
      step = -(a + m) * (a + b + m) * x / (two * (two + 1));
      d = 1 / safe(1 + step * d);
      c = safe(1 + step / c);
      h *= d * c;
      if (Math.abs(d * c - 1) < 1e-14) break;
    }
    return h;
  }

  // The x with I_x(a, b) = tail, for a tail of at most a half whose normal deviate is −z.
  function betaInverse({ z, tail }, a, b) {
    const logBeta = logGamma(a) + logGamma(b) - logGamma(a + b);
    let low = 0, high = 1, x = Math.exp((Math.log(tail * a) + logBeta) / a);
    if (a > 0.75 && b > 0.75) {
      // Abramowitz and Stegun 26.5.22
      const r = 1 / (2 * a - 1), s = 1 / (2 * b - 1), h = 2 / (r + s), l = (z * z - 3) / 6;
      x = a / (a + b * Math.exp(2 * (z * Math.sqrt(Math.max(h + l, 0)) / h - (s - r) * (l + 5 / 6 - 2 / (3 * h)))));
    }
    if (x < 1e-290) return 2.2250738585072014e-308;
    if (!(x < 1)) x = 0.5;
    for (let i = 0; i < 200; i++) {
      const front = Math.exp(a * Math.log(x) + b * Math.log1p(-x) - logBeta), density = front / (x * (1 - x));
      const below = x < (a + 1) / (a + b + 2)
        ? front * betaFraction(a, b, x) / a
        : 1 - front * betaFraction(b, a, 1 - x) / b;
      if (below > tail) high = x; else low = x;
      const step = (below - tail) / density;
      if ((below > 0 && below < 0.01 * tail) || below > 3 * tail) {
        // Far off, log I is nearly straight in log x.
        x *= Math.exp(Math.log(tail / below) * below / (x * density));
      } else {
        x -= step / (1 - 0.5 * Math.min(1, step * ((a - 1) / x - (b - 1) / (1 - x))));
      }
      if (!(x >= low && x <= high)) x = low > 0 ? (low + high) / 2 : high / 16;
      // A step of Halley's cubes the error: what was this near before it is exact after it.
      if (Math.abs(below - tail) < 2e-3 * tail || x < 1e-290) break;
    }
    return x;
  }

  // P(Z > z) for z ≥ 0, to full relative accuracy: a series, or from 1.7 on a continued fraction.
  function normalTail(z) {
    const density = Math.exp(-z * z / 2) / Math.sqrt(2 * Math.PI);
    let sum = 0;
    if (z < 1.7) {
      for (let i = 60; i > 0; i--) sum = z * z / (2 * i + 1) * (1 + sum);
      return 0.5 - z * density * (1 + sum);
    }
    for (let i = 120; i > 0; i--) sum = i / (z + sum);
    return density / (z + sum);
  }

  // --- Small helpers -------------------------------------------------------------------------------------------------

  const isNumber = (value) => !Number.isNaN(value);
  const orNull = (value) => (isNumber(value) ? value : null);
  const total = (values) => values.reduce((sum, value) => sum + value, 0);
  const mean = (values) => total(values) / values.length;
  const hypot = (a, b) => Math.sqrt(a * a + b * b);
  const folded = (ratio) => Math.min(ratio, 1 / ratio);
  const text = (value) => JSON.stringify(value);
  const spell = (group) => group.map((value) => (value === null ? '(missing)' : value)).join(', ');

  function filled(size, compute) {
    const values = new Float64Array(size);
    for (let i = 0; i < size; i++) values[i] = compute(i);
    return values;
  }

  function memo(make) {
    const known = new Map();
    return (...keys) => {
      const key = keys.length === 1 && typeof keys[0] === 'string' ? keys[0] : text(keys);
      if (!known.has(key)) known.set(key, make(...keys));
      return known.get(key);
    };
  }

  // An object whose fields are computed when they are first looked at: nobody pays for what is not shown.
  function lazily(names, compute) {
    const found = memo(compute);
    return Object.defineProperties({}, Object.fromEntries(names.map((name) =>
      [name, { enumerable: true, get: () => found(name) }])));
  }

  function estimate(value, ends) {
    const known = ends !== null && [value, ...ends].every(isNumber);
    return { value: orNull(value), low: known ? ends[0] : null, high: known ? ends[1] : null };
  }

  // --- Spreads: values of all groups, and limits of them at a normal deviate -----------------------------------------

  // Offsets of the beta limits: 0 is Clopper-Pearson, ½ would be Jeffreys.
  const NEAR = 0, FAR = 0.25;
  const HALF = { z: 0, tail: 0.5 };
  const HUGE = 1e7;

  // k of n in each group. `twin` counts the same people the other way round, so that its limits serve for both.
  class Proportion {
    constructor(k, n, twin) {
      Object.assign(this, { k, n, theta: filled(k.length, (g) => (n[g] > 0 ? k[g] / n[g] : NaN)) });
      const turned = (values) => values.map((value) => 1 - value);
      this.limits = memo((at, offset) => (twin
        ? twin.limits(at, offset).map(turned).reverse()
        : this.ends(at, offset)));
      this.centre = memo(() => (twin ? turned(twin.centre()) : filled(k.length, (g) =>
        betaInverse(HALF, k[g] + 0.5, Math.max(n[g], 0) - k[g] + 0.5))));
    }

    ends(at, offset) {
      const { k, n, theta } = this, { z } = at, low = new Float64Array(k.length), high = new Float64Array(k.length);
      for (let g = 0; g < k.length; g++) {
        const rest = n[g] - k[g];
        if (k[g] > HUGE && rest > HUGE) {
          // The beta quantile would take long, and a score interval is the same.
          const middle = theta[g] + z * z / (2 * n[g]), over = 1 + z * z / n[g];
          const reach = z * hypot(Math.sqrt(theta[g] * (1 - theta[g]) / n[g]), z / (2 * n[g]));
          [low[g], high[g]] = [(middle - reach) / over, (middle + reach) / over];
        } else {
          low[g] = k[g] > 0 ? betaInverse(at, k[g] + offset, rest + 1 - offset) : 0;
          high[g] = rest > 0 ? 1 - betaInverse(at, rest + offset, k[g] + 1 - offset) : 1;
        }
        // At an end with an offset the estimate itself may lie outside by a hair.
        if (low[g] > theta[g]) low[g] = theta[g];
        if (high[g] < theta[g]) high[g] = theta[g];
      }
      return [low, high];
    }
  }

  // Weights as people: as many as would make the proportion vary as much as it does.
  function effective(top, rest, topSquares, restSquares) {
    const all = top + rest;
    if (!(all > 0)) return [0, 0];
    const p = top / all, kish = all * all / (topSquares + restSquares);
    const variance = ((1 - p) ** 2 * topSquares + p * p * restSquares) / (all * all);
    const n = variance > 0 ? Math.min(kish, p * (1 - p) / variance) : kish;
    return [p * n, n];
  }

  // A measure that is a rising function of a proportion.
  function rising(share, { alpha, beta, gamma }) {
    const plain = alpha === beta && beta === gamma;
    const measure = (theta) => (plain ? theta : theta.map((at) => alpha * at / (gamma * at + beta * (1 - at))));
    return {
      values: measure(share.theta),
      centre: () => measure(share.centre()),
      limits: (at, offset) => share.limits(at, offset).map(measure),
    };
  }

  // The mean of measures with separate denominators: their limits combine as the sides of a triangle.
  function average(parts) {
    const middle = (rows) => rows[0].map((_, g) => mean(rows.map((row) => row[g])));
    const values = middle(parts.map((part) => part.values));
    return {
      values,
      centre: () => middle(parts.map((part) => part.centre())),
      limits: (at, offset) => {
        const ends = parts.map((part) => part.limits(at, offset));
        return [-1, 1].map((sign, side) => values.map((value, g) => value + sign / parts.length
          * Math.sqrt(total(parts.map((part, i) => (part.values[g] - ends[i][side][g]) ** 2)))));
      },
    };
  }

  // One group in the place of every group, or of so many.
  function repeated(spread, place, size = spread.values.length) {
    const again = (values) => filled(size, () => (place < 0 ? NaN : values[place]));
    return {
      values: again(spread.values),
      centre: () => again(spread.centre()),
      limits: (at, offset) => spread.limits(at, offset).map(again),
    };
  }

  // --- All groups at one cutoff --------------------------------------------------------------------------------------

  // Coefficients without those that are 0.
  const sparse = (row) => ({
    cells: row.flatMap((factor, c) => (factor ? [c] : [])),
    factors: row.filter((factor) => factor),
  });
  function weigh(cells, g, row) {
    let sum = 0;
    for (let i = 0; i < row.cells.length; i++) sum += row.factors[i] * cells[g * 8 + row.cells[i]];
    return sum;
  }

  function prepared(row) {
    const under = row.total ? row.top : row.bottom, decided = [1, 1, 1, 1, 1, 1, 0, 0];
    const used = row.share ? decided : under.map((factor) => +(factor > 0));
    const form = row.form && { ...row.form, top: sparse(row.form.top), rest: sparse(row.form.rest) };
    return { ...row, form, top: sparse(row.top), bottom: sparse(row.bottom), used: sparse(used) };
  }

  // Cells are TN FP FN TP U0 U1 D0 D1 of each group. Everything else is computed when it is asked for.
  class State {
    constructor(measures, cells, counts, squares, whole = null) {
      Object.assign(this, { measures, cells, counts, squares, size: cells.length / 8 });
      this.values = memo((name) => this.evaluate(measures.get(name)));
      this.spread = memo((name) => this.spreadOf(measures.get(name)));
      this.support = memo((name) => this.summed(this.counts, measures.get(name)));
      this.proportions = new Map();
      const sums = (from) => filled(8, (c) => total(filled(this.size, (g) => from[g * 8 + c])));
      const others = (from) => {
        const all = sums(from);
        return from.map((value, i) => all[i % 8] - value);
      };
      this.whole = whole || sums(cells); // the cells of everyone, for shares
      this.everyone = memo(() => new State(measures, sums(cells), sums(counts), squares && sums(squares)));
      this.rest = memo(() => new State(measures, others(cells), counts, squares && others(squares), this.whole));
    }

    weighed(row, cells = this.cells) {
      return filled(this.size, (g) => weigh(cells, g, row));
    }

    evaluate(row) {
      if (row.of.length) {
        const parts = row.of.map((name) => this.values(name));
        return filled(this.size, (g) => mean(parts.map((part) => part[g])));
      }
      const top = this.weighed(row.top);
      if (row.total) return top;
      const bottom = this.weighed(row.bottom), all = row.share ? weigh(this.whole, 0, row.bottom) : 0;
      return filled(this.size, (g) => {
        const under = row.share ? all : bottom[g];
        return under === 0 ? NaN : top[g] / under;
      });
    }

    // How many people (or how much weight) each value rests on: the smallest of them for a mean.
    summed(cells, row) {
      if (!row.of.length) return this.weighed(row.used, cells);
      const parts = row.of.map((name) => this.summed(cells, this.measures.get(name)));
      return filled(this.size, (g) => Math.min(...parts.map((part) => part[g])));
    }

    spreadOf(row) {
      if (row.of.length) return average(row.of.map((name) => this.spread(name)));
      return row.form && rising(row.share ? this.shared(row.form) : this.proportion(row.form), row.form);
    }

    shared(form) {
      const chosen = this.weighed(form.top), all = weigh(this.whole, 0, form.top);
      return new Proportion(chosen, chosen.map(() => all));
    }

    proportion({ top, rest }) {
      const key = `${top.cells}/${rest.cells}`, { proportions, squares } = this;
      if (!proportions.has(key)) {
        const k = this.weighed(top), n = this.weighed(rest), twin = proportions.get(`${rest.cells}/${top.cells}`);
        for (let g = 0; g < this.size; g++) {
          [k[g], n[g]] = squares
            ? effective(k[g], n[g], weigh(squares, g, top), weigh(squares, g, rest))
            : [k[g], k[g] + n[g]];
        }
        proportions.set(key, new Proportion(k, n, twin));
      }
      return proportions.get(key);
    }
  }

  // --- Gaps: values are [measure][group], NaN where a group takes no part --------------------------------------------

  // The first of the largest; NaN is least of all, and an infinity below counts as the largest negative number.
  function worst(values) {
    let best = 0, most = -Infinity;
    values.forEach((value, i) => {
      const size = isNumber(value) ? Math.max(value, -Number.MAX_VALUE) : -Infinity;
      if (size > most) [best, most] = [i, size];
    });
    return best;
  }

  const NO_GAP = { difference: NaN, ratio: NaN, high: null, low: null, measure: null };

  // Highest less lowest, and lowest over highest.
  function gapBetween(values, { aggregate, judged_on: judgedOn }) {
    const found = values.map((row) => {
      let high = 0, low = row.length - 1, top = -Infinity, bottom = Infinity, count = 0;
      for (let g = 0; g < row.length; g++) {
        const value = row[g];
        if (isNumber(value)) count += 1;
        if (value > top) [high, top] = [g, value];
        // The last of equals, so that even groups without any gap are two.
        if (value <= bottom) [low, bottom] = [g, value];
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

  // Each group less its baseline, and over it. The farthest speaks; that may be another one for the ratio.
  function gapAgainst(values, base, plan) {
    const compared = (change) => values.map((row, i) => Array.from(row, (value, g) => change(value, base[i][g])));
    const across = (rows, change) => [rows[0].map((_, g) => mean(rows.map((row) => change(row[g]))))];
    let differences = compared((a, b) => a - b), ratios = compared((a, b) => a / b);
    if (plan.aggregate === 'mean') [differences, ratios] = [differences, ratios].map((rows) => across(rows, (x) => x));
    if (plan.aggregate === 'mean_abs') [differences, ratios] = [across(differences, Math.abs), across(ratios, folded)];
    const sizes = differences.flat().map(Math.abs);
    const distances = ratios.flat().map(plan.one_sided || plan.aggregate === 'mean_abs' ? (ratio) => ratio : folded);
    if (!sizes.some(isNumber)) return NO_GAP;
    const locate = (place) => [Math.floor(place / values[0].length), place % values[0].length];
    const far = locate(worst(sizes)), apart = locate(worst(distances.map((distance) => -distance)));
    const named = plan.judged_on === 'ratio' && distances.some(isNumber) ? apart : far;
    return {
      difference: differences[far[0]][far[1]],
      ratio: ratios[apart[0]][apart[1]],
      high: named[1],
      low: null,
      measure: plan.aggregate === 'worst' ? named[0] : null,
      differenceAt: far[1],
      ratioAt: apart[1],
      differenceIn: far[0],
      ratioIn: apart[0],
    };
  }

  // --- Intervals -----------------------------------------------------------------------------------------------------

  // Where values stand, and how far limits lie below and above; for a ratio on logarithms, around a centre above 0.
  function reaches(spread, at, offset, ratio) {
    const [low, high] = spread.limits(at, offset);
    if (!ratio) {
      const { values } = spread;
      return { at: values, down: values.map((v, g) => v - low[g]), up: values.map((v, g) => high[g] - v) };
    }
    const centre = spread.centre(), logs = centre.map(Math.log);
    return {
      at: logs,
      down: logs.map((v, g) => v - Math.log(Math.min(low[g], centre[g]))),
      up: logs.map((v, g) => Math.log(Math.max(high[g], centre[g])) - v),
    };
  }

  // The largest at[i] − at[j] ± hypot(mine[i], theirs[j]) over all pairs of the chosen. A hypotenuse lies between the
  // sum of its sides and that over √2, so that most rows need no look.
  function farthest(at, mine, theirs, sign, chosen) {
    const scale = sign > 0 ? 1 : -Math.SQRT1_2;
    let best = -Infinity, least = Infinity, first = chosen[0];
    for (const g of chosen) {
      least = Math.min(least, at[g] - scale * theirs[g]);
      if (at[g] + scale * mine[g] > at[first] + scale * mine[first]) first = g;
    }
    const look = (i) => {
      if (at[i] + scale * mine[i] - least <= best) return;
      for (const j of chosen) {
        const value = at[i] - at[j] + sign * hypot(mine[i], theirs[j]);
        if (value > best && i !== j) best = value;
      }
    };
    look(first);
    chosen.forEach(look);
    return best;
  }

  // The ends of the largest gap between any two groups in one measure; null where fewer than two have a value. The near
  // end holds for all pairs at once, the far end belongs to one fixed pair.
  function pairEnds(spread, usable, ratio, critical) {
    const { values } = spread, chosen = usable.flatMap((takes, g) => (takes && Number.isFinite(values[g]) ? [g] : []));
    if (chosen.length < 2) return null;
    const seen = chosen.map((g) => values[g]);
    if (ratio && seen.every((value) => value === 0)) return [0, 1];
    const near = reaches(spread, critical('near', chosen.length), NEAR, ratio);
    const far = reaches(spread, critical('far', chosen.length), FAR, ratio);
    const low = farthest(near.at, near.down, near.up, -1, chosen), high = farthest(far.at, far.up, far.down, 1, chosen);
    if (!ratio) return [Math.max(0, low), high];
    const quotient = Math.min(...seen) / Math.max(...seen);
    return [Math.min(Math.exp(-high), quotient), Math.max(Math.min(1, Math.exp(-low)), quotient)];
  }

  function betweenEnds(spreads, usable, aggregate, ratio, critical) {
    const found = spreads.map((spread, i) => pairEnds(spread, usable[i], ratio, critical)).filter(Boolean);
    const join = aggregate !== 'worst' ? mean : (ends) => (ratio ? Math.min : Math.max)(...ends);
    return found.length ? [0, 1].map((side) => join(found.map((ends) => ends[side]))) : [0, 1];
  }

  // The ends of each group against its baseline. With shares the baseline is everyone, which overlaps with the group:
  // the comparison with the rest is transformed, exactly. Of an average `base` is everyone, and the margins are added.
  function againstEnds(spread, base, at, offset, ratio, shares, added) {
    const reach = added ? (a, b) => a + b : hypot;
    const mine = reaches(spread, at, offset, ratio), theirs = reaches(base, at, offset, ratio);
    return Array.from(mine.at, (place, g) => {
      const middle = place - theirs.at[g], share = shares ? shares[g] : 0;
      const ends = [middle - reach(mine.down[g], theirs.up[g]), middle + reach(mine.up[g], theirs.down[g])];
      if (!ratio) return ends.map((end) => (1 - share) * end);
      const seen = spread.values[g] / base.values[g], [low, high] = ends.map(Math.exp);
      const wide = isNumber(seen) ? [Math.min(low, seen), Math.max(high, seen)] : [low, high];
      return shares ? wide.map((end) => 1 / (share + (1 - share) / end)) : wide;
    });
  }

  const sizeOf = ([low, high]) => [Math.max(0, low, -high), Math.max(Math.abs(low), Math.abs(high))];
  const foldOf = ([low, high]) => [
    Math.min(folded(low), folded(high)),
    low <= 1 && high >= 1 ? 1 : Math.max(folded(low), folded(high)),
  ];

  // --- Judging -------------------------------------------------------------------------------------------------------

  const TOLERANCE = 1e-9;

  // One metric on the groups of a state: gap, interval and verdict. `named` says who takes part, `place` is that of the
  // reference, −1 without one; critical(side, count) is the deviate of near or far ends for so many groups.
  class Judged {
    constructor(plan, state, names, { named, place }, critical) {
      Object.assign(this, { plan, state, names, named, place, critical, byRatio: plan.judged_on === 'ratio' });
      this.values = plan.measures.map((name) => {
        const values = state.values(name);
        return filled(values.length, (g) => (named[g] ? values[g] : NaN));
      });
      this.base = plan.kind === 'pairs' ? null : plan.measures.map((name) => this.baseline(name));
      this.gap = this.base ? gapAgainst(this.values, this.base, plan) : gapBetween(this.values, plan);
      this.twoSided = this.base !== null && !plan.one_sided;
      this.ends = memo((ratio) => this.againstAll(ratio));
    }

    baseline(name) {
      const { state, place, plan: { against } } = this;
      if (against === 'rest') return state.rest().values(name);
      const own = state.values(name);
      const value = against === 'overall' ? state.everyone().values(name)[0] : own[place] ?? NaN;
      return own.map((_, g) => (g === place ? NaN : value));
    }

    // Near and far ends against the baseline, [measure][near, far][group]; NaN where nothing is compared.
    againstAll(ratio) {
      const { plan: { against, measures }, state, place } = this;
      return measures.map((name) => {
        const spread = state.spread(name), row = state.measures.get(name);
        const added = against === 'overall' && (row.of.length > 0 || row.share);
        const base = against === 'reference' ? repeated(spread, place)
          : added ? repeated(state.everyone().spread(name), 0, state.size) : state.rest().spread(name);
        const mass = against === 'overall' && !added ? state.weighed(row.bottom) : null;
        const all = mass && Math.max(total(mass), 1e-300), shares = mass && mass.map((part) => part / all);
        const usable = this.named.map((takes, g) => takes && g !== place && Number.isFinite(spread.values[g])
          && Number.isFinite(base.values[g]));
        const count = usable.filter(Boolean).length;
        return [['near', NEAR], ['far', FAR]].map(([side, offset]) =>
          againstEnds(spread, base, this.critical(side, count), offset, ratio, shares, added)
            .map((ends, g) => (usable[g] ? ends : [NaN, NaN])));
      });
    }

    between(usable, ratio) {
      const spreads = this.plan.measures.map((name) => this.state.spread(name));
      return betweenEnds(spreads, usable, this.plan.aggregate, ratio, this.critical);
    }

    interval(kind) {
      const { gap, plan: { aggregate } } = this, ratio = kind === 'ratio';
      if (!isNumber(gap.difference)) return null;
      if (!this.base) return this.between(this.values.map(() => this.named), ratio);
      const rows = this.ends(ratio).map(([near]) => near[gap[`${kind}At`]]);
      if (aggregate === 'worst') return rows[gap[`${kind}In`]];
      const ends = [0, 1].map((side) => mean(rows.map((row) => row[side])));
      return aggregate === 'mean' ? ends : ratio ? foldOf(ends) : sizeOf(ends);
    }

    limit() {
      return (this.plan.threshold ?? 0) + (this.byRatio ? -TOLERANCE : TOLERANCE);
    }

    // Is a whole interval beyond what is tolerated, or all of it within?
    outside([low, high]) {
      const limit = this.limit();
      if (!this.byRatio) return low > limit || high < -limit;
      return high < limit || (this.twoSided && limit > 0 && low > 1 / limit);
    }

    inside([low, high]) {
      const limit = this.limit();
      if (!this.byRatio) return low >= -limit && high <= limit;
      return low >= limit && (!(this.twoSided && limit > 0) || high <= 1 / limit);
    }

    passes(value) {
      if (this.plan.threshold === null || !isNumber(value)) return null;
      if (!this.byRatio) return Math.abs(value) <= this.limit();
      return (this.twoSided ? folded(value) : value) >= this.limit();
    }

    // Who is large enough for a pass, [measure][group]: nobody, where the reference is not.
    large() {
      const { plan, state, place, named } = this;
      const enough = plan.measures.map((name) => Array.from(state.support(name), (n) => n >= plan.min_group_size));
      const lost = place >= 0 && !enough.every((row) => row[place]);
      return enough.map((row) => row.map((large, g) => large && named[g] && !lost));
    }

    // A fail may rest on any group, a pass only on those that are large enough.
    verdict(passes, interval) {
      if (passes === null) return 'not judged';
      if (interval === null) return 'inconclusive';
      if (this.base) return this.verdictAgainst(passes);
      if (this.outside(interval)) return 'fail';
      const large = this.large();
      const enough = passes && large.every((row) => row.filter(Boolean).length > 1);
      return enough && this.inside(this.between(large, this.byRatio)) ? 'pass' : 'inconclusive';
    }

    verdictAgainst(passes) {
      const { plan: { aggregate }, place } = this, single = aggregate === 'worst', found = this.ends(this.byRatio);
      const fold = aggregate !== 'mean_abs' ? (ends) => ends : this.byRatio ? foldOf : sizeOf;
      const joined = (rows) => (single ? rows : [rows[0].map((_, g) => [0, 1].map((side) =>
        mean(rows.map((row) => fold(row[g])[side]))))]);
      const takePart = (rows) => (single ? rows : [rows[0].map((_, g) => rows.every((row) => row[g]))])
        .map((row) => row.map((takes, g) => takes && g !== place));
      const compared = takePart(found.map(() => this.named)), large = takePart(this.large());
      const near = joined(found.map((row) => row[0])), far = joined(found.map((row) => row[1]));
      if (near.some((row, i) => row.some((ends, g) => compared[i][g] && this.outside(ends)))) return 'fail';
      const sure = large.flat().some(Boolean)
        && far.every((row, i) => row.every((ends, g) => !large[i][g] || this.inside(ends)));
      return sure && passes ? 'pass' : 'inconclusive';
    }

    told() {
      const { plan, gap, names } = this, judged = this.byRatio ? 'ratio' : 'difference';
      const intervals = { difference: this.interval('difference'), ratio: this.interval('ratio') };
      const passes = this.passes(gap[judged]);
      return {
        index: plan.finding,
        metric: plan.metric,
        ...estimate(gap[judged], intervals[judged]),
        difference: estimate(gap.difference, intervals.difference),
        ratio: estimate(gap.ratio, intervals.ratio),
        judged_on: plan.judged_on,
        threshold: plan.threshold,
        passes,
        verdict: this.verdict(passes, intervals[judged]),
        highest: gap.high === null ? null : names[gap.high],
        lowest: gap.low === null ? plan.against_name : names[gap.low],
        measure: gap.measure === null ? null : plan.measures[gap.measure],
      };
    }
  }

  return {
    State, Judged, prepared, effective, estimate, normalTail, betaInverse, filled, memo, lazily, total, orNull, isNumber,
    text, spell, NEAR,
  };
})();

if (typeof module !== 'undefined') module.exports = { evenhandInference };
