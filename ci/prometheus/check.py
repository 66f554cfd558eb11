#!/usr/bin/env python3
"""A real Prometheus scrapes services that record known values: does it return them?

    ci/prometheus/check.py PROMETHEUS PROMTOOL FOLDER -- SERVICE... -- SERVICE... ...

Each service prints its port, records 1 to 1,000 ms (one of each) for each line of input, and prints the number of
values at the end of its input. The name before `=` in the command's first word is its label `job`. Ends with "N passed,
N failed".
"""

import json
import math
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

from dashboard import Dashboard

DASHBOARD = Dashboard(pathlib.Path(__file__).resolve().parents[2] / "docs" / "grafana" / "picollo.json")
#: The metrics that it must show for the services.
SHOWN = {
    "classic": ["c_seconds", "py_classic_seconds", "published_seconds", "py_small", "rust_classic_seconds"],
    "native": ["published_seconds", "py_native_seconds", "rust_seconds"],
    "counter": ["c_requests_total", "published_requests_total"],
    "gauge": ["picollo_left_out", "picollo_segments", "py_depth"],
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
        self.job, self.command, self.rounds = job, command, 0
        self.start()

    def start(self, port=None):
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1,
                                        start_new_session=True)
        self.port = int(self.process.stdout.readline())

    def record(self):
        self.process.stdin.write("\n")

    def kill(self):
        """Kills it with the processes that it started."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def end(self):
        """Ends the records; returns their number."""
        self.process.stdin.close()
        return int(self.process.stdout.readline())


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def ask(port, path, **query):
    url = f"http://127.0.0.1:{port}/api/v1/{path}?{urllib.parse.urlencode(query)}"
    try:
        with urllib.request.urlopen(url, timeout=10) as response:
            return json.load(response)["data"]
    except urllib.error.HTTPError as error:
        print(f"Prometheus refuses {query}: {error.read().decode()[:300]}")
        return {"result": []}


def one(port, query):
    """The value of a query with one series; NaN without one."""
    result = ask(port, "query", query=query)["result"]
    return float(result[0]["value"][1]) if len(result) == 1 else math.nan


def near(found, expected, share):
    return abs(found - expected) <= share * expected


def main(arguments):
    prometheus, promtool, folder, *rest = arguments
    folder, commands = pathlib.Path(folder), []
    for word in rest:
        if word == "--":
            commands.append([])
        else:
            commands[-1].append(word)
    services = []
    for first, *arguments in commands:
        job, word = first.split("=", 1)
        services.append(Service(job, [word, *arguments]))
    targets = folder / "targets.json"

    def tell_targets():
        listed = [{"targets": [f"127.0.0.1:{one.port}"], "labels": {"service": one.job}} for one in services]
        fresh = folder / "targets.new"
        fresh.write_text(json.dumps(listed))
        fresh.rename(targets)

    tell_targets()
    config = folder / "prometheus.yml"
    config.write_text(
        f"global: {{scrape_interval: {int(SCRAPE * 1000)}ms, scrape_timeout: {int(SCRAPE * 1000)}ms}}\n"
        "scrape_configs:\n"
        # The instance would change after a restart, on another port.
        "- {job_name: services, file_sd_configs: [{files: [" + str(targets) + "], refresh_interval: 1s}],\n"
        "   relabel_configs: [{source_labels: [service], target_label: instance}]}\n"
    )
    port = free_port()
    log = open(folder / "prometheus.log", "w")
    server = subprocess.Popen(
        [prometheus, f"--config.file={config}", f"--storage.tsdb.path={folder / 'data'}", f"--web.listen-address=127.0.0.1:{port}",
         "--enable-feature=native-histograms,exemplar-storage"], stdout=log, stderr=subprocess.STDOUT,
    )
    try:
        follow(services, tell_targets, port, promtool)
    finally:
        for one in services:
            one.kill()
        server.kill()
        server.wait()
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


def follow(services, tell_targets, port, promtool):
    by_job = {one.job: one for one in services}
    began = time.monotonic()
    restarted = before = None
    while (now := time.monotonic()) < began + SECONDS:
        for service in services:
            service.record()
        if restarted is None and now > began + SECONDS / 2:
            # One process of that name ends, and restarts from zero.
            restarted = by_job["c"]
            restarted.kill()
            restarted.start()
            tell_targets()
        time.sleep(ROUND)
    rate_window = "5s"
    time.sleep(2 * SCRAPE)
    up = {row["metric"]["service"]: row["value"][1] for row in ask(port, "query", query="up")["result"]}
    check("all are up", up == {job: "1" for job in by_job}, up)

    # For 1 to 1,000 ms the quantile q is q seconds. Classic buckets are linear within 50 ms, exact to a value. The
    # others use powers of four.
    for metric in ("py_classic_seconds", "c_seconds"):
        for quantile in (0.5, 0.9, 0.99):
            found = one(port, f"histogram_quantile({quantile}, sum by (le) (rate({metric}_bucket[{rate_window}])))")
            check(f"classic quantile {quantile} of {metric}", near(found, quantile, 0.01), found)
        of_all = f"/ ignoring (le) rate({metric}_count[{rate_window}])"
        found = one(port, f'rate({metric}_bucket{{le="0.5"}}[{rate_window}]) {of_all}')
        # At a bound inside a bucket, the error is the values within 1 % of it.
        check(f"half of the rate of {metric} is up to half a second", near(found, 0.5, 0.01), found)
        found = one(port, f"rate({metric}_sum[{rate_window}]) {of_all}")
        check(f"mean, {metric}", near(found, 0.5005, 0.005), found)
    for quantile in (0.5, 0.9, 0.99):
        # A layout with 64 buckets per block is schema 3: buckets of 9 %.
        for metric in ("py_native_seconds", "rust_seconds"):
            found = one(port, f"histogram_quantile({quantile}, sum(rate({metric}[{rate_window}])))")
            check(f"native quantile {quantile} of {metric}", near(found, quantile, 2 ** 0.125 - 1 + 0.01), found)
    # Three processes with one segment name are one service. Bounds of `picollo serve` are 25 % apart, native buckets
    # 9 %, and the histogram's own error is 1 %.
    for job, metric, share in (("published", "published_seconds_bucket", 0.25), ("native", "published_seconds", 2 ** 0.125 - 1)):
        command, folder, segment = by_job[job].command[2:5]
        shown = subprocess.run([command, "show", segment, "--match", "published", "--json"], capture_output=True, text=True, check=True,
                               env={**os.environ, "PICOLLO_DIR": folder})
        entry = next(entry for entry in json.loads(shown.stdout)["entries"] if entry["kind"] == "histogram")
        for quantile, name in ((0.5, "p50"), (0.9, "p90"), (0.99, "p99")):
            found = one(port, f"histogram_quantile({quantile}, rate({metric}{{segment='{segment}'}}[{rate_window}]))")
            check(f"{job}, {name} as show says it", near(found, entry[name] / 1e9, share + 0.01), f"{found} of {entry[name] / 1e9}")
    found = one(port, f"histogram_sum(sum(rate(py_native_seconds[{rate_window}]))) / histogram_count(sum(rate(py_native_seconds[{rate_window}])))")
    check("mean, native", near(found, 0.5005, 0.005), found)

    check("a restart is a reset", one(port, "resets(c_requests_total[60s])") == 1, one(port, "resets(c_requests_total[60s])"))
    for metric, trace in (("rust_seconds", "0af7651916cd43dd8448eb211c80319c"), ("rust_classic_seconds_bucket", "0af7651916cd43dd8448eb211c80319c"),
                          ("c_seconds_bucket", "c1" * 16), ("py_classic_seconds_bucket", "5e" * 16)):
        found = ask(port, "query_exemplars", query=metric, start=time.time() - 120, end=time.time())
        found = {(one["labels"].get("trace_id"), float(one["value"])) for series in found for one in series["exemplars"]}
        check(f"exemplars of {metric}", found == {(trace, 0.993)}, found)

    DASHBOARD.check(check, lambda path, **query: ask(port, path, **query), SHOWN, empty={"py_small"})

    truth = {service.job: service.end() for service in services}
    time.sleep(4 * SCRAPE)
    for job, name in (("py", "py_classic_seconds_count"), ("c", "c_seconds_count"), ("c", "c_requests_total"), ("py", "py_depth")):
        found = one(port, name)
        check(f"all of {name}", found == truth[job], f"{found:.0f} of {truth[job]}")
    shop, depot = {"shop": 3 * truth["published"]}, {"depot": 3 * truth["native"]}
    for name, expected in (("published_seconds_count", shop), ("histogram_count(published_seconds)", depot),
                           ("published_requests_total", shop | depot)):
        rows = ask(port, "query", query=name)["result"]
        found = {row["metric"]["segment"]: float(row["value"][1]) for row in rows}
        check(f"all of {name}", found == expected, f"{found} of {expected}")
    for job, name in (("py", "py_native_seconds"), ("rust", "rust_seconds")):
        found = one(port, f"histogram_count({name})")
        check(f"all of {name}", found == truth[job], f"{found:.0f} of {truth[job]}")

    for service in services:
        request = urllib.request.Request(f"http://127.0.0.1:{service.port}/metrics", headers={"Accept": "text/plain"})
        with urllib.request.urlopen(request) as response:
            text = response.read()
        result = subprocess.run([promtool, "check", "metrics"], input=text, capture_output=True)
        check(f"promtool check metrics, {service.job}", result.returncode == 0, (result.stdout + result.stderr).decode().strip()[:300])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
