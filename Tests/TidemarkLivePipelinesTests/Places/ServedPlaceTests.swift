import Testing
import TestSupport
import Tidemark
import TidemarkTestKit

@testable import TidemarkPipelines

/// Compares random pipelines on a server behind a socket, as a client gets their rows, with the
/// tests' own evaluator.
@Suite(.ownThread, .timeLimit(.minutes(30))) struct `Random pipelines over the wire` {
    /// - Returns: The description of rows that are wrong; nil if there are none.
    private func play(
        _ place: ServedPlace, from first: UInt64, count: Int,
        _ comparison: inout PlaceComparison
    ) async throws -> String? {
        var seed = first
        while comparison.compared < count {
            var generator = PipelineGenerator(seed: seed)
            let documents = try await place.fill(generator.storedDocuments())
            let time = Timestamp(seconds: 1, nanoseconds: 0)
            for pipeline in PlaceRounds.pipelines(seed, around: time) {
                let found = try await place.client.naiveRows(pipeline) {
                    (value) async throws(FirestoreError) in
                    try await value.execute(within: .seconds(30))
                }
                if let fault = comparison.difference(pipeline, over: documents, found: found) {
                    return "seed \(seed): \(fault)"
                }
            }
            seed += 1
        }
        return nil
    }

    @Test func `have the rows of the tests' evaluator`() async throws {
        let place = try await ServedPlace()
        var comparison = PlaceComparison()
        let fault = try await play(
            place, from: PlaceRounds.seed, count: PlaceRounds.count, &comparison)
        await place.end()
        #expect(fault == nil, "\(fault ?? "")")
        #expect(comparison.isEnough(for: PlaceRounds.count), "\(comparison)")
        print("pipelines over the wire: \(comparison)")
    }

    #if TIDEMARK_DEFECTS
        @Test(arguments: [
            PipelineDefect.hintTooNarrow, .rangesCrossTypes, .sortLosesLastRow, .nullIsAbsent,
        ])
        func `find a planted defect of the server`(defect: PipelineDefect) async throws {
            let place = try await ServedPlace { job in
                PipelineDefect.$planted.withValue(defect) { job() }
            }
            var comparison = PlaceComparison()
            let fault = try await play(place, from: 1, count: 3_000, &comparison)
            await place.end()
            #expect(fault != nil, "no pipeline finds \(defect)")
        }
    #endif
}
