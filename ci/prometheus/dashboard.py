"""Checks the queries of the dashboard in docs/grafana on a Prometheus.

Grafana replaces its variables by metrics and jobs. This script queries each variable like Grafana, and the answer must
be exactly its metrics. Then it sends each expression with each of these.
"""

import itertools
import json
import math
import re

#: Names of other variables in an expression or query.
VARIABLE = re.compile(r"\$\{?([a-z_]\w*)\}?")


def walk(value):
    """All objects in it."""
    if isinstance(value, dict):
        yield value
    for inside in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from walk(inside)


def fill(text, values):
    """Replaces variables by values; a variable without a value is an error."""
    return VARIABLE.sub(lambda found: values[found[1]], text)


def has_numbers(row):
    """Whether a series has a numeric value, or a histogram with observations."""
    if "histogram" in row:
        return float(row["histogram"][1]["count"]) > 0
    return math.isfinite(float(row["value"][1]))


class Dashboard:
    def __init__(self, path):
        self.board = json.loads(path.read_text())
        self.variables = self.board["templating"]["list"]
        self.panels = [panel for panel in self.board["panels"] if panel["type"] != "row"]

    def faults(self):
        """Faults that Grafana would refuse, or not show."""
        ids = [panel["id"] for panel in self.board["panels"]]
        places = [tuple(panel["gridPos"][side] for side in "xywh") for panel in self.board["panels"]]
        known = {variable["name"] for variable in self.variables} | {"__rate_interval", "__all"}
        texts = [text for inside in walk(self.board) for text in inside.values() if isinstance(text, str)]
        named = {name for text in texts for name in VARIABLE.findall(text)}
        faults = [f"no variable {name}" for name in named - known] + [f"nothing uses {name}" for name in known - named]
        faults += [f"number {number} twice" for number in set(ids) if ids.count(number) > 1]
        for a, b in itertools.combinations(places, 2):
            if a[0] < b[0] + b[2] and b[0] < a[0] + a[2] and a[1] < b[1] + b[3] and b[1] < a[1] + a[3]:
                faults.append(f"panels in one place: {a} and {b}")
        faults += [f"beyond the edge: {x} + {width}" for x, _, width, _ in places if x + width > 24]
        return faults

    def values_of(self, variable, ask, values):
        """The values of a variable, in the way Grafana finds them."""
        found = re.fullmatch(r"label_values\((.+), (\w+)\)", fill(variable["query"]["query"], values))
        offered = [row["metric"].get(found[2], "") for row in ask("query", query=found[1])["result"]]
        if pattern := variable["regex"].strip("/"):
            offered = [found[1] for text in offered if (found := re.search(pattern, text))]
        return sorted(set(offered))

    def check(self, check, ask, truth, empty):
        """Sends all queries. `truth` has the metrics of each variable, `empty` those without observations.

        A name does not distinguish gauges from native histograms, so each list contains both.
        """
        check("the dashboard's file", self.faults() == [], self.faults())
        values = {"job": ".+", "__rate_interval": "5s"}
        for variable in self.variables:
            if variable["type"] == "query" and variable["name"] != "job":
                name = variable["name"]
                offered = self.values_of(variable, ask, values)
                others = truth["native"] + truth["gauge"] if name in ("native", "gauge") else []
                check(f"metrics for ${name}", offered == sorted({*truth[name], *others}), offered)
        asked = 0
        for panel in self.panels:
            for target in panel["targets"]:
                used = dict.fromkeys(name for name in VARIABLE.findall(target["expr"]) if name in truth)
                for chosen in itertools.product(*(truth[name] for name in used)):
                    expression = fill(target["expr"], {**values, **dict(zip(used, chosen))})
                    rows = ask("query", query=expression)["result"]
                    if not rows or not (empty.intersection(chosen) or all(map(has_numbers, rows))):
                        check(f"{panel['title']}: {expression}", False, rows)
                    asked += 1
        check("expressions of the dashboard that have data", asked > len(self.panels), asked)
