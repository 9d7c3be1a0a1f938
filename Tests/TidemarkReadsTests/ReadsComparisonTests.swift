import Testing

@testable import TidemarkReads

private func key(
    _ call: String = "RunQuery", on target: String = "rooms/*/messages",
    _ query: String = "order by time desc", by label: String = "test_open"
) -> ReadKey {
    ReadKey(label: label, call: call, target: target, query: query)
}

struct `A comparison of reads` {
    private func compare(_ kept: [KeptLine], _ seen: [RunLine]) -> ReadsComparison {
        ReadsComparison(ReadsFile(kept), seen)
    }

    private func advice(_ kept: KeptLine?, _ seen: RunLine) -> String {
        let result = compare(kept.map { [$0] } ?? [], [seen])
        return ReadAdvice.advice(on: result.grown[0]).joined(separator: " ")
    }

    @Test func `passes the same reads`() {
        let result = compare(
            [KeptLine(key(), least: 20, most: 20)], [RunLine(key(), reads: 20)])
        #expect(result.verdict == .same && result.same == 1 && result.shrunk.isEmpty)
        #expect(result.reads == 20 && result.allowed == 20)
    }

    @Test(arguments: [(17, -1), (18, 0), (20, 0), (22, 0), (23, 1)])
    func `allows a range, with both ends`(reads: Int, change: Int) {
        let kept = KeptLine(key(), least: 18, most: 22, reason: "The order of retries varies.")
        let result = compare([kept], [RunLine(key(), reads: reads)])
        #expect(result.grown.map(\.change) == (change > 0 ? [change] : []))
        #expect(result.shrunk.map(\.change) == (change < 0 ? [change] : []))
    }

    @Test func `lists the highest growth first, and counts lines that are gone`() {
        let other = key("Listen")
        let gone = key("GetDocument", on: "users", "")
        let result = compare(
            [
                KeptLine(key(), least: 1, most: 1), KeptLine(other, least: 1, most: 1),
                KeptLine(gone, least: 7, most: 7),
            ],
            [RunLine(key(), reads: 3), RunLine(other, reads: 9)])
        #expect(result.grown.map(\.key) == [other, key()])
        #expect(result.shrunk.map(\.key) == [gone] && result.shrunk[0].change == -7)
        #expect(result.verdict == .grew)
    }

    @Test func `fails on a new line, and passes one without reads`() {
        #expect(compare([], [RunLine(key(), reads: 1)]).grown.map(\.change) == [1])
        #expect(compare([], [RunLine(key(), reads: 0)]).verdict == .same)
    }

    @Test func `compares another query with the one that it replaces`() {
        let new = key("RunQuery", "where n > ?")
        let kept = KeptLine(key(), least: 20, most: 20)
        let fewer = compare([kept], [RunLine(new, reads: 5)])
        #expect(fewer.verdict == .shrank && fewer.shrunk[0].replaced == key())
        let more = compare([kept], [RunLine(new, reads: 50)])
        #expect(more.grown.map(\.change) == [30] && more.shrunk.isEmpty)
        let equal = compare([kept], [RunLine(new, reads: 20)])
        #expect(equal.verdict == .same && equal.moved.count == 1 && equal.same == 0)
    }

    @Test func `follows a renamed test, and no other collection`() {
        let kept = KeptLine(key(), least: 20, most: 20)
        let renamed = compare([kept], [RunLine(key(by: "test_open_again"), reads: 20)])
        #expect(renamed.verdict == .same && renamed.moved[0].replaced == key())
        let other = compare([kept], [RunLine(key(on: "users"), reads: 1)])
        #expect(other.grown.count == 1 && other.shrunk.count == 1)
    }

    @Test func `pairs each gone line once`() {
        let kept = KeptLine(key(), least: 20, most: 20)
        let (one, two) = (key("RunQuery", "where a == ?"), key("RunQuery", "where b == ?"))
        let result = compare([kept], [RunLine(one, reads: 20), RunLine(two, reads: 20)])
        #expect(result.moved.map(\.key) == [one])
        #expect(result.grown.map(\.key) == [two] && result.grown[0].kept == nil)
    }

    @Test func `keeps texts apart that differ in their bytes alone`() {
        let (composed, decomposed) = (key(on: "caf\u{E9}"), key(on: "cafe\u{301}"))
        #expect(composed != decomposed)
        let result = compare(
            [KeptLine(composed, least: 1, most: 1), KeptLine(decomposed, least: 2, most: 2)],
            [RunLine(composed, reads: 1), RunLine(decomposed, reads: 2)])
        #expect(result.verdict == .same && result.same == 2)
    }

    // MARK: Advice

    @Test func `names a lost limit, and a higher one`() {
        let kept = KeptLine(key(), least: 20, most: 20, limit: 20)
        #expect(advice(kept, RunLine(key(), reads: 500)).contains("had a limit of 20"))
        let higher = advice(kept, RunLine(key(), reads: 50, limit: 50))
        #expect(higher == "The query's limit rose from 20 to 50.")
    }

    @Test func `names lookups one after the other`() {
        let get = key("BatchGetDocuments", on: "users", "")
        let text = advice(
            KeptLine(get, least: 20, most: 20), RunLine(get, reads: 21, calls: 21))
        #expect(text.hasPrefix("21 calls read documents one after the other, before 1."))
    }

