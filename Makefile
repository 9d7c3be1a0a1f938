# The Makefile of Tidemark. `make demo` and `make test` install their own requirements.

export SWIFT ?= swift
# Optimises the targets in which the long tests compute, in debug builds too. Use 0 for a debugger.
export TIDEMARK_OPTIMIZED ?= 1
ARGS ?=

# This target is the first, so `make` alone lists the targets.
help:
	@echo "make demo          play five apps as they were and on Tidemark, and compare: 8 minutes; ARGS=--full plays all"
	@echo "make show          watch an app on two phones in a browser, as it was and on Tidemark; ARGS=homes for another app"
	@echo "make test          run every test"
	@echo "make docs          build the documentation, and check every link and symbol in it"
	@echo "make serve         start a local Firestore: ARGS=\"--data ./data\""
	@echo "make bench         measure speed as ratios; bench-client, bench-app, bench-server, bench-health, bench-reads and bench-lint hold it to limits"
	@echo "make long          run the random tests for an hour"
	@echo "make ci            run what CI runs"
	@echo "make check-apple   compile and run the code for Apple's systems, on stubs"
	@echo "make check-views   type-check the screens of the example apps, on stubs of SwiftUI and UIKit"
	@echo "make format, lint  format the code, or check its format"
	@echo "make commits       check the messages of your commits"

.PHONY: help demo show show-page test debug-build docs long ci setup format lint commits run-tests check-apple check-views interop demo-small serve bench bench-server bench-waits bench-client bench-encryption bench-caller bench-app bench-health bench-takeover bench-pipelines bench-files bench-lint bench-reads results tables screenshots proto races delays clean

# Plays a generated history against local servers, before and after: three clients of one feed, then
# the users of a chat app, of a messaging app, of a fitness app and of a feed of pictures, a sign-up
# and a launch, on the networks that show most about them. Prints a summary, and the name of the
# file with the rest. Fails if a requirement does not hold; a time that is too long is a remark.
# Options go in ARGS: make demo ARGS="--full --json out.json",
# ARGS="--verbose --history FILE.jsonl"
demo: setup
	@Scripts/build -c release --product tidemark
	@Scripts/build -c release --product tidemark-lab
	@.build/release/tidemark-lab demo all $(ARGS)

# Shows two phones side by side in a browser, on the same server and with the same events: the app
# as it was, and the app on Tidemark. Buttons control the network, kills, other users and the clock.
# Options go in ARGS:
# make show ARGS="homes", ARGS="stamps --record show.jsonl", ARGS="--playback show.jsonl"
show: setup
	@Scripts/build -c release --product tidemark-lab
	@.build/release/tidemark-lab show $(ARGS)

# Writes the recorded show that README links to, Documentation/Show.html: the story of one app, from a
# release build.
show-page: setup
	@Scripts/build -c release --product tidemark-lab
	@Scripts/show-page $(ARGS)

# Builds the tests, and the programs that they run: the target `ProgramTests` depends on these.
# `swift build --build-tests` would build every tool of every dependency, too, among them 190 files
# of C++. No target may import a module without declaring it.
debug-build:
	@Scripts/build --explicit-target-dependency-import-check error --product tidemarkPackageTests
	@Scripts/sizes

# Runs every test: unit, property, engine, server over sockets, and clients of others. A line at the
# end names the tests that could not run here.
test: setup
	@$(MAKE) --no-print-directory debug-build
	@$(MAKE) --no-print-directory run-tests

# Runs the tests on the existing build: Swift's in two processes, and the interop tests in a third
# one beside them.
run-tests:
	@Scripts/tests

# Builds the catalogues of all modules with the toolchain's docc; every warning is an error. Uses
# the debug build, and prints the place of the result and how to read it.
docs: setup
	@Scripts/docs

