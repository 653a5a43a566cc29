'use strict';

// Measures of groups and their spread from counts, as Python computes them; see measures/ and inference/. Arrays in,
// numbers out: it knows neither counts of a page nor a document. Undefined is NaN inside, null in results.
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
    // Without a prototype: a metric may be called "constructor".
    return Object.create(null, Object.fromEntries(names.map((name) =>
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
  const MISSING_AT_RANDOM = 0.02; // by so much the unlabelled shares of the selected and of the refused may differ

  // k of n in each group. `twin` counts the same people the other way round, so that its limits serve for both.
  class Proportion {
    constructor(k, n, twin) {
      Object.assign(this, { k, n, theta: filled(k.length, (g) => (n[g] > 0 ? k[g] / n[g] : NaN)) });
      const turned = (values) => values.map((value) => 1 - value);
      this.limits = memo((at, offset) => (twin
        ? twin.limits(at, offset).map(turned).reverse()
        : this.ends(at, offset)));
      this.median = memo((g) => betaInverse(HALF, k[g] + 0.5, Math.max(n[g], 0) - k[g] + 0.5));
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
    const one = (at) => (plain ? at : alpha * at / (gamma * at + beta * (1 - at)));
    const measure = (theta) => (plain ? theta : theta.map(one));
    const values = measure(share.theta);
    return {
      values,
      // The value; where its logarithm is infinite, or it has none, the measure of Jeffreys' median.
      centre: () => values.map((value, g) => (value > 0 && Number.isFinite(value) ? value : one(share.median(g)))),
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

  // Each group as it is in one of several spreads.
  function picked(spreads, chosen) {
    const pick = (parts) => filled(chosen.length, (g) => parts[chosen[g]][g]);
    return {
      values: pick(spreads.map((spread) => spread.values)),
      centre: () => pick(spreads.map((spread) => spread.centre())),
      limits: (at, offset) => {
        const ends = spreads.map((spread) => spread.limits(at, offset));
        return [0, 1].map((side) => pick(ends.map((end) => end[side])));
      },
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

  // The two sides of a decision, with the cells of those who have a label and of those who have none.
  const SIDES = { refused: { labelled: [0, 2], unlabelled: 4 }, selected: { labelled: [1, 3], unlabelled: 5 } };

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
      this.silent = memo((side) => this.silence(SIDES[side]));
      this.proportions = new Map();
      const sums = (from) => filled(8, (c) => total(filled(this.size, (g) => from[g * 8 + c])));
      // The others are added up: subtracted from everyone, a light group beside a heavy one would lose its digits.
      const others = (from) => {
        const before = new Float64Array(from.length), after = new Float64Array(from.length);
        for (let i = 8; i < from.length; i++) before[i] = before[i - 8] + from[i - 8];
        for (let i = from.length - 9; i >= 0; i--) after[i] = after[i + 8] + from[i + 8];
        return before.map((value, i) => value + after[i]);
      };
      this.whole = whole || sums(cells); // the cells of everyone, for shares
      this.everyone = memo(() => new State(measures, sums(cells), sums(counts), squares && sums(squares)));
      this.rest = memo(() =>
        new State(measures, others(cells), others(counts), squares && others(squares), this.whole));
      this.emptied = memo((lacks) => this.without(lacks));
      this.bounded = memo((name) => this.boundedOf(measures.get(name)));
      this.ways = memo(() => [this, ...[[0, 0], [0, 1], [1, 0], [1, 1]].map((labels) => this.completed(labels))]);
    }

    weighed(row, cells = this.cells) {
      return filled(this.size, (g) => weigh(cells, g, row));
    }

    // Which groups have people on a side of the decision, and no label among them; see silent_sides in Python.
    silence({ labelled, unlabelled }) {
      const { cells } = this, at = (g, c) => cells[g * 8 + c];
      return filled(this.size, (g) => +(at(g, unlabelled) > 0 && total(labelled.map((c) => at(g, c))) === 0));
    }

    // The sides on whose labels a measure rests, and of which a group has none.
    lacking(row, g) {
      return row.labels_of.filter((side) => this.silent(side)[g]);
    }

    // The state with nobody in the groups of which a measure is unknown: everyone else, and everyone, are the others, if
    // these are two or more. See measures/known.py.
    known(name) {
      const row = this.measures.get(name), lacks = filled(this.size, (g) => this.lacking(row, g).length > 0);
      const left = this.size - total(lacks);
      return left === this.size ? this : this.emptied(lacks.map((lacking) => (left < 2 ? 1 : lacking)).join(''));
    }

    without(lacks) {
      const kept = (from) => from.map((value, i) => (lacks[Math.floor(i / 8)] === '1' ? 0 : value));
      const { cells, counts, squares } = this;
      return new State(this.measures, kept(cells), kept(counts), squares && kept(squares), this.whole);
    }

    // Why a measure is undefined for a group, as undefined_reason says it in Python.
    reason(name, g, group) {
      const row = this.measures.get(name), sides = this.lacking(row, g);
      if (sides.length === 1) return `nobody who was ${sides[0]} among ${group} has a label`;
      const weightless = this.squares && this.support(name)[g] > 0;
      return `no ${row.empty} among ${group}${weightless ? " with a weight above 0" : ""}`;
    }

    evaluate(row) {
      if (row.of.length) {
        const parts = row.of.map((name) => this.values(name));
        return filled(this.size, (g) => mean(parts.map((part) => part[g])));
      }
      const top = this.weighed(row.top);
      const bottom = this.weighed(row.bottom), all = row.share ? weigh(this.whole, 0, row.bottom) : 0;
      return filled(this.size, (g) => {
        const under = row.total ? 1 : row.share ? all : bottom[g];
        return under === 0 || this.lacking(row, g).length ? NaN : top[g] / under;
      });
    }

    // How many people (or how much weight) each value rests on: the smallest of them for a mean.
    summed(cells, row) {
      if (!row.of.length) {
        const people = this.weighed(row.used, cells);
        return filled(this.size, (g) => (this.lacking(row, g).length ? 0 : people[g]));
      }
      const parts = row.of.map((name) => this.summed(cells, this.measures.get(name)));
      return filled(this.size, (g) => Math.min(...parts.map((part) => part[g])));
    }

    // The state with every label known: those of all refused are the first, those of all selected the second.
    completed([refused, selected]) {
      const moved = (from) => {
        const cells = Float64Array.from(from);
        for (let g = 0; g < this.size * 8; g += 8) {
          cells[g + 2 * refused] += cells[g + 4];
          cells[g + 1 + 2 * selected] += cells[g + 5];
          cells[g + 4] = cells[g + 5] = 0;
        }
        return cells;
      };
      return new State(this.measures, moved(this.cells), this.counts, this.squares && moved(this.squares), this.whole);
    }

    // Odds without a denominator are infinite: labels come arbitrarily near to that.
    reached(row) {
      const values = this.values(row.name);
      if (row.of.length || row.share || row.total) return values;
      const top = this.weighed(row.top), bottom = this.weighed(row.bottom);
      return values.map((value, g) => (bottom[g] === 0 && top[g] > 0 ? Infinity : value));
    }

    // What each value is divided by: the smallest of them for a mean.
    denominator(row) {
      if (!row.of.length) return this.weighed(row.bottom);
      const parts = row.of.map((name) => this.denominator(this.measures.get(name)));
      return filled(this.size, (g) => Math.min(...parts.map((part) => part[g])));
    }

    // The measure at its lower and at its upper bound over the missing labels; of several ways to reach a bound the one
    // that rests on the least. See measures/missing.py.
    boundedOf(row) {
      const ways = this.ways(), values = ways.map((way) => way.reached(row)), sizes = ways.map((way) => way.denominator(row));
      const chosen = (sign) => Array.from({ length: this.size }, (_, g) => {
        const each = values.map((value) => (isNumber(value[g]) ? sign * value[g] : -Infinity)), best = Math.max(...each);
        const among = each.map((size, way) => (size >= best - 1e-12 || size === best ? sizes[way][g] : Infinity));
        return among.indexOf(Math.min(...among));
      });
      const spreads = ways.map((way) => way.spread(row.name));
      return { low: picked(spreads, chosen(-1)), high: picked(spreads, chosen(1)) };
    }

    // Do the missing labels leave anything open?
    isOpen(name) {
      const { low, high } = this.bounded(name);
      return low.values.some((value, g) => value !== high.values[g] && (isNumber(value) || isNumber(high.values[g])));
    }

    // Are labels of a group missing more often for one decision than for the other?
    selective(g) {
      const { cells, counts } = this, at = g * 8;
      const share = (c) => cells[at + 4 + c] / (cells[at + c] + cells[at + 2 + c] + cells[at + 4 + c]);
      return counts[at + 4] + counts[at + 5] > 0 && Math.abs(share(0) - share(1)) > MISSING_AT_RANDOM + 1e-12;
    }

    // The share of each group in everyone; in the worst case the least, at which it lies farthest from everyone.
    shares(row, worst) {
      if (!worst) {
        const mass = this.weighed(row.bottom), all = Math.max(total(mass), 1e-300);
        return mass.map((part) => part / all);
      }
      const ends = (from, pick) => filled(this.size, (g) => pick(...from.ways().map((way) => way.denominator(row)[g])));
      const mine = ends(this, Math.min), theirs = ends(this.rest(), Math.max);
      return mine.map((part, g) => part / Math.max(part + theirs[g], 1e-300));
    }

    spreadOf(row) {
      if (row.of.length) return average(row.of.map((name) => this.spread(name)));
      return row.form && rising(row.share ? this.shared(row.form) : this.proportion(row), row.form);
    }

    shared(form) {
      const chosen = this.weighed(form.top), all = weigh(this.whole, 0, form.top);
      return new Proportion(chosen, chosen.map(() => all));
    }

    proportion(row) {
      const { top, rest } = row.form;
      const key = `${top.cells}/${rest.cells}`, { proportions, squares } = this;
      if (!proportions.has(key)) {
        const k = this.weighed(top), n = this.weighed(rest), twin = proportions.get(`${rest.cells}/${top.cells}`);
        for (let g = 0; g < this.size; g++) {
          if (this.lacking(row, g).length) k[g] = n[g] = 0;
          [k[g], n[g]] = squares
            ? effective(k[g], n[g], weigh(squares, g, top), weigh(squares, g, rest))
            : [k[g], k[g] + n[g]];
        }
        proportions.set(key, new Proportion(k, n, twin));
      }
      return proportions.get(key);
    }
  }

  return {
    State, prepared, effective, estimate, normalTail, betaInverse, repeated, filled, memo, lazily, total, mean, hypot,
    folded, orNull, isNumber, text, spell, NEAR, FAR,
  };
})();

if (typeof module !== 'undefined') module.exports = { evenhandInference };
