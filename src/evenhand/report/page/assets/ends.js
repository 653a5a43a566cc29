'use strict';

// The ends of gaps: of those between all pairs of groups, and of those against a baseline; see inference/ in Python.
const evenhandEnds = (() => {
  const { memo, hypot, folded, isNumber, NEAR, FAR } =
    typeof evenhandInference === 'undefined' ? require('./inference.js').evenhandInference : evenhandInference;

  const TOLERANCE = 1e-9;

  // What counts as equal to a size, but for rounding.
  const almost = (size) => (Number.isFinite(size) ? size - TOLERANCE * Math.max(1, Math.abs(size)) : size);

  // The first of the largest; NaN is least of all, and an infinity below counts as the largest negative number.
  function worst(values) {
    let best = 0, most = -Infinity;
    values.forEach((value, i) => {
      const size = isNumber(value) ? Math.max(value, -Number.MAX_VALUE) : -Infinity;
      if (size > most) [best, most] = [i, size];
    });
    return best;
  }

  // --- Ends between all pairs ----------------------------------------------------------------------------------------

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

  // How sure a gap is: it over the margin down to its near end, of a ratio on logarithms; see verdicts/bounds in Python.
  function sureness(seen, near, ratio) {
    const [gap, end] = [seen, near].map((each) => Math.abs(ratio ? Math.log(each) : each));
    return gap === Infinity ? 1 + end / 2.8 : gap / (gap - end);
  }

  // A measure at its lower and at its upper bound; twice the same where its value is known.
  const sidesOf = (spread) => (spread.low ? spread : { low: spread, high: spread });

  // Ends of one measure between any two of the chosen groups: near ones hold for all pairs at once, far ones for one
  // pair. `largest` has the largest of each kind with its pair, the first in order of rows and columns where several are
  // equal. Differences are row − column; of ratios row / column, the smallest count.
  class Pairs {
    constructor(spread, chosen, critical, able = () => true) {
      const [near, far] = [[critical('near', chosen.length), NEAR], [critical('far', chosen.length), FAR]];
      const sides = sidesOf(spread);
      Object.assign(this, { chosen, able, low: sides.low.values, high: sides.high.values, bounded: sides.low !== sides.high });
      this.reach = memo((side, name, ratio) => reaches(sides[side], ...(name === 'near' ? near : far), ratio));
      this.difference = memo((name) => this.differences(name)); // made once for all pairs
      this.ratio = memo((name) => this.ratios(name));
      this.largest = memo((name, ratio) => (ratio ? this.smallestRatio(name) : this.largestDifference(name)));
    }

    // Of bounds, what has no end may lie anywhere.
    known(end, free) {
      return this.bounded && !isNumber(end) ? free : end;
    }

    // Row − column of two groups: the lower near end, or the upper far end.
    differences(name) {
      const low = this.reach('low', name, false), high = this.reach('high', name, false);
      return name === 'near'
        ? (i, j) => this.known(low.at[i] - high.at[j] - hypot(low.down[i], high.up[j]), -Infinity)
        : (i, j) => this.known(high.at[i] - low.at[j] + hypot(high.up[i], low.down[j]), Infinity);
    }

    // Row / column: the upper near end, or the lower far end, which contain the estimate; 0 / 0 may be anything.
    ratios(name) {
      const low = this.reach('low', name, true), high = this.reach('high', name, true), near = name === 'near';
      const [rows, columns] = near ? [this.high, this.low] : [this.low, this.high];
      const end = near
        ? (i, j, seen) => Math.max(Math.exp(high.at[i] - low.at[j] + hypot(high.up[i], low.down[j])), seen)
        : (i, j, seen) => Math.min(Math.exp(low.at[i] - high.at[j] - hypot(low.down[i], high.up[j])), seen);
      const free = near ? Infinity : 0;
      return (i, j) => (rows[i] === 0 && columns[j] === 0 ? free : this.known(end(i, j, rows[i] / columns[j]), free));
    }

    // A hypotenuse lies between the longer of its sides and their sum, so that most rows need no look.
    largestDifference(name) {
      const { chosen } = this, low = this.reach('low', name, false), high = this.reach('high', name, false);
      let least = Infinity;
      for (const g of chosen) least = Math.min(least, name === 'near' ? high.at[g] : low.at[g] - low.down[g]);
      const bound = name === 'near' ? (i) => low.at[i] - low.down[i] - least : (i) => high.at[i] + high.up[i] - least;
      const then = name === 'far' ? this.difference('near') : null;
      return this.search(this.difference(name), bound, undefined, then);
    }

    smallestRatio(name) {
      const { chosen } = this, low = this.reach('low', name, true), high = this.reach('high', name, true);
      let most = -Infinity, highest = 0;
      for (const g of chosen) {
        most = Math.max(most, name === 'near' ? low.at[g] : high.at[g] + high.up[g]);
        highest = Math.max(highest, this.high[g]);
      }
      const bound = name === 'near' ? (i) => -Math.exp(high.at[i] + high.up[i] - most)
        : (i) => (this.low[i] === 0 ? 0 : -Math.min(Math.exp(low.at[i] - low.down[i] - most), this.low[i] / highest));
      const [end, near] = [name, 'near'].map((each) => this.ratio(each)), then = name === 'far' ? (i, j) => -near(i, j) : null;
      const { size, pair } = this.search((i, j) => -end(i, j), bound, (i, j) => j, then);
      return { size: -size, pair };
    }

    // The pair whose gap is surest, of those whose near end alone lies beyond the threshold: its gap over the margin down
    // to that end, of ratios on logarithms. A margin is at least as long as the part of it that one group has.
    surest(values, outside, ratio) {
      const { chosen } = this, sides = ['low', 'high'].map((side) => this.reach(side, 'near', ratio));
      const scale = ratio ? (i) => Math.log(values[i]) : (i) => values[i];
      const top = Math.max(...chosen.map((g) => (ratio ? scale(g) : -scale(g))));
      const end = ratio ? this.ratio('near') : this.difference('near');
      const sure = (i, j) => {
        const near = end(i, j);
        if (!outside(near)) return -Infinity;
        return sureness(ratio ? values[i] / values[j] : values[i] - values[j], near, ratio);
      };
      const bound = (i) => (ratio ? Math.max(1, (top - scale(i)) / sides[1].up[i]) : (scale(i) + top) / sides[0].down[i]);
      const found = this.search(sure, (i) => (isNumber(bound(i)) ? bound(i) : Infinity), ratio ? (i, j) => j : undefined);
      return found.size === -Infinity ? { size: found.size, pair: null } : found;
    }

    // The largest size and the first pair that has it, but for rounding; `bound` says of a row what no size in it exceeds.
    // The higher group of a pair, the row of a difference and the column of a ratio, must be able to be that. Of pairs of
    // one size, the one of which `then` is largest.
    search(size, estimated, higher = (i) => i, then = null) {
      const { chosen, able } = this, fits = (i, j) => i !== j && able(higher(i, j));
      // Infinite bounds of values leave no estimate of what a row exceeds.
      const bound = this.bounded && !chosen.every((g) => isNumber(estimated(g))) ? () => Infinity : estimated;
      const start = chosen.reduce((first, g) => (bound(g) > bound(first) ? g : first), chosen[0]);
      const tops = new Map(); // of rows seen
      let best = -Infinity;
      for (const i of [start, ...chosen]) {
        if (!tops.has(i) && (bound(i) > best || best === -Infinity)) {
          let top = -Infinity;
          for (const j of chosen) if (fits(i, j)) top = Math.max(top, size(i, j));
          tops.set(i, top);
          best = Math.max(best, top);
        }
      }
      const enough = almost(best), equal = [];
      for (const i of chosen) {
        if ((tops.get(i) ?? bound(i)) >= almost(enough)) {
          for (const j of chosen) if (fits(i, j) && size(i, j) >= enough) equal.push([i, j]);
          if (equal.length && !then) break;
        }
      }
      if (equal.length < 2 || !then) return { size: best, pair: equal[0] || null };
      const sizes = equal.map((pair) => { const found = then(...pair); return isNumber(found) ? found : -Number.MAX_VALUE; });
      const most = almost(sizes[worst(sizes)]);
      return { size: best, pair: equal.find((_, k) => sizes[k] >= most) };
    }
  }

  // --- Ends against a baseline ---------------------------------------------------------------------------------------

  // The ends of each group against its baseline. With shares the baseline is everyone, which overlaps with the group:
  // the comparison with the rest is transformed, exactly. Of an average `base` is everyone, and the margins are added.
  function againstEnds(spread, base, at, offset, ratio, shares, added) {
    const add = added ? (a, b) => a + b : hypot, mine = sidesOf(spread), theirs = sidesOf(base);
    const reached = memo((mineSide, theirSide) => [
      reaches(mine[mineSide], at, offset, ratio), reaches(theirs[theirSide], at, offset, ratio),
      mine[mineSide].values, theirs[theirSide].values,
    ]);
    const end = (g, side) => {
      const [own, other, values, others] = side < 0 ? reached('low', 'high') : reached('high', 'low');
      const reach = side < 0 ? add(own.down[g], other.up[g]) : add(own.up[g], other.down[g]);
      const plain = own.at[g] - other.at[g] + side * reach, share = shares ? shares[g] : 0;
      if (!ratio) return (1 - share) * plain;
      const seen = values[g] / others[g], far = Math.exp(plain);
      const wide = !isNumber(seen) ? far : side < 0 ? Math.min(far, seen) : Math.max(far, seen);
      return shares ? 1 / (share + (1 - share) / wide) : wide;
    };
    return Array.from(mine.low.values, (_, g) => [end(g, -1), end(g, 1)]);
  }

  const sizeOf = ([low, high]) => [Math.max(0, low, -high), Math.max(Math.abs(low), Math.abs(high))];
  const foldOf = ([low, high]) => [
    Math.min(folded(low), folded(high)),
    low <= 1 && high >= 1 ? 1 : Math.max(folded(low), folded(high)),
  ];

  // Towards no gap the near end decides, away from it the far one; both contain the value.
  function decidingEnds(near, far, value, middle) {
    if (!near.every(isNumber)) return [NaN, NaN];
    const low = near[0] > middle ? near[0] : Math.min(far[0], middle);
    const high = near[1] < middle ? near[1] : Math.max(far[1], middle);
    return [Math.min(low, value), Math.max(high, value)];
  }

  return { TOLERANCE, worst, almost, sureness, sidesOf, Pairs, againstEnds, sizeOf, foldOf, decidingEnds };
})();

if (typeof module !== 'undefined') module.exports = { evenhandEnds };