# Runs for an hour what the tests do for seconds: 200 kills under load, 10,000 events for functions
# under 20 kills, five stories on three networks, an export of a million documents, long attacks, a
# million damaged messages, 10,000 seeds
# of the listen checker, 5,000 random pipelines on each real place, 20,000 of the World, as many with
# live pipelines, 20,000 of feeds and of
# processes that share a cache,
# 3,000 of backfills, 100,000 random queries on the cache, 500 seeds of pages from disk, a loss of
# power at each write of a schema step, and the soak alone in its process; then the code on real
# threads, under ThreadSanitizer. A failure prints its seed.
long: setup
	@$(MAKE) --no-print-directory debug-build
	TIDEMARK_KILL_ROUNDS=200 Scripts/interop -s -k again_and_again
	TIDEMARK_KILL_ROUNDS=20 TIDEMARK_KILL_EVENTS=500 TIDEMARK_KILL_DOCUMENTS=200 Scripts/interop -s -k test_deliveries_with_kills
	TIDEMARK_SHOW_STORIES=all TIDEMARK_SHOW_SECONDS=600 Scripts/interop -s -k test_show.py
	TIDEMARK_CHANNEL_DROPS=1000 TIDEMARK_CHANNEL_DOCUMENTS=100000 Scripts/interop -s -k test_webchannel.py
	TIDEMARK_LARGE_FILE=4294967296 Scripts/interop -s -k test_a_large_file_needs_little_memory_of_the_app
	TIDEMARK_EXPORT_DOCUMENTS=1000000 Scripts/interop -s -k test_export_memory
	TIDEMARK_ATTACK_HANDSHAKES=10500 Scripts/interop -s -k test_attacks.py
	TIDEMARK_FUZZ_MESSAGES=1000000 $(SWIFT) test --skip-build --filter FuzzTests
	TIDEMARK_FUZZ_EXPORTS=100000 $(SWIFT) test --skip-build --filter ScannerFuzzTests
	TIDEMARK_FUZZ_PICTURES=1000000 $(SWIFT) test --skip-build --filter PictureFuzzTests
	TIDEMARK_FUZZ_EXPORT_FOLDERS=10000 $(SWIFT) test --skip-build --filter DamagedExportTests
	TIDEMARK_LISTEN_SEEDS="0..<10000" $(SWIFT) test --skip-build --filter ListenCheckerTests
	TIDEMARK_QUERY_CASES=100000 $(SWIFT) test --skip-build --filter CacheQueryTests
	TIDEMARK_RULES_PROOFS=100000 TIDEMARK_FUZZ_RULES=200000 $(SWIFT) test --skip-build --filter TidemarkRulesTests
	TIDEMARK_PIPELINES=200000 $(SWIFT) test --skip-build --filter TidemarkPipelinesTests
	TIDEMARK_PLACE_PIPELINES=5000 $(SWIFT) test --skip-build --filter TidemarkLivePipelinesTests
	TIDEMARK_SOAK_SECONDS=3600 $(SWIFT) test --skip-build --filter SoakTests
	TIDEMARK_WORLD_SEEDS="0..<20000" $(SWIFT) test --skip-build --filter TidemarkWorldTests.WorldTests
	TIDEMARK_LIVE_SEEDS="0..<20000" $(SWIFT) test --skip-build --filter TidemarkWorldTests.LiveWorldTests
	TIDEMARK_SHARED_SEEDS="0..<20000" $(SWIFT) test --skip-build --filter TidemarkWorldTests.SharedHistoryTests
	TIDEMARK_FEED_SEEDS="0..<20000" TIDEMARK_BOUNDED_SEEDS="0..<10000" $(SWIFT) test --skip-build --filter TidemarkWorldTests.FeedHistoryTests
	TIDEMARK_BACKFILL_SEEDS="0..<3000" $(SWIFT) test --skip-build --filter TidemarkWorldTests.BackfillHistoryTests
	TIDEMARK_MIGRATION_SEEDS="0..<10000" $(SWIFT) test --skip-build --filter TidemarkMigrationTests.FillHistoryTests
	TIDEMARK_PLAN_SEEDS="0..<20000" $(SWIFT) test --skip-build --filter PagerPlanTests
	TIDEMARK_LIVE_PLAN_SEEDS="0..<20000" $(SWIFT) test --skip-build --filter LivePlanTests
	TIDEMARK_BUDGET_DAYS="0..<10000" $(SWIFT) test --skip-build --filter TidemarkSyncTests.BudgetHistoryTests
	TIDEMARK_STORE_SEEDS="0..<5000" $(SWIFT) test --skip-build --filter "A reader of FirebaseFirestore"
	TIDEMARK_OBJECT_SEEDS="0..<20000" $(SWIFT) test --skip-build --filter TidemarkObjectsTests.ObjectHistoryTests
	TIDEMARK_UPLOAD_SEEDS="0..<1000000" $(SWIFT) test --skip-build --filter TidemarkFilesTests.UploadHistoryTests
	TIDEMARK_FILE_SEEDS="0..<20000" $(SWIFT) test --skip-build --filter TidemarkFilesTests.FileWorldTests
	TIDEMARK_PAGE_SEEDS="0..<500" $(SWIFT) test --skip-build --filter TidemarkWorldTests.PageHistoryTests
	TIDEMARK_DISK_SEEDS="0..<5000" $(SWIFT) test --skip-build --filter TidemarkDiskTests
	.build/debug/Benchmarks takeover --count 100000 --document-bytes 20000 --only "peak memory"
	$(MAKE) --no-print-directory races

