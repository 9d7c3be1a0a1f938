# Tidemark. `make demo` and `make test` do all of their own set-up.

export SWIFT ?= swift
# The targets that the long tests compute in are optimised, in debug builds too; 0 leaves that out, for a debugger.
export TIDEMARK_OPTIMIZED ?= 1
ARGS ?=

# The first target: `make` alone lists what there is.
help:
	@echo "make demo          play five apps as they were and on Tidemark, and compare: 6 minutes; ARGS=--full plays all"
	@echo "make show          watch an app on two phones in a browser, as it was and on Tidemark; ARGS=homes for another app"
	@echo "make test          run every test"
	@echo "make docs          build the documentation, and check every link and symbol in it"
	@echo "make serve         start a local Firestore: ARGS=\"--data ./data\""
	@echo "make bench         measure speed as ratios; bench-client, bench-app, bench-server, bench-health and bench-lint hold it to limits"
	@echo "make long          run the random tests for an hour"
	@echo "make ci            run what CI runs"
	@echo "make check-apple   compile and run the code for Apple's systems, on stubs"
	@echo "make check-views   type-check the SwiftUI views of the example apps, on a stub of SwiftUI"
	@echo "make format, lint  format the code, or check its format"

.PHONY: help demo show test debug-build docs long ci setup format lint run-tests check-apple check-views interop demo-small serve bench bench-server bench-client bench-encryption bench-caller bench-app bench-health bench-lint results tables screenshots proto races clean

# Plays a generated history against local servers: three clients of one feed, then what users of a chat app, of
# a messaging app, of a fitness app and of a feed of pictures do, a sign-up and a launch, on the networks that
# tell most, before and after. Prints a summary, and names the file with the rest. Fails when something is
# wrong; a time that is too long is a remark.
# Options go in ARGS: make demo ARGS="--full --json out.json", ARGS="--verbose --history FILE.jsonl"
demo: setup
	@Scripts/build -c release --product tidemark
	@.build/release/tidemark demo all $(ARGS)

# Two phones side by side in a browser, on the same server and the same events: the app as it was, and on
# Tidemark. The network, kills, other people and the clock are buttons. Options go in ARGS:
# make show ARGS="homes", ARGS="stamps --record show.jsonl", ARGS="--playback show.jsonl"
show: setup
	@Scripts/build -c release --product tidemark
	@.build/release/tidemark show $(ARGS)

# What the tests need, product by product: `swift build --build-tests` builds every tool of every dependency
# as well, among them 190 files of C++. No target may import a module that it does not declare.
debug-build:
	@for product in tidemarkPackageTests tidemark tidemark-lint Benchmarks; do \
		Scripts/build --explicit-target-dependency-import-check error --product $$product || exit 1; done

# Every test: unit, property, engine, server over sockets, and other people's clients.
# What needs something that is not here is named in one line at the end.
test: setup
	@$(MAKE) --no-print-directory debug-build
	@$(MAKE) --no-print-directory run-tests

# The tests alone, on the build that is there: Swift's in two processes, and the interop tests in a third beside them.
run-tests:
	@Scripts/tests

# The catalogues of all modules, with the toolchain's docc: every warning is an error. Uses the debug build,
# and prints where the result is and how to read it.
docs: setup
	@Scripts/docs

# For an hour what the tests do for seconds: 200 kills under load, five stories on three networks, an export of
# a million documents, attacks that last, a million damaged messages, 10,000 seeds of the listen checker, 20,000 of the World, as
# many of feeds and of processes that share a cache, 3,000 of backfills, 100,000 random queries on the cache, 500 of pages from disk, a loss of
# power at each write of a schema step, and the soak alone in its process; then what works on real threads,
# under ThreadSanitizer. What fails says its seed.
long: setup
	@$(MAKE) --no-print-directory debug-build
	TIDEMARK_KILL_ROUNDS=200 Scripts/interop -s -k again_and_again
	TIDEMARK_SHOW_STORIES=all TIDEMARK_SHOW_SECONDS=600 Scripts/interop -s -k test_show.py
	TIDEMARK_CHANNEL_DROPS=1000 TIDEMARK_CHANNEL_DOCUMENTS=100000 Scripts/interop -s -k test_webchannel.py
	TIDEMARK_EXPORT_DOCUMENTS=1000000 Scripts/interop -s -k test_export_memory
	TIDEMARK_ATTACK_HANDSHAKES=10500 Scripts/interop -s -k test_attacks.py
	TIDEMARK_FUZZ_MESSAGES=1000000 $(SWIFT) test --skip-build --filter FuzzTests
	TIDEMARK_FUZZ_EXPORTS=100000 $(SWIFT) test --skip-build --filter ScannerFuzzTests
	TIDEMARK_FUZZ_PICTURES=1000000 $(SWIFT) test --skip-build --filter PictureFuzzTests
	TIDEMARK_FUZZ_EXPORT_FOLDERS=10000 $(SWIFT) test --skip-build --filter DamagedExportTests
	TIDEMARK_LISTEN_SEEDS="0..<10000" $(SWIFT) test --skip-build --filter ListenCheckerTests
	TIDEMARK_QUERY_CASES=100000 $(SWIFT) test --skip-build --filter CacheQueryTests
	TIDEMARK_RULES_PROOFS=100000 TIDEMARK_FUZZ_RULES=200000 $(SWIFT) test --skip-build --filter TidemarkRulesTests
	TIDEMARK_SOAK_SECONDS=3600 $(SWIFT) test --skip-build --filter SoakTests
	TIDEMARK_WORLD_SEEDS="0..<20000" $(SWIFT) test --skip-build --filter TidemarkWorldTests.WorldTests
	TIDEMARK_SHARED_SEEDS="0..<20000" $(SWIFT) test --skip-build --filter TidemarkWorldTests.SharedHistoryTests
	TIDEMARK_FEED_SEEDS="0..<20000" TIDEMARK_BOUNDED_SEEDS="0..<10000" $(SWIFT) test --skip-build --filter TidemarkWorldTests.FeedHistoryTests
	TIDEMARK_BACKFILL_SEEDS="0..<3000" $(SWIFT) test --skip-build --filter TidemarkWorldTests.BackfillHistoryTests
	TIDEMARK_PAGE_SEEDS="0..<500" $(SWIFT) test --skip-build --filter TidemarkWorldTests.PageHistoryTests
	TIDEMARK_DISK_SEEDS="0..<5000" $(SWIFT) test --skip-build --filter TidemarkDiskTests
	$(MAKE) --no-print-directory races

