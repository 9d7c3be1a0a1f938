import Testing
import TestSupport
import TidemarkModel
import TidemarkTestKit

@testable import TidemarkPipelines

/// Compares live pipelines, after each of some random changes, with the naive evaluator over the
/// documents that are left.
@Suite(.ownThread) struct `Live pipelines` {
    private struct Counts {
        var rows = 0
        var failures = 0
        var byDifference = 0
    }

    private static let rounds = 2_000

    private static func haveSameRows(_ left: [MapValue], _ right: [MapValue]) -> Bool {
        NaiveRow.areSame(
            left.map { NaiveRow(fields: $0) }, right.map { NaiveRow(fields: $0) }, inOrder: false)
    }

    /// A live pipeline and the documents of its sources.
    private struct Play {
        let pipeline: Pipeline
        let valid: ValidatedPipeline
        /// The live pipeline; nil after a failure, so that the next change begins again.
        var live: LivePipeline?
        var documents: [DocumentPath: Document] = [:]

        init(_ pipeline: Pipeline) throws {
            self.pipeline = pipeline
            valid = try pipeline.validated(in: testDatabase)
        }

        /// Returns the fields of the rows; nil if the pipeline fails.
        mutating func found(_ changes: [LivePipeline.Change]) -> [MapValue]? {
            let news: [LivePipeline.Change] =
                live == nil ? documents.values.map { .set($0) } : changes
            var live = self.live.take() ?? LivePipeline(valid, sourceCount: 1)
            do throws(PipelineError) {
                // A source reports only its documents.
                try live.step(news.filter { valid.reads($0) }, of: 0, in: testContext())
                let rows = try live.rows(in: testContext()).map(\.fields)
                self.live = live
                return rows
            } catch { return nil }
        }

        mutating func note(_ changes: [LivePipeline.Change]) {
            for change in changes {
                switch change {
                case .set(let document): documents[document.path] = document
                case .remove(let path): documents[path] = nil
                }
            }
        }

        var expected: [MapValue]? {
            let rows = NaivePipelines(documents: Array(documents.values), database: testDatabase)
                .run(pipeline)
            return rows.contains(.failed) ? nil : rows.map { $0.fields! }
        }
    }

    /// Returns the description of rows that are wrong; nil if there are none.
    private static func fault(
        _ seed: UInt64, isOfFigures: Bool, _ counts: inout Counts
    ) throws -> String? {
        var generator = PipelineGenerator(seed: seed)
        let pipeline = isOfFigures ? generator.figures() : generator.pipeline()
        var play = try Play(pipeline)
        let isByDifference = LivePipeline(play.valid, sourceCount: 1).isByDifference
        guard play.valid.firstScan != nil, isByDifference == isOfFigures else { return nil }
        if isOfFigures { counts.byDifference += 1 }
        var changes = generator.documents().map { LivePipeline.Change.set($0) }
        for step in 0..<8 {
            play.note(changes)
            let (found, expected) = (play.found(changes), play.expected)
            switch (found, expected) {
            case (nil, nil): counts.failures += 1
            case (let found?, let expected?) where haveSameRows(found, expected):
                counts.rows += found.count
            default:
                return "seed \(seed), step \(step): \(pipeline)\nis \(found as Any)\n"
                    + "not \(expected as Any)"
            }
            let news = (0..<2).map { _ in generator.liveChange() }
            changes = news[0].path == news[1].path ? [news[1]] : news
        }
        return nil
    }