# Runs the engine, pagers, pictures, accounts and a server's executor on real threads under
# ThreadSanitizer, in a separate build.
races: setup
	@Scripts/races

# Runs the tests of models, files and example apps while tasks begin late at random, with the seeds
# of SEEDS: make delays SEEDS=1..3. Linux only.
delays: setup
	@Scripts/delays $(SEEDS)

# Runs the checks of CI: the format, the imports, every test, the documentation, the example apps'
# views, the code for Apple's systems, and the demo as a test of the whole.
ci: setup
	@.ci/run

setup:
	@Scripts/setup

format:
	$(SWIFT) format --in-place --recursive --parallel --configuration .swift-format Sources Examples Tests Benchmarks Plugins Tools Package.swift

lint:
	$(SWIFT) format lint --strict --recursive --parallel --configuration .swift-format Sources Examples Tests Benchmarks Plugins Tools Package.swift

# The messages of the commits since origin/main; of others: ARGS="HEAD~3..HEAD"
commits:
	@Scripts/commits $(ARGS)

# Compiles the code for Apple's systems on stubs with Apple's names (Tools/AppleCheck), in separate
# packages.
check-apple:
	@Scripts/check-apple

# Type-checks the views of the example apps on the stub of SwiftUI. Uses the debug build of the
# tests.
check-views:
	@Scripts/check-views

# Runs Google's Python client against `tidemark serve`. Uses the debug build of the tests.
interop:
	@Scripts/interop

# Plays all five journeys at a small size, for CI. TIDEMARK_BUILT=1 plays the program that is built.
demo-small:
	@[ "$$TIDEMARK_BUILT" = 1 ] || { Scripts/build --product tidemark && Scripts/build --product tidemark-lab; }
	@.build/debug/tidemark-lab demo all --limit 500 --opens 24 --small $(ARGS)

serve: setup
	@Scripts/build -c release --product tidemark
	@.build/release/tidemark serve $(ARGS)

# Measures speed as ratios to raw SQLite and to an empty gRPC call in the same run, with bars; then
# runs the tests that measure a browser's waiting times. Fails if a bar is missed.
# One suite, or figures for a file: make bench ARGS="server --json FILE"
bench: setup
	@Scripts/build -c release --product tidemark
	@Scripts/build -c release --product tidemark-lab
	@Scripts/build -c release --product Benchmarks
	@.build/release/Benchmarks $(ARGS)
	@TIDEMARK=.build/release/tidemark TIDEMARK_TIMES=1 Scripts/interop -m times

# Measures the server against its limits (Benchmarks/Bars/Bars.swift), on a machine that does
# nothing else. Fails if a limit is missed.
# An hour of mixed load: make bench-server ARGS="--soak 60"
bench-server: setup
	@Scripts/build -c release --product tidemark
	@Scripts/build -c release --product Benchmarks
	@.build/release/Benchmarks bars $(ARGS)

# Measures the longest wait of a client's call while others ask for all pages of the console. Fails
# if a call waits for 50 ms or longer.
bench-waits: setup
	@Scripts/build -c release --product tidemark
	@Scripts/build -c release --product Benchmarks
	@.build/release/Benchmarks bars --only "longest get" $(ARGS)

# Measures the client's workload beside the figures of Google's own client and of raw SQLite, as
# JSON lines. Fails if a limit (Benchmarks/Client/ClientFigures.swift) is missed.
# A part of the workload: ARGS="--count 11000"
bench-client: setup
	@Scripts/build -c release --product Benchmarks
	@.build/release/Benchmarks client steps $(ARGS)

