# What one can do here. `make` lists it; `make test` is everything that has to pass before a commit.
.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help needs demo install test fmt lint fmt-check clippy tidy deny typos unit cassandra cassandra-store \
	cassandra-server cassandra-tuned cassandra-braid cassandra-verify cassandra-secured cassandra-datacenters kafka faults faults-short faults-store faults-server faults-pipeline \
	doc-tests doc bench bench-cassandra kill proof proof-sim proof-model verify verify-suite verify-embedded \
	verify-million clean

# How often the kill suite kills.
KILLS ?= 200

# What dev/cassandra runs on, and what makes certificates for a node that asks for them.
CASSANDRA_NEEDS = java17 mvn python3 flock
SECURED_NEEDS = openssl
# What dev/kafka runs on.
KAFKA_NEEDS = java17 mvn python3 flock
# Kafka's client is built from its source, with an OpenSSL of its own.
BUILD_NEEDS = cc make perl

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# How much the demo writes: s, m or l.
SCALE ?= m
# Where it writes to: embedded or cassandra. A node that is started for it stays; `dev/cassandra wipe` removes it.
BACKEND ?= embedded
# How its workers hear of what is wide: embedded or kafka. A broker that is started for it stays; `dev/kafka wipe` removes it.
QUEUE ?= embedded

demo: ## the main job from nothing: import, read, split, compare, move reads, check, tune (SCALE=s|m|l BACKEND=cassandra QUEUE=kafka)
	@dev/needs $(BUILD_NEEDS) $(if $(filter cassandra,$(BACKEND)),$(CASSANDRA_NEEDS)) $(if $(filter kafka,$(QUEUE)),$(KAFKA_NEEDS))
	@dev/stage build cargo build --release --locked -p cli
	@$(if $(filter cassandra,$(BACKEND)),dev/cassandra start)
	@$(if $(filter kafka,$(QUEUE)),dev/kafka start)
	@$(if $(filter kafka,$(QUEUE)),BRAID__QUEUE__KAFKA__BOOTSTRAP_SERVERS=127.0.0.1:19092) \
		cargo run --release --quiet --locked -p cli -- demo --scale $(SCALE) --backend $(BACKEND) --queue $(QUEUE)

install: ## put `braid` into cargo's bin directory
	@cargo install --locked --path crates/cli

# The README's commands are tests, and one of them is curl.
needs:
	@dev/needs $(BUILD_NEEDS) python3 curl unshare $(CASSANDRA_NEEDS) $(KAFKA_NEEDS) $(SECURED_NEEDS)

test: needs fmt-check clippy tidy deny typos doc doc-tests unit verify-suite verify-embedded kafka cassandra faults-short ## everything, cheapest first

fmt: ## format the code
	@cargo fmt --all

lint: fmt-check clippy tidy deny typos ## everything that reads the code without running it

fmt-check:
	@dev/stage fmt cargo fmt --all --check

# --locked here, in the first stage that resolves: a manifest changed without Cargo.lock fails early.
clippy:
	@dev/stage clippy cargo clippy --locked --workspace --all-targets --all-features -- -D warnings

tidy: ## house rules (`cargo xtask rules` lists them)
	@dev/stage -v tidy cargo xtask tidy

deny: ## licences, sources and banned crates
	@dev/stage deny cargo xtask deny

typos: ## spelling
	@dev/stage typos cargo xtask typos

# Every failure in one run, so --no-fail-fast; without --all-targets, which would run the benches. The same features
# everywhere, so that nothing is built twice.
TESTS = cargo test --workspace --all-features --no-fail-fast

unit: ## unit and integration tests; those that need neither Cassandra nor Kafka
	@dev/stage -v unit $(TESTS) --lib --bins
	@dev/stage -v tests $(TESTS) --exclude store-cassandra --exclude queue-kafka --exclude server --exclude cli --test '*'
	@dev/stage -v tests-server $(TESTS) --test serve --test braid

# By another name: make runs a line with the real one also under -n, which only shows.
AGAIN = $(MAKE) --no-print-directory

# Two cores serve the node and the tests: more tests at a time only wait for each other.
cassandra: ## the suites on a real Cassandra: the store's, the server's over it, the tuner's, demo and doctor, the offline verifier's, a secured node, two data centres
	@dev/needs $(CASSANDRA_NEEDS) $(SECURED_NEEDS)
	@dev/stage -v cassandra dev/with-cassandra $(AGAIN) --keep-going cassandra-store cassandra-server cassandra-tuned cassandra-braid cassandra-verify
	@$(AGAIN) --keep-going cassandra-secured cassandra-datacenters

cassandra-store:
	@dev/stage -v cassandra-store $(TESTS) --test cassandra --test sizes

cassandra-server:
	@BRAID_TEST_BACKEND=cassandra dev/stage -v cassandra-server $(TESTS) --test serve -- --test-threads 4

# Apart from the others: nodetool fails where somebody drops a table meanwhile.
cassandra-tuned:
	@dev/stage -v cassandra-tuned $(TESTS) --test tuned

cassandra-braid:
	@BRAID_TEST_BACKEND=cassandra dev/stage -v cassandra-braid $(TESTS) --test braid -- demo doctor backfill import_names stops_reading
	@dev/stage -v cassandra-servers $(TESTS) --test several

# The second stage takes what the program itself writes, built as the tests build it.
cassandra-verify:
	@dev/stage -v cassandra-verify dev/verify --test-cassandra
	@dev/stage build-braid cargo build --workspace --all-features --bin braid
	@dev/stage -v cassandra-story dev/verify --story $(BUILT)/debug/braid --scale s --backend cassandra

