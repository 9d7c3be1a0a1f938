import Testing
import TidemarkModel

@testable import TidemarkConsole

struct TrafficLogTests {
    private static func begin(
        _ log: inout TrafficLog, _ asked: String, at time: Int64 = 0, method: String = "RunQuery"
    ) -> Int {
        log.begin(
            method: method, database: "d", label: "app", client: nil, asked: asked, at: time)
    }

    @Test func `the oldest calls are forgotten, open ones are kept`() {
        var log = TrafficLog(capacity: 3)
        let stream = Self.begin(&log, "a stream")
        for number in 0..<5 {
            let id = Self.begin(&log, "call \(number)")
            log.end(id, at: 7) { $0.end(.ok, at: 7) }
        }
        #expect(
            log.newest(10) { _ in true }.map(\.asked) == [
                "call 4", "call 3", "call 2", "a stream",
            ])
        #expect(log.forgotten == 2)
        #expect(log.openCount == 1)
        #expect(log[stream]?.outcome == nil)
        #expect(log[2] == nil)
    }

    @Test func `only the newest are given, and only those that pass`() {
        var log = TrafficLog(capacity: 100)
        for number in 0..<50 {
            let id = Self.begin(&log, "rooms/\(number % 5)")
            let status = number % 2 == 0 ? RPCStatus.ok : RPCStatus(.notFound, "none")
            log.end(id, at: 1) { $0.end(status, at: 1) }
        }
        let failed = TrafficFilter(text: "ROOMS/3", show: .failed)
        let found = log.newest(3) { failed.passes($0) }
        #expect(found.map(\.id) == [44, 34, 24])
        #expect(found.allSatisfy { $0.message == "none" })
    }

    @Test func `a copy stays as it was, and the ring goes on`() async {
        let capacity = 3 * EntryRing.chunk / 2
        var log = TrafficLog(capacity: capacity)
        for number in 0..<(2 * capacity + 7) {
            let id = Self.begin(&log, "rooms/\(number)")
            log.end(id, at: 1) { $0.end(.ok, at: 1) }
        }
        let stream = Self.begin(&log, "a stream")
        let copy = log
        for number in 0..<10 {
            let id = Self.begin(&log, "later/\(number)")
            log.end(id, at: 1) { $0.end(.ok, at: 1) }
        }
        log.end(stream, at: 2) { $0.end(.ok, at: 2) }
        #expect(copy.openCount == 1 && copy.endedCount == capacity && copy[stream] != nil)
        #expect(copy[stream]?.outcome == nil && log[stream]?.outcome == "OK")
        let all = copy.newest(10_000) { _ in true }.map(\.asked)
        #expect(all.count == capacity + 1 && all.first == "a stream")
        #expect(all[1] == "rooms/\(2 * capacity + 6)" && all.last == "rooms/\(capacity + 7)")
        let later = await log.newest(20, passing: TrafficFilter(text: "LATER"))
        #expect(later.map(\.asked) == (0..<10).reversed().map { "later/\($0)" })
    }

    @Test func `the kept calls have a bound in bytes, and the oldest leave`() throws {
        var log = TrafficLog()
        let text = String(repeating: "x", count: 5_000)
        let query = TidemarkModel.Query(
            collection: try CollectionPath("rooms/" + text.prefix(1_400) + "/y"))
        // The log receives 600 streams of 100 targets with long paths; complete copies need 3 GB.
        for number in 0..<600 {
            let id = Self.begin(&log, text, at: Int64(number), method: "Listen")
            for target in 1...TrafficEntry.maxTargets {
                log.update(id, at: 1) {
                    $0.add(ListenTarget(id: Int32(target), .query(query)), at: 1)
                }
            }
            log.end(id, at: 2) { $0.end(RPCStatus(.unavailable, text), at: 2) }
            #expect(log.endedBytes <= EntryRing.maxBytes)
        }
        #expect(log.endedCount + log.forgotten == 600)
        #expect((100..<600).contains(log.endedCount), "\(log.endedCount)")
        let kept = log.newest(1_000) { _ in true }
        #expect(kept.map(\.began) == (0..<600).suffix(log.endedCount).reversed().map { Int64($0) })
        for text in kept.flatMap({ [$0.asked, $0.message ?? ""] + $0.targets.map(\.asked) }) {
            #expect(text.utf8.count <= TrafficEntry.maxTextBytes + 3 && text.hasSuffix("…"))
        }
        let count = log.endedCount
        let id = Self.begin(&log, "small")
        log.end(id, at: 3) { $0.end(.ok, at: 3) }
        #expect(log.endedCount == count + 1 || log.endedCount == count)
        log.clear()
        #expect(log.endedBytes == 0 && log.endedCount == 0 && log.forgotten == 0)
    }

    @Test func `as many ordinary calls are kept as the number says`() {
        var log = TrafficLog()
        for number in 0..<60_000 {
            let id = Self.begin(
                &log, "rooms/\(number)/messages where author == \"somebody\" limit 50")
            log.end(id, at: 1) { $0.end(.ok, at: 1) }
        }
        #expect(log.endedCount == 50_000 && log.forgotten == 10_000)
        #expect(log.endedBytes < EntryRing.maxBytes / 4 * 3, "\(log.endedBytes)")
    }

    @Test(arguments: [
        ("aab", "aaaab", true), ("aab", "aaaa", false), ("abab", "abacabab", true), ("", "", true),
        ("Ä", "ein ärger", true), ("ä", "EIN ÄRGER", true), ("rooms", "ROOMS/1", true),
        ("abcabd", "abcabcabd", true), ("x", "", false), ("é", "e", false),
    ])
    func `a text is found whatever its case`(text: String, other: String, isFound: Bool) {
        #expect(FoldedText(text).isFound(in: other) == isFound)
    }

    @Test func `a stream's targets count their documents`() throws {
        var log = TrafficLog()
        let id = Self.begin(&log, "nothing yet", method: "Listen")
        let query = TidemarkModel.Query(collection: try CollectionPath("rooms"))
        log.update(id, at: 0) { $0.add(ListenTarget(id: 2, .query(query)), at: 0) }
        let document = Document(
            path: try DocumentPath("rooms/blue"), fields: ["n": .integer(1)], createTime: .epoch,
            updateTime: .epoch)
        for _ in 0..<3 {
            log.update(id, at: 5) {
                $0.note(.documentChange(DocumentChange(document, targetIDs: [2])), at: 5)
            }
        }
        log.update(id, at: 6) {
            $0.note(.targetChange(TargetChange(.current, targetIDs: [2])), at: 6)
            $0.remove(2, at: 9)
        }
        let entry = try #require(log[id])
        #expect(entry.documents == 3 && entry.targets.map(\.documents) == [3])
        #expect(entry.targets.map(\.state) == [.removed])
        #expect(entry.asked == "rooms" && entry.reads == 3)
        #expect(entry.life.map(\.what) == [.asked, .documents, .current, .stopped])
        #expect(entry.life.map(\.at) == [0, 5, 6, 9])
        #expect(entry.life.map(\.documents) == [0, 3, 0, 0])
        let chart = CostChart(log.costs, by: .target)
        #expect(chart.series == [CostChart.Series(name: "rooms", reads: [3])])
    }

    @Test(arguments: [
        ("GetDocument", "users/7", "users"), ("GetDocument", "a/b/c/d/e/f", "a/*/c/*/e"),
        ("RunQuery", "a/b/c where n >= 3 limit 5", "a/*/c"), ("RunQuery", "rooms", "rooms"),
        ("RunQuery", "**/messages where x = 1", "**/messages"), ("RunQuery", " a/b", "a"),
        ("RunAggregationQuery", "count, sum of n of rooms where m = 1", "rooms"),
        ("RunAggregationQuery", "count of", "count of"), ("RunAggregationQuery", "rooms", "rooms"),
        ("Listen", "nothing yet", "nothing"), ("Listen", "", ""), ("Commit", "/", ""),
    ])
    func `reads are of a collection`(method: String, asked: String, collection: String) {
        let entry = TrafficEntry(
            id: 1, began: 0, method: method, database: "d", label: nil, client: nil, asked: asked)
        #expect(entry.collection == collection)
    }

    @Test func `a listener without a limit that was sent much stands out`() throws {
        var entry = TrafficEntry(
            id: 1, began: 0, method: "Listen", database: "d", label: nil, client: nil, asked: "")
        var query = TidemarkModel.Query(collection: try CollectionPath("rooms"))
        entry.add(ListenTarget(id: 2, .query(query)), at: 0)
        entry.targets[0].documents = TrafficAdvice.manyDocuments - 1
        #expect(TrafficAdvice.onListener(entry) == nil)
        entry.targets[0].documents = 11_003
        #expect(TrafficAdvice.onListener(entry)?.what.contains("11\u{202F}003") == true)
        query.limit = .first(20_000)
        entry.targets = []
        entry.add(ListenTarget(id: 2, .query(query)), at: 0)
        entry.targets[0].documents = 11_003
        #expect(TrafficAdvice.onListener(entry) == nil)
    }

    @Test func `lookups one by one are a storm, and stop being one`() {
        func advice(_ count: Int, apart: Int64) -> [TrafficAdvice] {
            var log = TrafficLog()
            for number in 0..<count {
                let id = Self.begin(
                    &log, "users/\(number)", at: Int64(number) * apart, method: "GetDocument")
                log.end(id, at: 1) { $0.end(.ok, at: 1) }
            }
            return TrafficAdvice.advice(on: log.newest(1_000) { _ in true })
        }
        #expect(advice(19, apart: 1_000).isEmpty)
        #expect(advice(20, apart: 1_000).first?.what == "20 lookups in users within ten seconds.")
        #expect(advice(200, apart: 1_000_000).isEmpty)
    }

    @Test func `a stream's life is bounded`() {
        var entry = TrafficEntry(
            id: 1, began: 0, method: "Listen", database: "d", label: nil, client: nil, asked: "")
        for number in 0..<1_000 { entry.remove(Int32(number), at: Int64(number)) }
        #expect(entry.life.count == TrafficEntry.maxMoments)
        #expect(entry.life.last?.target == 999)
    }
}

