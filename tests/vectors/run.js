'use strict';

// node run.js measures.json case.json …: what the script of the page computes for each case, against what Python says.
// Prints, as JSON, how many numbers were compared, the largest distances, and everything that is too far off.
const fs = require('fs');
const path = require('path');
// The engine as it is written, or as a page carries it.
const engineFile = process.env.EVENHAND_ENGINE ?? path.join(__dirname, '../../src/evenhand/report/page/assets/compute.js');
const { evenhandCompute } = require(engineFile);

const VALUES = 1e-9, INTERVALS = 1e-6;
const [measures, ...files] = process.argv.slice(2);
const read = (file) => JSON.parse(fs.readFileSync(file, 'utf8'));
const told = { compared: 0, values: 0, intervals: 0, wrong: [] };

function number(where, found, expected, tolerance) {
  told.compared += 1;
  const wanted = expected === 'infinite' ? Infinity : expected === '-infinite' ? -Infinity : expected;
  if (found === wanted) return;
  const off = typeof found === 'number' && typeof wanted === 'number'
    ? Math.abs(found - wanted) / Math.max(1, Math.abs(wanted)) : Infinity;
  const kind = tolerance === VALUES ? 'values' : 'intervals';
  if (off <= tolerance) told[kind] = Math.max(told[kind], off);
  else told.wrong.push(`${where}: ${found} where Python has ${wanted}`);
}

function same(where, found, expected) {
  told.compared += 1;
  if (JSON.stringify(found) !== JSON.stringify(expected)) {
    told.wrong.push(`${where}: ${JSON.stringify(found)} where Python has ${JSON.stringify(expected)}`);
  }
}

function estimate(where, found, [value, low, high]) {
  number(`${where} value`, found.value, value, VALUES);
  number(`${where} low`, found.low, low, INTERVALS);
  number(`${where} high`, found.high, high, INTERVALS);
}

function checkGroups(where, found, expected) {
  same(`${where} groups`, found.groups.map((group) => group.key), expected.groups.map((group) => group.key));
  expected.groups.forEach((group, g) => {
    number(`${where} people`, found.groups[g].people, group.people, VALUES);
    same(`${where} missing`, found.groups[g].missing, group.key.includes(null));
    for (const [name, [value, low, high, n, reason]] of Object.entries(group.measures)) {
      const measure = found.groups[g].measures[name], at = `${where} ${found.groups[g].name} ${name}`;
      estimate(at, measure, [value, low, high]);
      number(`${at} n`, measure.n, n, VALUES);
      same(`${at} reason`, measure.reason, reason ?? null);
    }
  });
  for (const [name, value] of Object.entries(expected.overall)) {
    number(`${where} overall ${name}`, found.overall[name], value, VALUES);
  }
}

// Findings of one metric come in their order; those that decide were moved to the front, so metrics may not.
function checkFindings(where, found, expected) {
  const byMetric = (list) => {
    const sorted = {};
    for (const each of list) (sorted[each.metric] ??= []).push(each);
    return sorted;
  };
  const ours = byMetric(Object.values(found.list)), theirs = byMetric(expected.findings);
  same(`${where} metrics`, Object.keys(ours).sort(), Object.keys(theirs).sort());
  for (const [metric, list] of Object.entries(theirs)) {
    list.forEach((wanted, i) => {
      const made = (ours[metric] ?? [])[i], at = `${where} ${metric} ${i}`;
      if (!made) return;
      for (const kind of ['difference', 'ratio']) estimate(`${at} ${kind}`, made[kind], wanted[kind]);
      estimate(at, made, wanted.value);
      estimate(`${at} shown`, made.shown, wanted.shown);
      for (const key of ['judged_on', 'threshold', 'passes', 'verdict', 'highest', 'lowest', 'left_out']) {
        same(`${at} ${key}`, made[key], wanted[key]);
      }
      same(`${at} reasons`, made.reasons, wanted.reasons ?? []);
      same(`${at} settled`, Boolean(made.settled), wanted.settled ?? false);
      const { evidence: pair } = made;
      same(`${at} evidence`, pair && [pair.measure, pair.group, pair.against, pair.n, pair.n_against], wanted.evidence);
    });
    same(`${where} ${metric} first`, found.findings[metric], ours[metric] && ours[metric][0]);
  }
}

function checkSweep(where, engine, attributes, stop, expected) {
  if (stop < 0 || !engine.cutoffs.length) return;
  const sweep = engine.sweep(attributes), seen = new Set();
  for (const found of expected.findings) {
    if (seen.has(found.metric)) continue;
    seen.add(found.metric);
    number(`${where} sweep ${found.metric}`, sweep.gaps[found.metric][stop], found.shown[0], VALUES);
  }
  if (sweep.accuracy && expected.overall.accuracy !== undefined) {
    number(`${where} sweep accuracy`, sweep.accuracy[stop], expected.overall.accuracy, VALUES);
  }
}

function checkCurves(where, engine, wanted) {
  if (!wanted.calibration) return;
  const bins = engine.calibration(wanted.attributes).flatMap((group) => group.bins.map((bin) =>
    [group.name, bin.from, bin.to, bin.n, bin.rate, bin.low, bin.high, bin.mean]));
  const named = (list) => list.map(([name, , , n]) => [name, n]);
  same(`${where} calibration bins`, named(bins), named(wanted.calibration));
  wanted.calibration.forEach((bin, i) => bin.forEach((value, j) => {
    if (j > 0) number(`${where} calibration ${i}`, bins[i][j], value, j === 5 || j === 6 ? INTERVALS : VALUES);
  }));
  const shares = engine.distribution(wanted.attributes, 1e6);
  wanted.shares.forEach((list, g) => list.forEach((share, i) =>
    number(`${where} share ${i}`, shares[g].share[i], share, VALUES)));
}

for (const file of files) {
  const vector = read(file), name = path.basename(file, '.json');
  const engine = evenhandCompute({ tables: { ...vector.tables, measures: read(measures) } }, vector.counts);
  for (const { stop, sets } of vector.expected) {
    for (const expected of sets) {
      const where = `${name} ${expected.attributes} at ${stop}`, found = engine.at(expected.attributes, stop);
      checkGroups(where, found, expected);
      checkFindings(where, found, expected);
      checkSweep(where, engine, expected.attributes, stop, expected);
    }
  }
  for (const wanted of vector.curves) checkCurves(`${name} ${wanted.attributes}`, engine, wanted);
}
console.log(JSON.stringify(told));
