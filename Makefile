# make run     set up what is missing, build, and measure the paths of this host
# make test    set up what is missing, and run every test
# make tables measure shm, unix and tcp and print the papers' tables of them
# make buffers measure tcp with two segment sizes and two socket buffers, and print the grid
# make figures every figure and table of the papers that this host can make, into a new folder
# make bench   the measured table: against the bare floor and against Debian's peers
# make truth   how often what is printed is true, on synthetic runs whose truth is known: bench/TRUTH.md, in half an hour
# make fuzz-sockets a hundred thousand random scripts of socket calls, with fastsock and without: SEED=1 COUNT=1000 for fewer, or others
# make sim     strata's longer job: 10,000 seeded runs of its stacks, of any stacks, and with state transfer, all promises checked; RUNS=500 for fewer
# make mutants whether the tests notice faults that are put in on purpose; FLAGS='--shard 0/100' tries one of a hundred parts
# make docs    the manual as a site with a search: target/docs/index.html
# make build   the command (target/release/pipegauge), beside it fastsock with its libfastsock.so, strata, and the C interfaces of strata, am and fast sockets
# make modules the modules whose libraries are here (MPI, ZeroMQ, NNG, gRPC, UCX, libfabric, Corosync, JGroups): target/modules
# make install the command, its manual pages and completions, fastsock with its library, strata, and the C interfaces, into PREFIX (/usr/local)
SHELL := /bin/bash
TARGET := $(or $(CARGO_TARGET_DIR),target)
export PATH := $(PATH):$(HOME)/.cargo/bin

PREFIX ?= /usr/local
PROGRAM ?= $(TARGET)/release/pipegauge

.PHONY: modules run tables buffers figures test bench truth fuzz-sockets sim mutants docs build install clean

run:
	@scripts/setup.sh run
	@[ -x $(TARGET)/release/pipegauge ] || echo "building: two minutes or three, the first time"
	@cargo build --release --locked --quiet --package pipegauge
	@# 1 says "measured, but something fell short", which its warnings explain: no failure of make.
	@$(TARGET)/release/pipegauge run memcpy shm unix tcp || [ $$? -eq 1 ]