# Engine, pagers, pictures and accounts on real threads under ThreadSanitizer, in a build of its own.
races: setup
	@Scripts/races

# What CI runs: the format, what may import what, every test, and the demo as a test of the whole.
ci: setup
	@.ci/run

setup:
	@Scripts/setup

format:
	$(SWIFT) format --in-place --recursive --parallel --configuration .swift-format Sources Examples Tests Benchmarks Plugins Tools Package.swift

lint:
	$(SWIFT) format lint --strict --recursive --parallel --configuration .swift-format Sources Examples Tests Benchmarks Plugins Tools Package.swift

# The code for Apple's systems, on stubs with Apple's names (Tools/AppleCheck): a small package of its own.
check-apple:
	@Scripts/check-apple

# The views of the example apps, on the stub of SwiftUI there. Uses the debug build that the tests made.
check-views:
	@Scripts/check-views

# Google's Python client against `tidemark serve`. Uses the debug build that the tests made.
interop:
	@Scripts/interop

# All five journeys, small, for CI.
demo-small:
	@Scripts/build --product tidemark
	@.build/debug/tidemark demo all --limit 500 --opens 24 --small $(ARGS)

serve: setup
	@Scripts/build -c release --product tidemark
	@.build/release/tidemark serve $(ARGS)

# Speed, as ratios to raw SQLite and to an empty gRPC call measured in the same run, each with its bar; then
# the tests that measure what a browser waits for. Fails when a bar is missed.
# One suite, or figures for a file: make bench ARGS="server --json FILE"
bench: setup
	@Scripts/build -c release --product tidemark
	@$(SWIFT) run -c release Benchmarks $(ARGS)
	@TIDEMARK=.build/release/tidemark TIDEMARK_TIMES=1 Scripts/interop -m times

# The server against its thresholds (Benchmarks/Bars/Bars.swift), on a machine that does nothing else.
# Fails when one is missed. An hour of mixed load: make bench-server ARGS="--soak 60"
bench-server: setup
	@Scripts/build -c release --product tidemark
	@$(SWIFT) run -c release Benchmarks bars $(ARGS)

# The client's workload beside the figures of Google's own client and raw SQLite: JSON lines. Fails when
# a threshold (Benchmarks/Client/ClientFigures.swift) is missed. Part of it: ARGS="--count 11000"
bench-client: setup
	@Scripts/build -c release --product Benchmarks
	@.build/release/Benchmarks client steps $(ARGS)

# What an app waits for at the public API, from 1,000 to 1,000,000 documents: JSON lines. Fails when a
# threshold (Benchmarks/Caller/CallerFigures.swift) is missed. Part of it: ARGS="--count 100000 --only rows"
bench-caller: setup
	@Scripts/build -c release --product Benchmarks
	@.build/release/Benchmarks caller $(ARGS)

# The client's workload with an encrypted cache, beside one that is not. Fails where a step takes over 1.3 times
# as long. Options: ARGS="--count 11000 --only writes"
bench-encryption: setup
	@Scripts/build -c release --product Benchmarks
	@.build/release/Benchmarks encryption $(ARGS)

# Health exports of 10 MB to 1 GB, imported and, in the same run, read by Python's xml.etree. Larger:
# ARGS="--sizes 5000". Fails below 150 MB/s, above 64 MB, or when a day's total is not what was generated.
bench-health: setup
	@Scripts/build -c release --product tidemark
	@Scripts/bench-health $(ARGS)

# A generated app of 100,000 lines of Swift, linted. Fails above 10 s. Options: ARGS="--lines 20000"
bench-lint: setup
	@Scripts/build -c release --product tidemark-lint
	@Scripts/bench-lint $(ARGS)

# Feeds, pages from disk, retries and single flight against their thresholds (Benchmarks/App/AppFigures.swift),
# on a machine that does nothing else. Fails when one is missed. Part of it: ARGS="--only retry"
bench-app: setup
	@Scripts/build -c release --product Benchmarks
	@.build/release/Benchmarks app $(ARGS)

# Every suite in release, one whole run each, kept in Benchmarks/Results, and the documents' tables made
# from them. Some of them: ARGS="client caller". On a machine that does nothing else.
results: setup
	@Scripts/build -c release --product tidemark
	@Scripts/build -c release --product Benchmarks
	@Scripts/results $(if $(ARGS),$(ARGS),all)
	@Scripts/tables

# The documents' tables alone, from the results that are there.
tables:
	@Scripts/tables

# Pictures of the console into Documentation/Pictures, in a headless browser. Uses the debug build.
screenshots: setup
	@$(SWIFT) build --product tidemark
	@Scripts/screenshots

proto:
	@Scripts/generate-proto

clean:
	rm -rf .build .build-tsan Tests/Interop/.venv
