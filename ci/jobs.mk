# The jobs: one target each, which ci/job runs, with its limit in seconds (on one of two cores, with nothing built or
# fetched before), whether it needs the staged library, and what excludes it from running beside others. docs/quality.md says what each asks.

JOB = @ci/job $@
# Records of a stress test for each mode, if each costs more than usual.
RECORDS := PICOLLO_STRESS_RECORDS=$${PICOLLO_STRESS_RECORDS:-1000000}
STRESS := cargo test --quiet --release -p picollo-core --test threads -- stress::

# What every commit has to pass.
TEST := lint test-python test-rust test-command test-cpp test-c test-docs test-ci
# All other checks that need no release. The longest begin first, so that no long one is left at the end.
CHECK := check-fuzz check-install check-portable check-asan check-dist check-crates check-tsan check-python check-command check-loom check-bare-metal check-services \
    check-adapters check-cost check-manual check-valgrind check-windows check-aarch64 check-stopping check-engines check-dotnet check-killed \
    check-observe check-interop check-abi check-abi-fuzz check-prometheus check-explorer check-stress check-deny check-workflows
# They measure times.
ALONE := check-simulated-pmu check-dotnet-pmu check-verdicts check-why-slow
# What takes long and seldom changes, and the long forms. Each uses both cores.
RELEASE := check-coverage check-dist-twice check-packages check-planted-bugs check-install-capi check-semver check-32-bit check-big-endian check-asan-all \
    check-tsan-long check-stress-long check-abi-fuzz-long check-why-slow-long check-fuzz-long check-site
# Needs a .NET SDK.
SDK := test-dotnet

test: setup-tests ## what every commit has to pass: at most 5 minutes, 8 the first time
	@ci/job --all '$(TEST)' ''

check: setup-tests ## all other checks that need no release, 20 to 30 minutes; `make check-NAME` runs one: docs/quality.md
	@ci/job --all '$(CHECK)' '$(ALONE)'

# For .github/workflows/nightly.yml, as JSON.
checks:
	@echo '$(CHECK) $(ALONE)' | sed 's/ \+/", "/g; s/.*/["&"]/'

release-check: setup-tests ## what takes hours: coverage, planted bugs, reproducible builds, the long forms
	@ci/job --all '' '$(RELEASE)'

$(filter-out lint,$(TEST)) $(CHECK) $(ALONE) $(RELEASE) $(SDK): setup-tests

lint: setup       ## formatting, clippy
	$(JOB) 360 debug -- ci/lint.sh
test-rust: ; $(JOB) 900 registers -- cargo test --quiet --no-fail-fast
test-command: ; $(JOB) 600 -- cargo test --quiet --no-fail-fast -p picollo-cli -- --skip counts::planted_differences_are_found
# check-python and check-command run what takes longest.
test-python: ; $(JOB) 900 stage -- python/run-tests.sh -q -ra --deselect tests/test_call_leaks.py::test_nothing_leaks
test-c: ; $(JOB) 360 stage registers -- make --no-print-directory -j2 -C c-tests test
test-cpp: ; $(JOB) 270 stage -- ci/cpp.sh
test-docs: ; $(JOB) 90 stage -- ci/docs.sh links readme projects
test-ci: ; $(JOB) 270 -- python3 -m unittest discover -s ci/tests

test-dotnet: ; $(JOB) 300 stage dotnet -- 'LD_LIBRARY_PATH=$(STAGE)/lib dotnet run --configuration Release --project dotnet/tests'

check-python: ; $(JOB) 270 stage -- python/run-tests.sh -q -ra tests/test_call_leaks.py
check-command: ; $(JOB) 270 -- cargo test --quiet -p picollo-cli --test command counts::
# It counts instructions, and measures no times.
check-cost: ; $(JOB) 360 stage -- ci/cost.sh
check-abi: ; $(JOB) 270 stage -- ci/abi.sh
# Loom took 317 s while something else read files: limits leave room for that.
check-loom: ; $(JOB) 1080 -- ci/loom.sh
check-asan: ; $(JOB) 1080 stage registers -- '$(RECORDS) ci/sanitizers.sh asan'
check-tsan: ; $(JOB) 630 registers -- '$(RECORDS) ci/sanitizers.sh tsan'
check-valgrind: ; $(JOB) 450 stage -- ci/sanitizers.sh valgrind
check-fuzz: ; $(JOB) 630 -- ci/fuzz.sh
check-abi-fuzz: ; $(JOB) 270 stage -- make --no-print-directory -C c-tests sequences
check-stress: ; $(JOB) 270 release -- '$(RECORDS) $(STRESS)'
check-killed: ; $(JOB) 450 debug -- 'PICOLLO_KILLS=1000 cargo test --quiet -p picollo-segment --test segments killed'
check-stopping: ; $(JOB) 270 release -- 'PICOLLO_SIMULATED=4000 cargo test --quiet --release -p picollo-bench --lib simulation'
check-simulated-pmu: ; $(JOB) 240 stage alone -- ci/simulated-pmu.sh
check-verdicts: ; $(JOB) 240 stage alone -- ci/verdicts.sh
check-why-slow: ; $(JOB) 240 stage alone -- ci/why-slow.sh

