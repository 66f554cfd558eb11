# The commands of the project. Each does its own set-up; `make help` lists them. Missing tools are installed only if
# PICOLLO_MAY_CHANGE_THIS_MACHINE=1; otherwise they are listed.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

STAGE := target/stage
export PREFIX LIBDIR DESTDIR

help:            ## list the commands
	@grep -hE '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed -E 's/: [^#]*## /\t/' | expand -t 18

demo: stage      ## build the library and measure something with it: at most 15 seconds after the build, which takes a minute
	@$(MAKE) --no-print-directory -s -C c-tests demo

demo-slow: stage ## a service with three hidden problems, and why its slow requests were slow: under 10 seconds after the build
	@$(MAKE) --no-print-directory -s -C c-tests demo-slow

demos: stage     ## all other demos, in C and Python
	$(MAKE) --no-print-directory -s -C c-tests run-demos
	python-demo/run-demos.sh

include ci/jobs.mk

stage: setup     ## the library, its headers and picollo.pc, under target/stage
	ci/stage.sh

install: setup   ## install the C library and the command `picollo`: PREFIX=/usr/local, LIBDIR, DESTDIR
	packaging/install.sh install

uninstall:       ## remove what was installed, for the same PREFIX, LIBDIR and DESTDIR
	packaging/install.sh uninstall

deb: setup       ## Debian packages, under target/deb
	rm -rf target/deb && mkdir -p target/deb && cp -r packaging/debian target/deb/
	cd target/deb && ROOT=../.. WORK=tree OUT=. debian/rules binary

dist: setup      ## what can be handed out, under target/dist: docs/releasing.md; packaging/dist.sh makes a part of it
	packaging/dist.sh

nuget: stage      ## the NuGet package, under target/nuget: packed where there is a .NET SDK, else its libraries only
	@packaging/nuget.sh

version:         ## check that all files have one version; with V=X.Y.Z, change them
	@packaging/version.py $(V)

bench: export LD_LIBRARY_PATH := $(CURDIR)/$(STAGE)/lib:$(LD_LIBRARY_PATH)
bench: stage     ## everything fast beside its peers: a table, target/bench/results.md and a plot
	benches/run.sh

site:            ## the manual as web pages with search, and their links checked: target/site/book (the first time mdBook is compiled)
	ci/docs/site.py

setup:           ## what building needs and is missing here: named, or installed with PICOLLO_MAY_CHANGE_THIS_MACHINE=1
	@ci/setup.sh build

setup-tests:     ## the same, and what the tests need
	@ci/setup.sh build tests

clean:           ## remove what was built
	rm -rf target

.PHONY: help demo demo-slow demos stage install uninstall deb dist nuget version bench site setup setup-tests clean
