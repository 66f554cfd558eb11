# The commands of the project. Each does its own set-up; `make help` lists them.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

STAGE := target/stage
export PREFIX LIBDIR DESTDIR
export LD_LIBRARY_PATH := $(CURDIR)/$(STAGE)/lib:$(LD_LIBRARY_PATH)

help:            ## list the commands
	@grep -E '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed -E 's/: [^#]*## /\t/' | expand -t 18

demo: stage      ## build everything and run the demos in C and Python
	ci/demo.sh

test: lint       ## all tests: Rust, C, C++, Python
	ci/test.sh

lint: setup      ## formatting, clippy
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings
	cargo clippy -p picollo-core --no-default-features --quiet -- -D warnings

stage: setup     ## the library, its headers and picollo.pc, under target/stage
	ci/stage.sh

install: setup   ## install the C library: PREFIX=/usr/local, LIBDIR, DESTDIR
	ci/capi.sh install

uninstall:       ## remove what `make install` installed, for the same PREFIX, LIBDIR and DESTDIR
	ci/capi.sh uninstall

deb: setup       ## Debian packages, under target/deb
	OUT=target/deb debian/rules binary

bench: stage     ## everything fast beside its peers: a table, target/bench/results.json and a plot
	benches/run.sh

setup:           ## what is missing here: named, or installed with PICOLLO_MAY_CHANGE_THIS_MACHINE=1
	@ci/setup.sh

clean:           ## remove what was built
	rm -rf target

.PHONY: help demo test lint stage install uninstall deb bench setup clean