check-install: ; $(JOB) 720 stage registers release -- ci/install.sh
# Library and command, recompiled for an older C library.
check-dist: ; $(JOB) 720 -- 'packaging/dist.sh target/dist x86_64-gnu sources && ci/dist/test.sh gnu'
check-crates: ; $(JOB) 720 debug -- ci/dist/test.sh crates
check-portable: ; $(JOB) 720 debug -- '$(RECORDS) ci/targets/portable.sh lacking'
check-bare-metal: ; $(JOB) 720 cross -- ci/targets/bare-metal.sh
check-windows: ; $(JOB) 630 cross -- ci/targets/windows.sh
check-aarch64: ; $(JOB) 450 cross -- ci/targets/aarch64.sh
check-workflows: ; $(JOB) 90 -- ci/workflows.py
check-deny:
	$(JOB) 180 -- 'cargo fetch --quiet --locked && PATH=$$(ci/tools/cargo-tool.sh deny 0.20.2):$$PATH && \
	    cargo-deny --offline --all-features --log-level error --config deny.toml check --hide-inclusion-graph bans licenses sources'

check-dotnet: ; $(JOB) 450 stage dotnet -- 'ci/dotnet.sh && packaging/nuget.sh'
check-dotnet-pmu: ; $(JOB) 450 stage alone -- 'ci/dotnet.sh --compile && ci/simulated-pmu.sh clr'
check-adapters: ; $(JOB) 720 stage -- ci/adapters.sh
check-engines: ; $(JOB) 720 stage -- ci/engines.sh
check-services: ; $(JOB) 600 stage release -- 'packaging/command.sh && ci/docs/services.py'
check-manual: ; $(JOB) 630 stage -- ci/docs.sh commands pictures
check-interop: ; $(JOB) 270 stage -- ci/interop.sh
check-explorer: ; $(JOB) 180 debug -- ci/explorer.sh
check-prometheus: ; $(JOB) 270 stage -- ci/prometheus.sh
check-observe: ; $(JOB) 270 stage dotnet -- 'ci/dotnet.sh --compile && ci/observe.sh'

check-coverage: ; $(JOB) 1800 alone -- ci/coverage.sh
check-dist-twice: ; $(JOB) 1500 alone -- 'packaging/dist.sh target/dist x86_64-gnu && ci/dist/test.sh instructions twice'
check-packages: ; $(JOB) 3600 alone -- 'packaging/dist.sh && make --no-print-directory deb && ci/dist/test.sh'
check-planted-bugs: ; $(JOB) 3600 alone -- ci/loom.sh bugs
check-install-capi: ; $(JOB) 1200 stage alone -- ci/install.sh capi
check-semver: ; $(JOB) 1200 alone -- ci/abi.sh semver
check-32-bit: ; $(JOB) 900 alone -- ci/targets/portable.sh i686
check-big-endian: ; $(JOB) 1200 alone -- ci/targets/portable.sh s390x
check-asan-all: ; $(JOB) 1800 stage alone -- ci/sanitizers.sh asan all
check-tsan-long: ; $(JOB) 3600 alone -- 'PICOLLO_STRESS_RECORDS=10000000 ci/sanitizers.sh tsan all'
check-stress-long: ; $(JOB) 1800 alone -- 'PICOLLO_STRESS_RECORDS=100000000 $(STRESS)'
check-abi-fuzz-long: ; $(JOB) 3600 stage alone -- make --no-print-directory -C c-tests sequences SEQUENCES=1000000
check-why-slow-long: ; $(JOB) 1800 stage alone -- 'WHY_SLOW_TIMES=100 ci/why-slow.sh'
check-fuzz-long: ; $(JOB) 3600 alone -- 'FUZZ_RUNS=1700000 ci/fuzz.sh'
check-site: ; $(JOB) 1200 alone -- ci/docs/site.py

.PHONY: test check checks release-check $(TEST) $(CHECK) $(ALONE) $(RELEASE) $(SDK)
