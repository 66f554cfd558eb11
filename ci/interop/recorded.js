// Reads logs of `picollo record` with npm's hdr-histogram-js: recorded.js DIRECTORY. See recorded.py.
const assert = require("assert");
const fs = require("fs");
const path = require("path");
const hdr = require("hdr-histogram-js");

const file = (name) => path.join(process.argv[2], name);
const expected = JSON.parse(fs.readFileSync(file("recorded.json"), "utf8"));
let intervals = 0;
for (const [name, log] of Object.entries(expected)) {
  const found = {};
  const before = intervals;
  const reader = new hdr.HistogramLogReader(fs.readFileSync(file(`${name}.hlog`), "utf8"), 64);
  for (let interval; (interval = reader.nextIntervalHistogram()) !== null; intervals++) {
    const sum = (found[interval.tag] ??= { count: 0, counts: {} });
    sum.count += interval.totalCount;
    for (let index = 0; index < interval.countsArrayLength; index++) {
      const count = interval.getCountAtIndex(index);
      const value = interval.valueFromIndex(index);
      if (count !== 0) sum.counts[value] = (sum.counts[value] ?? 0) + count;
    }
  }
  assert(intervals > before + 2, name);
  assert.deepStrictEqual(found, log.tags, name);
}
console.log(`recorded: npm's hdr-histogram-js reads ${intervals} intervals of ${Object.keys(expected).length} logs, with the counts of each bucket`);