struct CostHistoryTests {
    private func key(_ collection: String, client: String? = nil) -> CostHistory.Key {
        CostHistory.Key(label: "app", client: client, collection: collection)
    }

    @Test func `reads are summed in slices of ten seconds`() {
        var history = CostHistory()
        history.add(3, key("a"), at: 0)
        history.add(4, key("a"), at: 9_999_999)
        history.add(5, key("b"), at: 10_000_000)
        history.add(7, key("a"), at: 30_000_000)
        let chart = CostChart(history, by: .target)
        #expect(chart.series.map(\.name) == ["a", "b"])
        #expect(chart.series.map(\.reads) == [[7, 0, 0, 7], [0, 5, 0, 0]])
        #expect(CostChart(history, by: .label).series.map(\.total) == [19])
    }

    @Test func `the names of a slice have a bound in bytes`() {
        var history = CostHistory()
        for number in 0..<200 {
            let name = "\(number)" + String(repeating: "n", count: 1_000)
            history.add(2, key(name, client: name), at: 0)
            history.add(1, key(name, client: name), at: 0)
        }
        let reads = history.slices[0].reads
        let bytes = reads.keys.reduce(0) { $0 + $1.bytes }
        #expect(bytes <= CostHistory.maxNameBytes + 100 && reads.count > 10, "\(bytes)")
        #expect(reads.values.reduce(0, +) == 600, "nothing is lost of the sum")
    }

