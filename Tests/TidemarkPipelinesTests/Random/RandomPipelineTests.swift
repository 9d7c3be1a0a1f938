import Foundation
import Testing
import TestSupport
import TidemarkModel
import TidemarkTestKit

@testable import TidemarkPipelines

/// Compares random pipelines on random documents with the naive evaluator, over a source that uses
/// no hint and over one that uses all.
@Suite(.ownThread) struct `Random pipelines` {
    private static let environment = ProcessInfo.processInfo.environment
    private static let rounds = environment["TIDEMARK_PIPELINES"].flatMap { Int($0) } ?? 5_000
    private static let seed = environment["TIDEMARK_PIPELINES_SEED"].flatMap { UInt64($0) } ?? 1

    private enum Found: Equatable {
        case rows([NaiveRow])
        case failure

        static func == (left: Found, right: Found) -> Bool {
            switch (left, right) {
            case (.failure, .failure): true
            case (.rows(let a), .rows(let b)):
                a.count == b.count && zip(a, b).allSatisfy(`Random pipelines`.areSame)
            default: false
            }
        }
    }

    private struct Counts {
        var rows = 0
        var failures = 0
        /// Pipelines whose source can leave out documents, and whose source can sort.
        var filtered = 0
        var sorted = 0
        /// Pipelines whose documents can be given one at a time.
        var streamed = 0
        /// Pipelines whose rows are the documents of their source.
        var scans = 0
        /// Pipelines to which the fields of documents can be given alone.
        var ofFields = 0
        var stages: [String: Int] = [:]
    }

    private static func areSame(_ left: NaiveRow, _ right: NaiveRow) -> Bool {
        left.path == right.path && isClose(.map(left.fields!), .map(right.fields!))
    }

    /// Equal, with the same types of numbers, up to the rounding of a sum.
    private static func isClose(_ left: Value, _ right: Value) -> Bool {
        switch (left, right) {
        case (.double(let a), .double(let b)):
            return a == b || a.isNaN && b.isNaN || abs(a - b) <= 1e-12 * max(abs(a), abs(b))
        case (.array(let a), .array(let b)):
            return a.count == b.count && zip(a, b).allSatisfy(isClose)
        case (.map(let a), .map(let b)):
            return a.count == b.count
                && zip(a, b).allSatisfy { $0.key == $1.key && isClose($0.value, $1.value) }
        default: return left == right
        }
    }

    private static func expected(_ pipeline: Pipeline, _ documents: [Document]) -> Found {
        let rows = NaivePipelines(documents: documents, database: testDatabase).run(pipeline)
        return rows.contains(.failed)
            ? .failure : .rows(rows.map { NaiveRow(path: $0.path, fields: $0.fields) })
    }

    private static func found(_ pipeline: Pipeline, _ source: any PipelineSource) throws -> Found {
        do throws(PipelineError) {
            return .rows(
                try rows(pipeline, over: source).map {
                    NaiveRow(path: $0.name?.path.text, fields: $0.fields)
                })
        } catch {
            // An error of another kind would be a pipeline that does not validate.
            if error.message.hasPrefix("Unknown") || error.message.hasPrefix("unknown") {
                throw error
            }
            return .failure
        }
    }

    /// Returns the rows of figures to which documents are given one at a time; nil for a pipeline
    /// that cannot run so.
    ///
    /// - Parameter fieldsOnly: True if the fields of documents are given alone, by a source that
    ///   applies the first conditions.
    private static func streamed(
        _ pipeline: Pipeline, _ documents: [Document], fieldsOnly: Bool
    ) throws -> Found? {
        let valid = try pipeline.validated(in: testDatabase)
        guard StreamedGroups.canRun(valid), let scan = valid.firstScan else { return nil }
        if fieldsOnly, !StreamedGroups.takesFields(valid) { return nil }
        do throws(PipelineError) {
            let groups = try StreamedGroups(valid, context: testContext(), isFiltered: fieldsOnly)
            let source: any PipelineSource =
                fieldsOnly ? HintedSource(documents: documents) : ListSource(documents)
            let read = try source.open(scan).documents
            while let document = try read.next() {
                try groups.add(document, fieldsOnly: fieldsOnly)
            }
            return .rows(
                try groups.end().map {
                    NaiveRow(path: $0.name?.path.text, fields: $0.fields)
                })
        } catch { return .failure }
    }