    @Test func `names a listener that starts again, and one without its token`() {
        let listen = key("Listen")
        let again = advice(
            KeptLine(listen, least: 10, most: 10), RunLine(listen, reads: 50, calls: 5))
        #expect(again.hasPrefix("The listener starts 5 times, before 1."))
        let lost = advice(
            KeptLine(listen, least: 10, most: 10, calls: 2, resumed: 1),
            RunLine(listen, reads: 20, calls: 2))
        #expect(lost.contains("resume token") && !lost.contains("starts 2 times"))
    }

    @Test func `names reads of rules, repeated calls, aggregations and more data`() {
        let rules = key(on: "(rules)", "")
        #expect(advice(nil, RunLine(rules, reads: 3)).contains("Security rules"))
        let kept = KeptLine(key(), least: 1, most: 1)
        #expect(advice(kept, RunLine(key(), reads: 3, calls: 3)).contains("runs 3 times, before 1"))
        let sum = key("RunAggregationQuery")
        #expect(advice(nil, RunLine(sum, reads: 3)).contains("1,000 index entries"))
        #expect(advice(kept, RunLine(key(), reads: 3)).contains("If the suite's data grew"))
        #expect(advice(nil, RunLine(key(), reads: 100)).contains("no limit"))
        #expect(advice(nil, RunLine(key(), reads: 5)).contains("record them"))
    }
}

struct `A recording of reads` {
    @Test func `is exact where the runs agree, and else a range with its reason`() {
        let (steady, varying, rare) = (key(), key("Listen"), key("GetDocument"))
        let recording = ReadsRecording(
            [
                [RunLine(steady, reads: 5), RunLine(varying, reads: 20, calls: 2)],
                [RunLine(steady, reads: 5), RunLine(varying, reads: 18), RunLine(rare, reads: 1)],
            ], former: nil)
        #expect(recording.file.lines.map(\.amount) == ["0 to 1", "18 to 20", "5"])
        #expect(recording.varied.map(\.key) == [rare, varying])
        #expect(recording.varied[1].reason == "Varied: 20, 18 reads in 2 runs.")
        #expect(recording.varied[1].calls == 2, "as in the run with the most reads")
        let text = recording.summary(of: "reads.json", former: nil)
        #expect(text.hasPrefix("wrote 26 reads in 3 lines to reads.json. The runs differ in 2"))
    }

    @Test func `of one run keeps a range that still holds, and narrows no other`() {
        let kept = KeptLine(key(), least: 18, most: 22, reason: "Retries.")
        let former = ReadsFile([kept])
        func amount(_ reads: Int) -> KeptLine {
            ReadsRecording([[RunLine(key(), reads: reads)]], former: former).file.lines[0]
        }
        #expect(amount(20).amount == "18 to 22" && amount(20).reason == "Retries.")
        #expect(amount(30).amount == "30" && amount(30).reason == nil)
    }

    @Test func `keeps the reason that a person wrote, and renews its own`() {
        func reason(_ former: String) -> String? {
            let kept = KeptLine(key(), least: 1, most: 2, reason: former)
            return ReadsRecording(
                [[RunLine(key(), reads: 3)], [RunLine(key(), reads: 4)]],
                former: ReadsFile([kept])
            ).file.lines[0].reason
        }
        #expect(reason("Two clients race.") == "Two clients race.")
        #expect(reason("Varied: 1, 2 reads in 2 runs.") == "Varied: 3, 4 reads in 2 runs.")
    }

    @Test func `passes its own check`() {
        let seen = [RunLine(key(), reads: 5), RunLine(key("Listen"), reads: 9, limit: 3)]
        let file = ReadsRecording([seen], former: nil).file
        #expect(ReadsComparison(file, seen).verdict == .same)
    }
}

struct `The end of a suite` {
    private let lines = [RunLine(key(), reads: 1)]

    @Test func `is compared after a success with reads`() {
        #expect(SuiteFault(.exited(0), of: "pytest", reads: lines) == nil)
    }

    @Test(arguments: [
        (SuiteEnding.exited(3), 3, "The command failed with code 3. Its reads were not compared."),
        (
            .killed(signal: 9), 137,
            "The command was ended by signal 9. Its reads were not compared."
        ),
        (.notFound, 127, "There is no command 'pytest'. Check its name and PATH."),
        (
            .notStarted("Permission denied"), 126,
            "The command 'pytest' cannot be started: Permission denied."
        ),
    ])
    func `passes the command's code on, with a sentence`(
        ending: SuiteEnding, code: Int, sentence: String
    ) {
        let fault = SuiteFault(ending, of: "pytest", reads: lines)
        #expect(fault?.exitCode == Int32(code) && fault?.sentence == sentence)
    }

    @Test func `without reads says how clients find the server`() {
        for seen in [[], [RunLine(key(), reads: 0)]] {
            let fault = SuiteFault(.exited(0), of: "pytest", reads: seen)
            #expect(fault?.exitCode == 2)
            #expect(fault?.sentence.contains("FIRESTORE_EMULATOR_HOST") == true)
        }
    }
}
