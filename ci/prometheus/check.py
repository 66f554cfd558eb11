#!/usr/bin/env python3
"""A real Prometheus scrapes services that record known values: does it return them?

    ci/prometheus/check.py PROMETHEUS PROMTOOL FOLDER NAME=COMMAND...

Each service prints its port, records 1 to 1,000 ms (one of each) for each line of input, and prints the number of
values at the end of its input. Ends with "N passed, N failed".
"""

import json
import math
import os
import pathlib
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
import urllib.parse
import urllib.request

DASHBOARD = pathlib.Path(__file__).resolve().parents[2] / "docs/grafana/picollo.json"
#: The values of its variables for the services. A name does not distinguish gauges from native histograms.
EITHER = ["picollo_left_out", "picollo_segments", "published_seconds", "py_depth", "py_native_seconds", "rust_seconds"]
VARIABLES = {
    "classic": ["published_seconds", "py_classic_seconds", "py_small", "rust_classic_seconds"],
    "native": EITHER,
    "counter": ["published_requests_total", "py_requests_total"],
    "gauge": EITHER,
}
#: Between two scrapes, and between two rounds of records.
SCRAPE, ROUND = 0.25, 0.02
SECONDS = 20
passed = failed = 0


def check(name, is_so, found):
    global passed, failed
    passed, failed = passed + bool(is_so), failed + (not is_so)
    print(f"{'ok' if is_so else 'FAILED'}: {name}: {found}")


class Service:
    def __init__(self, job, command):
        self.job, self.command = job, command
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, start_new_session=True)
        self.port = int(self.process.stdout.readline())

    def kill(self):
        """Kills it with the processes that it started."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def end(self):
        """Ends the records; returns their number."""
        self.process.stdin.close()
        return int(self.process.stdout.readline())


def ask(port, path, **query):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/{path}?{urllib.parse.urlencode(query)}", timeout=10) as response:
        return json.load(response)["data"]


def check_value(port, query, expected, share=0.0):
    """The value of a query with one series is the expected one, up to a share of it."""
    result = ask(port, "query", query=query)["result"]
    found = float(result[0]["value"][1]) if len(result) == 1 else math.nan
    check(query, abs(found - expected) <= share * expected, f"{found} of {expected}")


def check_dashboard(port):
    """Sends the queries of Grafana's dashboard: each variable has its metrics, and each expression has data."""
    board = json.loads(DASHBOARD.read_text())

    def fill(text, **values):
        known = {"job": ".+", "__rate_interval": "5s", **values}
        return re.sub(r"\$\{?([a-z_]+)\}?", lambda found: known[found[1]], text)

    for variable in board["templating"]["list"]:
        if variable["name"] in VARIABLES:
            (query,) = re.findall(r"label_values\((.+), __name__\)", fill(variable["query"]["query"]))
            names = {row["metric"]["__name__"] for row in ask(port, "query", query=query)["result"]}
            pattern = re.compile(variable["regex"].strip("/") or "(.+)")
            found = sorted(match[1] for name in names if (match := pattern.search(name)))
            check(f"metrics for ${variable['name']}", found == VARIABLES[variable["name"]], found)
    for panel in board["panels"]:
        for target in panel.get("targets", ()):
            with_data = []
            for name, metrics in VARIABLES.items():
                for metric in metrics if f"${{{name}}}" in target["expr"] else ():
                    rows = ask(port, "query", query=fill(target["expr"], **{name: metric}))["result"]
                    finite = [row for row in rows if "histogram" in row or math.isfinite(float(row["value"][1]))]
                    with_data += [metric] if finite else []
            if "{__name__" in target["expr"]:
                with_data = ask(port, "query", query=fill(target["expr"]))["result"]
            check(f"{panel['title']}: {target['expr']}", with_data, len(with_data))


def main(prometheus, promtool, folder, *named):
    folder = pathlib.Path(folder)
    services = [Service(job, shlex.split(command)) for job, command in (one.split("=", 1) for one in named)]
    targets, config = folder / "targets.json", folder / "prometheus.yml"

    def write_targets():
        listed = [{"targets": [f"127.0.0.1:{one.port}"], "labels": {"service": one.job}} for one in services]
        fresh = folder / "targets.new"
        fresh.write_text(json.dumps(listed))
        fresh.rename(targets)

    write_targets()
    config.write_text(
        f"global: {{scrape_interval: {int(SCRAPE * 1000)}ms, scrape_timeout: {int(SCRAPE * 1000)}ms}}\n"
        "scrape_configs:\n"
        # The instance would change after a restart, on another port.
        "- {job_name: services, file_sd_configs: [{files: [" + str(targets) + "], refresh_interval: 1s}],\n"
        "   relabel_configs: [{source_labels: [service], target_label: instance}]}\n"
    )
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    server = subprocess.Popen(
        [prometheus, f"--config.file={config}", f"--storage.tsdb.path={folder / 'data'}", f"--web.listen-address=127.0.0.1:{port}",
         "--enable-feature=native-histograms,exemplar-storage"], stdout=open(folder / "prometheus.log", "w"), stderr=subprocess.STDOUT,
    )
    try:
        follow(services, write_targets, port, promtool)
    finally:
        for process in (*services, server):
            process.kill()
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