# A node of its own, which is gone afterwards.
cassandra-secured:
	@dev/stage -v cassandra-secured $(TESTS) --test secured

# Two nodes of its own, a data centre each.
cassandra-datacenters:
	@dev/stage -v cassandra-datacenters $(TESTS) --test datacenters

kafka: ## the queue on a real Kafka, plain and secured
	@dev/needs $(KAFKA_NEEDS) $(SECURED_NEEDS)
	@dev/stage -v kafka $(TESTS) --test kafka

# After the others: these start clusters of their own, which want the machine to themselves.
faults: ## clusters, brokers, servers and workers that fail under a checked workload: every fault at every stage of a split
	@BRAID_FAULTS=long $(AGAIN) faults-store faults-server faults-pipeline

faults-short: faults-store faults-server faults-pipeline ## the same with the faults that differ most

faults-store:
	@dev/needs $(CASSANDRA_NEEDS)
	@dev/stage -v faults-store $(TESTS) --test faults -- --nocapture

faults-server:
	@dev/needs $(CASSANDRA_NEEDS)
	@dev/stage -v faults-server $(TESTS) --test outage --test split_cluster -- --nocapture

faults-pipeline:
	@dev/needs $(CASSANDRA_NEEDS) $(KAFKA_NEEDS)
	@dev/stage -v faults-pipeline $(TESTS) --test pipeline -- --nocapture

doc-tests:
	@dev/stage -v doc-tests cargo test --workspace --all-features --doc

doc: ## build the documentation; a warning fails
	@RUSTDOCFLAGS="-D warnings" dev/stage doc cargo doc --workspace --all-features --no-deps

# The binary first: the questions about the server run it as it is shipped.
bench: ## measure (QUICK=1 for a short run)
	@cargo build --release -p cli
	@$(if $(QUICK),QUICK=$(QUICK)) cargo run --release -p bench

BENCH_CASSANDRA = cassandra-write cassandra-drain cassandra-read cassandra-wide cassandra-split cassandra-split-read \
	cassandra-packed cassandra-packed-large cassandra-packed-others cassandra-hot

bench-cassandra: ## measure over a real Cassandra, beside its driver (QUICK=1 for a short run)
	@dev/needs $(CASSANDRA_NEEDS)
	@cargo build --release -p cli -p bench
	@$(if $(QUICK),QUICK=$(QUICK)) dev/with-cassandra cargo run --release --quiet -p bench -- $(BENCH_CASSANDRA)

kill: ## kill -9 the embedded store and the server KILLS times (200) each and look for lost writes
	@BRAID_KILLS=$(KILLS) dev/stage -v kill cargo test -p store-embedded --all-features --test crash kill -- --nocapture
	@BRAID_KILLS=$(KILLS) dev/stage -v kill-server cargo test -p cli --test braid kill -- --nocapture

# How many seeds the simulation plays.
SEEDS ?= 1000

proof: proof-sim proof-model ## play SEEDS seeds of the simulation, and explore the models within large bounds

proof-sim:
	@SIM_SEEDS=$(SEEDS) dev/stage -v proof-sim cargo test -p sim --test play -- --nocapture

proof-model:
	@cargo run --release --locked -p proof -- model --large

BUILT = $(abspath $(or $(CARGO_TARGET_DIR),target))

# The program makes data and export; what verifies them shares nothing with it.
verify-suite: ## the offline verifier on exports that it makes itself, spoiled in every way: DuckDB, and Spark on a small one
	@dev/needs java17 python3
	@dev/stage -v verify dev/verify --test

# Built as the tests build it, so that nothing is built twice.
verify-embedded: ## rows spoiled in the embedded store itself, which the offline verifier has to name
	@dev/needs $(BUILD_NEEDS) python3 java17
	@dev/stage build-spoiler cargo build --workspace --all-features --bin braid --bin store-spoiler
	@BRAID=$(BUILT)/debug/braid SPOILER=$(BUILT)/debug/store-spoiler dev/stage -v verify-embedded dev/verify --test-embedded

verify-million: ## one row among a million, spoiled in every way in both stores (make test: among some thousands)
	@dev/needs $(BUILD_NEEDS) python3 $(CASSANDRA_NEEDS)
	@dev/stage build cargo build --release --locked -p cli
	@dev/stage build-spoiler cargo build --release --locked -p store-embedded --bin store-spoiler
	@BRAID_VERIFY_ROWS=1000000 BRAID=$(BUILT)/release/braid SPOILER=$(BUILT)/release/store-spoiler \
		dev/stage -v million-embedded dev/verify --test-embedded
	@BRAID_VERIFY_ROWS=1000000 dev/stage -v million-cassandra dev/with-cassandra dev/verify --test-cassandra -k spoiled

verify: ## splits proven a second time, from nothing: data, splits, export, DuckDB, Spark, report (SCALE, BACKEND as for demo)
	@dev/needs $(BUILD_NEEDS) python3 java17 $(if $(filter cassandra,$(BACKEND)),$(CASSANDRA_NEEDS))
	@dev/stage build cargo build --release --locked -p cli
	@$(if $(filter cassandra,$(BACKEND)),dev/cassandra start)
	@dev/verify --story $${CARGO_TARGET_DIR:-target}/release/braid --scale $(SCALE) --backend $(BACKEND)

clean: ## remove what was built
	@cargo clean