# Measures an app's waiting times at the public API, from 1,000 to 1,000,000 documents, as JSON
# lines. Fails if a limit (Benchmarks/Caller/CallerFigures.swift) is missed.
# A part of the workload: ARGS="--count 100000 --only rows"
bench-caller: setup
	@Scripts/build -c release --product Benchmarks
	@.build/release/Benchmarks caller $(ARGS)

# Measures the client's workload with an encrypted cache, beside a plain one. Fails if a step takes
# over 1.3 times as long. Options: ARGS="--count 11000 --only writes"
bench-encryption: setup
	@Scripts/build -c release --product Benchmarks
	@.build/release/Benchmarks encryption $(ARGS)

# Takes over a store of FirebaseFirestore with 100,000 documents, each time in a process of its own.
# Fails if the first screen, the whole or the memory misses its limit
# (Benchmarks/TakeOver/TakeOverFigures.swift).
# Other sizes: ARGS="--count 500000"; a store of 2 GB: ARGS="--document-bytes 20000"
bench-takeover: setup
	@Scripts/build -c release --product Benchmarks
	@.build/release/Benchmarks takeover $(ARGS)

# Imports health exports of 10 MB to 1 GB, and reads them with Python's xml.etree in the same run.
# Fails below 150 MB/s, above 64 MB, or if a day's total differs from the generated one.
# Larger exports: ARGS="--sizes 5000"
# Then reads ten years of heart rates from a scripted HealthKit, beside plain SQLite. Fails if a limit
# (Benchmarks/Health/HealthKitFigures.swift) is missed.
bench-health: setup
	@Scripts/build -c release --product tidemark
	@Scripts/build -c release --product tidemark-lab
	@Scripts/build -c release --product Benchmarks
	@Scripts/bench-health $(ARGS)
	@.build/release/Benchmarks healthkit

# Measures pipelines on the device among a million documents: figures by group beside raw SQLite's
# scan, a live figure after one change, and a page beside its query. Fails if a limit
# (Benchmarks/Pipelines/PipelineSuite.swift) is missed. Fewer documents: ARGS="--count 100000"
bench-pipelines: setup
	@Scripts/build -c release --product Benchmarks
	@.build/release/Benchmarks pipelines $(ARGS)

# Uploads 64 MiB through the outbox of files beside a plain PUT, and opens a queue of 10,000 files beside
# an empty one, by turns. Fails if a limit (Benchmarks/Files/FileFigures.swift) is missed.
bench-files: setup
	@Scripts/build -c release --product Benchmarks
	@.build/release/Benchmarks files

# Lints a generated app of 100,000 lines of Swift. Fails above 10 s. Options: ARGS="--lines 20000"
bench-lint: setup
	@Scripts/build -c release --product tidemark-lint
	@Scripts/bench-lint $(ARGS)

# Runs a suite of Google's Python client alone and under `tidemark reads check`, by turns, and
# compares the times. Fails above 1.1 times. More rounds: ARGS="--rounds 31"
bench-reads: setup
	@Scripts/build -c release --product tidemark
	@TIDEMARK_INTEROP_SETUP=1 Scripts/interop
	@Scripts/bench-reads $(ARGS)

# Measures feeds, pages from disk, retries and single flight against their limits
# (Benchmarks/App/AppFigures.swift), on a machine that does nothing else. Fails if a limit is
# missed.
# A part: ARGS="--only retry"
bench-app: setup
	@Scripts/build -c release --product Benchmarks
	@.build/release/Benchmarks app $(ARGS)

# Runs every suite in release, one complete run each, stores the results in Benchmarks/Results, and
# makes the documents' tables from them. Needs a machine that does nothing else.
# Some of the suites: ARGS="client caller"
results: setup
	@Scripts/build -c release --product tidemark
	@Scripts/build -c release --product tidemark-lab
	@Scripts/build -c release --product Benchmarks
	@TIDEMARK_INTEROP_SETUP=1 Scripts/interop
	@Scripts/results $(if $(ARGS),$(ARGS),all)
	@Scripts/tables

# Makes the documents' tables from the existing results.
tables:
	@Scripts/tables

# Takes pictures of the console for Documentation/Pictures, in a headless browser. Uses the debug
# build.
screenshots: setup
	@Scripts/build --product tidemark
	@Scripts/screenshots

proto:
	@Scripts/generate-proto

clean:
	rm -rf .build .build-tsan Tests/Interop/.venv