def follow(services, write_targets, port, promtool):
    by_job = {one.job: one for one in services}
    began, restarted = time.monotonic(), None
    while (now := time.monotonic()) < began + SECONDS:
        for service in services:
            service.process.stdin.write("\n")
        if restarted is None and now > began + SECONDS / 2:
            # One process of that name ends, and restarts from zero.
            restarted = by_job["py"]
            restarted.kill()
            restarted.start()
            write_targets()
        time.sleep(ROUND)
    time.sleep(2 * SCRAPE)
    up = {row["metric"]["service"]: row["value"][1] for row in ask(port, "query", query="up")["result"]}
    check("all are up", up == {job: "1" for job in by_job}, up)

    # For 1 to 1,000 ms the quantile q is q seconds. Classic buckets are linear within 50 ms, exact to a value. A layout
    # with 64 buckets per block is schema 3: native buckets of 9 %.
    native = 2**0.125 - 1 + 0.01
    for quantile in (0.5, 0.9, 0.99):
        check_value(port, f"histogram_quantile({quantile}, sum by (le) (rate(py_classic_seconds_bucket[5s])))", quantile, 0.01)
        for metric in ("py_native_seconds", "rust_seconds"):
            check_value(port, f"histogram_quantile({quantile}, sum(rate({metric}[5s])))", quantile, native)
    # At a bound inside a bucket, the error is the values within 1 % of it.
    of_all = "/ ignoring (le) rate(py_classic_seconds_count[5s])"
    check_value(port, f'rate(py_classic_seconds_bucket{{le="0.5"}}[5s]) {of_all}', 0.5, 0.01)
    check_value(port, f"rate(py_classic_seconds_sum[5s]) {of_all}", 0.5005, 0.005)
    check_value(port, "histogram_sum(sum(rate(py_native_seconds[5s]))) / histogram_count(sum(rate(py_native_seconds[5s])))", 0.5005, 0.005)
    # Three processes with one segment name are one service. Bounds of `picollo serve` are 25 % apart, native buckets 9 %,
    # and the histogram's own error is 1 %.
    for job, metric, share in (("published", "published_seconds_bucket", 0.26), ("native", "published_seconds", native)):
        command, folder, segment = by_job[job].command[2:5]
        shown = subprocess.run([command, "show", segment, "--match", "published", "--json"], capture_output=True, text=True, check=True,
                               env={**os.environ, "PICOLLO_DIR": folder})
        entry = next(entry for entry in json.loads(shown.stdout)["entries"] if entry["kind"] == "histogram")
        for quantile, name in ((0.5, "p50"), (0.9, "p90"), (0.99, "p99")):
            query = f"histogram_quantile({quantile}, rate({metric}{{segment='{segment}'}}[5s]))"
            check_value(port, query, entry[name] / 1e9, share)
    check_value(port, "resets(py_requests_total[60s])", 1)
    rust = "0af7651916cd43dd8448eb211c80319c"
    for metric, trace in (("rust_seconds", rust), ("rust_classic_seconds_bucket", rust), ("py_classic_seconds_bucket", "5e" * 16)):
        found = ask(port, "query_exemplars", query=metric, start=time.time() - 120, end=time.time())
        found = {(one["labels"].get("trace_id"), float(one["value"])) for series in found for one in series["exemplars"]}
        check(f"exemplars of {metric}", found == {(trace, 0.993)}, found)
    check_dashboard(port)

    truth = {service.job: service.end() for service in services}
    time.sleep(4 * SCRAPE)
    for query, job in (("py_classic_seconds_count", "py"), ("py_requests_total", "py"), ("py_depth", "py"),
                       ("histogram_count(py_native_seconds)", "py"), ("histogram_count(rust_seconds)", "rust")):
        check_value(port, query, truth[job])
    for query, job in (("published_seconds_count{segment='shop'}", "published"), ("histogram_count(published_seconds{segment='depot'})", "native"),
                       ("published_requests_total{segment='shop'}", "published"), ("published_requests_total{segment='depot'}", "native")):
        check_value(port, query, 3 * truth[job])
    for service in services:
        request = urllib.request.Request(f"http://127.0.0.1:{service.port}/metrics", headers={"Accept": "text/plain"})
        with urllib.request.urlopen(request) as response:
            result = subprocess.run([promtool, "check", "metrics"], input=response.read(), capture_output=True)
        check(f"promtool check metrics, {service.job}", result.returncode == 0, (result.stdout + result.stderr).decode().strip()[:300])


sys.exit(main(*sys.argv[1:]))