    @Test func `an hour is kept, and so many names of a slice`() {
        var history = CostHistory()
        for second in stride(from: Int64(0), to: 7_200, by: 10) {
            history.add(1, key("a"), at: second * 1_000_000)
        }
        #expect(history.slices.count == CostHistory.capacity)
        #expect(history.slices.first?.number == Int64(720 - 360))
        for number in 0..<1_000 { history.add(2, key("c\(number)"), at: 7_190_000_000) }
        let last = history.slices.last
        #expect(last?.reads.count == CostHistory.maxKeys + 1, "the others are one more")
        #expect(last?.reads.values.reduce(0, +) == 2_001, "nothing is lost of the sum")
        let chart = CostChart(history, by: .target)
        #expect(chart.series.count == CostChart.maxSeries + 1)
        #expect(chart.series.map(\.total).reduce(0, +) == 359 + 2_001)
    }
}

/// Bells on real threads: a bell wakes each waiting task once and forgets none.
@Suite(.timeLimit(.minutes(2))) struct TrafficBellTests {
    @Test func `who waits is woken by a change, and one that has been before is no wait`() async {
        let bell = TrafficBell()
        let before = bell.versions
        async let woken: Void = bell.changed(from: before)
        bell.ring { $0.data += 1 }
        await woken
        await bell.changed(from: before)
        #expect(bell.versions.data == before.data + 1)
    }

    @Test func `who is cancelled waits no longer`() async {
        let bell = TrafficBell()
        let known = bell.versions
        let task = Task { await bell.changed(from: known) }
        task.cancel()
        await task.value
        #expect(bell.versions == known)
    }
}
