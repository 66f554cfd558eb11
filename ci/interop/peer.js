// Processes our files with npm's hdr-histogram-js: peer.js DIRECTORY. See interop.py.
"use strict";
const fs = require("fs");
const path = require("path");
const hdr = require("hdr-histogram-js");

// Counts are doubles: exact to 2^53.
const BITS = 64;

function countsOf(histogram) {
  const counts = [];
  for (let index = 0; index < histogram.countsArrayLength; index++) {
    const count = histogram.getCountAtIndex(index);
    if (count !== 0) counts.push([String(histogram.valueFromIndex(index)), String(count)]);
  }
  return counts;
}

const directory = process.argv[2];
const file = (name) => path.join(directory, name);
const cases = fs
  .readFileSync(file("js-cases.jsonl"), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));

const results = [];
let log = "";
const writer = new hdr.HistogramLogWriter((text) => (log += text));
writer.outputComment("[of npm's hdr-histogram-js]");
writer.outputLogFormatVersion();
writer.outputLegend();
for (const item of cases) {
  const histogram = hdr.build({
    lowestDiscernibleValue: Number(item.lowest),
    highestTrackableValue: Number(item.highest),
    numberOfSignificantValueDigits: item.digits,
    bitBucketSize: BITS,
    autoResize: false,
  });
  for (const [value, count] of item.values) histogram.recordValueWithCount(Number(value), Number(count));
  results.push({
    id: item.id,
    read: { compressed: countsOf(hdr.decodeFromCompressedBase64(item.compressed, BITS)) },
    wrote: { compressed: hdr.encodeIntoCompressedBase64(histogram) },
    // None: its equivalent values are sometimes a bucket off, with units and near 2^52. Its counts are right.
    figures: {},
  });
  if (item.tag) histogram.tag = item.tag;
  writer.outputIntervalHistogram(histogram, item.start, item.end);
}
const asLines = (things) => things.map((thing) => JSON.stringify(thing) + "\n").join("");
fs.writeFileSync(file("js.jsonl"), asLines(results));
fs.writeFileSync(file("js.hlog"), log);

const read = [];
const reader = new hdr.HistogramLogReader(fs.readFileSync(file("js-ours.hlog"), "utf8"), BITS);
for (let interval; (interval = reader.nextIntervalHistogram()) !== null; ) {
  read.push({
    tag: interval.tag === hdr.NO_TAG || interval.tag === "NO TAG" ? "" : interval.tag,
    start: interval.startTimeStampMsec / 1000,
    end: interval.endTimeStampMsec / 1000,
    counts: countsOf(interval),
  });
}
fs.writeFileSync(file("js-read.jsonl"), asLines(read));
