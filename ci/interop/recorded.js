// A log that `picollo record` wrote, as npm's hdr-histogram-js reads it: recorded.js DIRECTORY. See recorded.py.
const assert = require("assert");
const fs = require("fs");
const path = require("path");
const hdr = require("hdr-histogram-js");

const file = (name) => path.join(process.argv[2], name);
const expected = JSON.parse(fs.readFileSync(file("recorded.json"), "utf8"));
const found = {};
let intervals = 0;
const reader = new hdr.HistogramLogReader(fs.readFileSync(file("recorded.hlog"), "utf8"), 64);
for (let interval; (interval = reader.nextIntervalHistogram()) !== null; intervals++) {
  const sum = (found[interval.tag] ??= { count: 0, max: 0, sum: 0 });
  sum.count += interval.totalCount;
  sum.max = Math.max(sum.max, interval.maxValue);
  sum.sum += interval.mean * interval.totalCount;
}
assert.deepStrictEqual(Object.keys(found).sort(), Object.keys(expected).sort());
assert(intervals > 2);
for (const [tag, truth] of Object.entries(expected)) {
  assert.strictEqual(found[tag].count, truth.count, tag);
  for (const figure of ["max", "sum"]) assert(Math.abs(found[tag][figure] / truth[figure] - 1) < 0.001, `${tag} ${figure}`);
}
console.log(`recorded: npm's hdr-histogram-js reads ${intervals} intervals of ${Object.keys(found).length} tags`);