    @Test(arguments: [true, false])
    func `have the rows of a run from nothing after each change`(isOfFigures: Bool) throws {
        var counts = Counts()
        for seed in 0..<UInt64(Self.rounds) {
            let fault = try Self.fault(seed, isOfFigures: isOfFigures, &counts)
            try #require(fault == nil, "\(fault ?? "")")
        }
        // Too few rows would compare too little.
        #expect(counts.rows > 2 * Self.rounds, "\(counts)")
        if isOfFigures { #expect(counts.byDifference > Self.rounds * 9 / 10, "\(counts)") }
    }

    #if TIDEMARK_DEFECTS
        @Test(arguments: LiveDefect.ofFigures) func `find a defect`(defect: LiveDefect) throws {
            var counts = Counts()
            for seed in 0..<UInt64(Self.rounds) {
                let fault = try LiveDefect.$planted.withValue(defect) {
                    try Self.fault(seed, isOfFigures: true, &counts)
                }
                if fault != nil { return }
            }
            Issue.record("no random pipeline finds \(defect)")
        }
    #endif

    /// Many documents in few groups.
    private func counted(_ count: Int) throws -> LivePipeline {
        let valid = try pipeline(
            """
            collection ref'/messages'
            aggregate {n: count(), total: sum(size)}, {by: by}
            """
        ).validated(in: testDatabase)
        var live = LivePipeline(valid, sourceCount: 1)
        try live.step(
            (0..<count).map { .set(Self.message($0, size: 1)) }, of: 0, in: testContext())
        return live
    }

    private static func message(_ number: Int, size: Int64) -> Document {
        document(
            "messages/m\(number)",
            ["by": .string("p\(number % 10)"), "size": .integer(size)])
    }

    @Test func `take a change without a pass over the other documents`() throws {
        var live = try counted(20_000)
        #expect(live.isByDifference)
        let few = testContext(limits: .withSteps(512))
        try live.step([.set(Self.message(3, size: 11))], of: 0, in: few)
        try live.step([.remove(try DocumentPath("messages/m4"))], of: 0, in: few)
        let rows = try live.rows(in: few).map(\.fields)
        #expect(rows.count == 10)
        let expected = maps(
            """
            [{by: 'p3', n: 2000, total: 2010}, {by: 'p4', n: 1999, total: 1999}, \
            {by: 'p5', n: 2000, total: 2000}]
            """)
        #expect(Array(rows[3...5]) == expected)
    }

    /// A limit of 0 takes no row, so no figure is computed that could fail.
    @Test func `compute no figures that a limit drops`() throws {
        let valid = try pipeline(
            "collection ref'/messages'\naggregate {f: average(fails)}, {g: by}\nlimit 0"
        ).validated(in: testDatabase)
        var live = LivePipeline(valid, sourceCount: 1)
        try live.step([.set(Self.message(1, size: 1))], of: 0, in: testContext())
        #expect(try live.rows(in: testContext()).isEmpty)
        #expect(!StreamedGroups.canRun(valid))
    }

    @Test func `refuse more documents than the memory allows`() throws {
        var limits = PipelineLimits()
        limits.bytes = 10_000
        let context = testContext(limits: limits)
        for line in ["aggregate {n: count()}, {by: by}", "where exists(by)"] {
            let valid = try pipeline("collection ref'/messages'\n" + line)
                .validated(in: testDatabase)
            var live = LivePipeline(valid, sourceCount: 1)
            try live.step([.set(Self.message(1, size: 1))], of: 0, in: context)
            let error = #expect(throws: PipelineError.self) {
                try live.step(
                    (0..<1_000).map { .set(Self.message($0, size: 1)) }, of: 0, in: context)
            }
            #expect(error?.code == .resourceExhausted)
            #expect(error?.message.contains("10000 bytes") == true)
        }
    }

    /// A few documents that become a million rows.
    @Test(arguments: ["where exists(n)", "aggregate {n: count()}, {by: by}"])
    func `refuse more rows than the memory allows`(stage: String) throws {
        let list = "[" + (0..<100).map { "\($0)" }.joined(separator: ", ") + "]"
        let lines = ["collection ref'/messages'", stage] + (0..<3).map { "unnest \(list), u\($0)" }
        let valid = try pipeline(lines.joined(separator: "\n")).validated(in: testDatabase)
        var live = LivePipeline(valid, sourceCount: 1)
        var limits = PipelineLimits()
        limits.bytes = 1_000_000
        let context = testContext(limits: limits)
        let message = document("messages/m", ["by": .string("me"), "n": .integer(1)])
        try live.step([.set(message)], of: 0, in: context)
        let error = #expect(throws: PipelineError.self) { try live.rows(in: context) }
        #expect(error?.code == .resourceExhausted)
        #expect(
            error?.message
                == "The rows of a live pipeline have more than 1000000 bytes. Add a limit.")
    }

    @Test func `give back the memory of documents that are gone`() throws {
        var limits = PipelineLimits()
        limits.bytes = 10_000
        let context = testContext(limits: limits)
        let valid = try pipeline(
            "collection ref'/messages'\naggregate {n: count_distinct(size)}, {by: by}"
        ).validated(in: testDatabase)
        var live = LivePipeline(valid, sourceCount: 1)
        for number in 0..<1_000 {
            try live.step([.set(Self.message(number, size: 1))], of: 0, in: context)
            try live.step(
                [.remove(try DocumentPath("messages/m\(number)"))], of: 0, in: context)
        }
        #expect(try live.rows(in: context).isEmpty)
    }

    @Test(arguments: [
        ("count()", true), ("first(n)", false), ("array_agg(n)", false),
        ("sum(timestamp_to_unix_seconds(current_timestamp()))", false), ("sum(rand())", false),
    ])
    func `maintain by difference what does not depend on an order or the time`(
        figure: String, isByDifference: Bool
    ) throws {
        let valid = try pipeline("collection ref'/c'\naggregate {f: \(figure)}, {g: g}")
            .validated(in: testDatabase)
        #expect(LivePipeline(valid, sourceCount: 1).isByDifference == isByDifference)
    }
}

extension PipelineLimits {
    fileprivate static func withSteps(_ steps: Int) -> PipelineLimits {
        var limits = PipelineLimits()
        limits.steps = steps
        return limits
    }
}

extension PipelineGenerator {
    fileprivate mutating func liveChange() -> LivePipeline.Change {
        let (path, fields) = change()
        return fields.map { .set(document(path.text, $0)) } ?? .remove(path)
    }
}

extension LivePipeline.Change {
    fileprivate var path: DocumentPath {
        switch self {
        case .set(let document): document.path
        case .remove(let path): path
        }
    }
}

extension ValidatedPipeline {
    /// True if a listener of the first source would report the document.
    fileprivate func reads(_ change: LivePipeline.Change) -> Bool {
        let path = change.path
        // Pipelines with several sources get all documents.
        guard sources.count == 1 else { return true }
        return switch sources[0] {
        case .collection(let collection): path.parent == collection
        case .collectionGroup(let id): path.collectionID == id
        case .database: true
        case .documents(let paths): paths.contains(path)
        case .subcollection: false
        }
    }
}