# Round trips, bursts (of 500 sends: blocks of megabytes would leave time for few) and streams, into a directory that keeps
# the run files.
tables:
	@scripts/setup.sh run
	@cargo build --release --locked --quiet --package pipegauge
	@at=$$(mktemp -d pipegauge-tables-XXXXXX) && for pattern in ping-pong "burst --to 64KiB" stream; do \
	  $(TARGET)/release/pipegauge run shm unix tcp --pattern $$pattern -o $$at/$${pattern%% *}.run.jsonl --no-html >$$at/$${pattern%% *}.txt \
	    || [ $$? -eq 1 ] || exit 2; \
	done && $(TARGET)/release/pipegauge tables $$at/*.run.jsonl && echo "run files: $$at"

# Segments and buffers of the Gigabit Ethernet paper's table 1, into a directory that keeps the run files.
buffers:
	@scripts/setup.sh run
	@cargo build --release --locked --quiet --package pipegauge
	@at=$$(mktemp -d pipegauge-buffers-XXXXXX) && for mss in 1448 8948; do for buffer in 64KiB 128KiB; do \
	  $(TARGET)/release/pipegauge run tcp --mss $$mss --sockbuf $$buffer --to 1MiB -o $$at/$$mss-$$buffer.run.jsonl --no-html \
	    >$$at/$$mss-$$buffer.txt || [ $$? -eq 1 ] || exit 2; \
	done; done && $(TARGET)/release/pipegauge tables $$at/*.run.jsonl && echo "run files: $$at"

# FLAGS go to every run: make figures FLAGS='--budget 4s'.
figures:
	@scripts/setup.sh figures
	@cargo build --release --locked --quiet --package pipegauge
	@cargo build --release --locked --quiet --package fastsock
	@scripts/modules.sh $(TARGET)/modules && PIPEGAUGE_MODULES=$(abspath $(TARGET))/modules scripts/figures.sh $(TARGET)/release/pipegauge "$$(mktemp -d pipegauge-figures-XXXXXX)" $(FLAGS)

test:
	@scripts/test.sh

bench:
	@scripts/setup.sh bench
	@cargo build --release --locked --quiet --package pipegauge --package pipegauge-floor
	@cargo build --release --locked --quiet --package fastsock
	@python3 bench/bench.py

# FLAGS choose and shorten: make truth FLAGS='--runs 20 --tables coverage -o quick.md'.
truth:
	@scripts/setup.sh run
	@cargo build --release --locked --quiet --package pipegauge --package pipegauge-truth
	@$(TARGET)/release/pipegauge-truth --program $(TARGET)/release/pipegauge -o bench/TRUTH.md $(FLAGS)

# Most of an hour on two CPUs. It prints each script that comes out differently, as small as it gets, and stops when three (STOP=3) have.
fuzz-sockets:
	@FUZZ_SEED=$(or $(SEED),1000000) FUZZ_COUNT=$(or $(COUNT),100000) FUZZ_STOP=$(or $(STOP),3) \
	  cargo test --locked --quiet --package fastsock --test fuzz -- --ignored --nocapture as_many

# Some minutes. Each run that breaks a promise is printed with the command that plays it again, and make fails.
RUNS ?= 10000
sim:
	@scripts/setup.sh run
	@cargo build --locked --quiet --package strata
	@done=0; for kind in "" --any-stack --state; do echo "strata sim $$kind --runs $(RUNS)" && $(TARGET)/debug/strata sim $$kind --runs $(RUNS) || done=1; done; exit $$done

# Modules whose library is here, in target/modules; the others are named with what they need.
modules:
	@scripts/modules.sh $(TARGET)/modules

# Some thousand changes of the code, each built and tested: days for all of them, minutes for a shard.
MUTANTS := 27.1.0
mutants:
	@scripts/setup.sh run
	@[ -x $(TARGET)/mutants-$(MUTANTS)/bin/cargo-mutants ] || { echo "building cargo-mutants: some minutes, the first time" && \
	  cargo install --quiet --locked cargo-mutants --version $(MUTANTS) --root $(TARGET)/mutants-$(MUTANTS) --target-dir $(TARGET)/mutants-build; }
	@rm -rf $(TARGET)/mutants-build
	@PATH="$(abspath $(TARGET)/mutants-$(MUTANTS)/bin):$$PATH" cargo mutants -o $(TARGET)/mutants --sharding round-robin $(FLAGS)

# Its search needs a server, as browsers let no page read files beside it.
docs:
	@python3 -c 'import venv, ensurepip' 2>/dev/null || { echo "make docs: python3-venv is not installed: apt-get install python3-venv" >&2; exit 1; }
	@[ -x $(TARGET)/docs-venv/bin/python ] || python3 -m venv $(TARGET)/docs-venv
	@$(TARGET)/docs-venv/bin/python -m pip install --quiet --disable-pip-version-check 'mkdocs==1.6.*'
	@$(TARGET)/docs-venv/bin/python scripts/site.py $(TARGET)/docs
	@echo "$(TARGET)/docs/index.html; with its search: python3 -m http.server --bind 127.0.0.1 --directory $(TARGET)/docs"

# fastsock apart: in one build with the command its own calls would be the C library's, as the command's are, and not raw ones.
build:
	@scripts/setup.sh run
	cargo build --release --locked --package pipegauge
	cargo build --release --locked --package fastsock --package strata --package strata-c --package am-c --package fastsock-native

# What is built is installed: root need not have a compiler.
install:
	@[ -x $(PROGRAM) ] || $(MAKE) --no-print-directory build
	@scripts/install.sh $(PROGRAM) $(DESTDIR)$(PREFIX)

clean:
	cargo clean
