import Foundation
import TidemarkTestKit

@testable import Tidemark

/// The number of random pipelines that each place answers, and their seed.
enum PlaceRounds {
    private static let environment = ProcessInfo.processInfo.environment
    static let count = environment["TIDEMARK_PLACE_PIPELINES"].flatMap { Int($0) } ?? 500
    static let seed = environment["TIDEMARK_PLACE_SEED"].flatMap { UInt64($0) } ?? 1
    static let database = try! DatabaseID(project: "place")

    /// Returns pipelines of all kinds, for the same documents.
    ///
    /// - Parameter time: A time near those in the documents.
    static func pipelines(_ seed: UInt64, around time: Timestamp) -> [PipelineValue] {
        (0..<10).map { (index: UInt64) in
            var generator = PipelineGenerator(seed: seed &* 1_000 &+ index)
            switch index {
            case 0: return generator.figures()
            case 1: return generator.figuresOfFields().pipeline
            case 2, 3: return generator.scan().pipeline
            case 4: return generator.times(around: time)
            default: return generator.pipeline()
            }
        }
    }
}

/// Compares the rows of a place with those of the tests' own evaluator, and counts.
struct PlaceComparison: CustomStringConvertible {
    private(set) var compared = 0
    private(set) var rows = 0
    private(set) var failures = 0
    /// The number of pipelines with several right answers, which are not compared.
    private(set) var open = 0

    /// - Parameter found: The rows of the place; nil if the pipeline failed there.
    /// - Returns: The description of a difference; nil if there is none.
    mutating func difference(
        _ pipeline: PipelineValue, over documents: [Document], found: [NaiveRow]?
    ) -> String? {
        let wanted = NaivePipelines(documents: documents, database: PlaceRounds.database)
            .answer(pipeline)
        guard wanted.isDetermined else {
            open += 1
            return nil
        }
        compared += 1
        rows += wanted.rows?.count ?? 0
        if wanted.rows == nil { failures += 1 }
        if wanted.allows(found) { return nil }
        let text = """
            \(pipeline)
            over \(documents.map { "\($0.path.text) \($0.fields)" })
            has \(found as Any)
            not \(wanted.rows as Any)
            """
        return [
            "TidemarkModel.", "TidemarkTestKit.", "Pipeline.", "Expression.", "MapValue.", "Value.",
        ]
        .reduce(text) { $0.replacing($1, with: "") }
    }

    /// False if too few pipelines or rows were compared, or too many that fail.
    func isEnough(for count: Int) -> Bool {
        compared >= count && rows > count && failures < count * 6 / 10
            && open < compared
    }

    var description: String {
        """
        \(compared) pipelines compared with \(rows) rows, \(failures) of them failed, \(open) are \
        open
        """
    }
}

extension PipelineResult {
    var naiveRow: NaiveRow { NaiveRow(path: ref?.path, fields: fields) }
}

extension Firestore {
    /// Returns the rows of a pipeline; nil if it fails for a document.
    ///
    /// - Throws: An error that is not the pipeline's own.
    func naiveRows(
        _ pipeline: PipelineValue,
        _ run: (Pipeline) async throws(FirestoreError) -> Pipeline.Snapshot
    ) async throws -> [NaiveRow]? {
        do throws(FirestoreError) {
            return try await run(Pipeline(self, .success(pipeline))).results.map(\.naiveRow)
        } catch {
            let isOfDocument = error.code == .invalidArgument && !error.detail.contains("nknown")
            if isOfDocument { return nil }
            throw error
        }
    }
}