    /// Returns the documents of a source that uses all hints, as a run without stages would; nil
    /// for a pipeline whose rows they are not.
    private static func scanned(_ pipeline: Pipeline, _ documents: [Document]) throws -> Found? {
        let valid = try pipeline.validated(in: testDatabase)
        guard valid.isFirstScan, let scan = valid.firstScan else { return nil }
        switch scan.origin {
        case .collection, .collectionGroup: break
        case .database, .documents, .subcollection: return nil
        }
        let found = try HintedSource(documents: documents).open(scan).documents
        var rows: [NaiveRow] = []
        while let document = try found.next() {
            rows.append(NaiveRow(path: document.path.text, fields: document.fields))
        }
        return .rows(rows)
    }

    /// Returns the description of a pipeline whose rows are wrong; nil if there is none.
    private static func fault(_ seed: UInt64, _ counts: inout Counts) throws -> String? {
        var generator = PipelineGenerator(seed: seed)
        let documents = generator.documents()
        let pipeline = generator.pipeline()
        if let fault = try fault(of: pipeline, documents, &counts) {
            return "seed \(seed), \(fault)"
        }
        let scan = generator.scan()
        if let fault = try fault(of: scan.pipeline, scan.documents, &counts) {
            return "seed \(seed), scan, \(fault)"
        }
        let figures = generator.figuresOfFields()
        return try fault(of: figures.pipeline, figures.documents, &counts)
            .map { "seed \(seed), figures of fields, \($0)" }
    }

    private static func fault(
        of pipeline: Pipeline, _ documents: [Document], _ counts: inout Counts
    ) throws -> String? {
        let wanted = expected(pipeline, documents)
        let sources: [any PipelineSource] = [
            ListSource(documents), HintedSource(documents: documents),
        ]
        for source in sources {
            let result = try found(pipeline, source)
            if result == wanted { continue }
            return "\(type(of: source)): \(pipeline)\nis \(result)\nnot \(wanted)"
        }
        if let result = try scanned(pipeline, documents) {
            counts.scans += 1
            if result != wanted {
                return "without stages: \(pipeline)\nis \(result)\nnot \(wanted)"
            }
        }
        for fieldsOnly in [false, true] {
            guard let result = try streamed(pipeline, documents, fieldsOnly: fieldsOnly) else {
                continue
            }
            if fieldsOnly { counts.ofFields += 1 } else { counts.streamed += 1 }
            if result == wanted { continue }
            return "streamed, \(fieldsOnly): \(pipeline)\nis \(result)\nnot \(wanted)"
        }
        if case .rows(let rows) = wanted { counts.rows += rows.count } else { counts.failures += 1 }
        let scan = try pipeline.validated(in: testDatabase).firstScan
        if scan?.filter != nil { counts.filtered += 1 }
        if scan?.orders.isEmpty == false { counts.sorted += 1 }
        for stage in pipeline.stages { counts.stages[stage.name, default: 0] += 1 }
        return nil
    }

    @Test func `have the rows that the documentation promises`() throws {
        var counts = Counts()
        for round in 0..<Self.rounds {
            let fault = try Self.fault(Self.seed &+ UInt64(round), &counts)
            try #require(fault == nil, "\(fault ?? "")")
        }
        // Too many failures, or too few rows, would compare too little.
        #expect(counts.failures < Self.rounds * 6 / 10, "\(counts)")
        #expect(counts.rows > Self.rounds, "\(counts)")
        #expect(counts.filtered > Self.rounds / 6, "\(counts)")
        #expect(counts.sorted > Self.rounds / 30, "\(counts)")
        #expect(counts.streamed > Self.rounds, "\(counts)")
        #expect(counts.ofFields > Self.rounds / 2, "\(counts)")
        #expect(counts.scans > Self.rounds / 6, "\(counts)")
        #expect(
            counts.stages.count >= 17 && counts.stages.values.allSatisfy { $0 > 20 }, "\(counts)")
    }

    #if TIDEMARK_DEFECTS
        @Test(arguments: PipelineDefect.allCases) func `find a defect`(defect: PipelineDefect)
            throws
        {
            var counts = Counts()
            for seed in 1...UInt64(3_000) {
                let fault = try PipelineDefect.$planted.withValue(defect) {
                    try Self.fault(seed, &counts)
                }
                if fault != nil { return }
            }
            Issue.record("no random pipeline finds \(defect)")
        }
    #endif
}
