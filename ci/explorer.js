// Compares the mapping in docs/layout.html with the lines of `cargo run -p picollo-core --example layouts`.
//
//     node explorer.js PAGE LINES
"use strict";
const fs = require("fs");
const [page, lines] = process.argv.slice(2).map(path => fs.readFileSync(path, "utf8"));
const script = page.slice(page.indexOf("// begin: layout"), page.indexOf("// end: layout"));
const layout = new Function(`${script}; return layout;`)();
const u64 = n => n.toString();

let checks = 0;
function equal(line, what, expected, actual) {
    if (expected !== actual) {
        console.error(`explorer: FAILED: ${what} is ${actual}, and in the library ${expected}: ${line}`);
        process.exit(1);
    }
    checks++;
}
for (const line of lines.trim().split("\n")) {
    const [error, min, max, length, first, scale, stated, value, index, lower, upper, midpoint] = line.split(" ");
    equal(line, "set", 1, layout.set(Number(error), BigInt(min), BigInt(max)));
    equal(line, "length", length, u64(layout.length()));
    equal(line, "first_index", first, u64(layout.first_index()));
    equal(line, "scale", scale, String(layout.scale()));
    equal(line, "relative_error", Number(stated), layout.relative_error());
    const at = layout.storage_index(BigInt(value));
    if (index === "-") {
        equal(line, "in range", false, at < BigInt(length));
        equal(line, "is_below", lower === "below" ? 1 : 0, layout.is_below(BigInt(value)));
        continue;
    }
    equal(line, "storage_index", index, u64(at));
    equal(line, "lower", lower, u64(layout.lower(at)));
    equal(line, "upper", upper, u64(layout.upper(at)));
    equal(line, "midpoint", midpoint, u64(layout.midpoint(at)));
}
const before = u64(layout.length());
equal("", "set of nothing", 0, layout.set(0.1, 5n, 5n));
equal("", "length after it", before, u64(layout.length()));
console.log(`${checks} comparisons of the page with the library`);
