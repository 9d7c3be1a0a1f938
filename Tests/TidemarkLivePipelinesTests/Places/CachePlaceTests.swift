import Testing
import TestSupport
import Tidemark
import TidemarkLivePipelines
import TidemarkTestKit

@testable import TidemarkPipelines

/// Compares random pipelines on a cache in a file, pending writes included, with the tests' own
/// evaluator.
@Suite(.ownThread) struct `Random pipelines on the file of a cache` {
    /// Returns the description of rows that are wrong; nil if there are none.
    private func fault(
        _ place: DevicePlace, _ seed: UInt64, _ comparison: inout PlaceComparison
    ) async throws -> String? {
        let documents = place.documents
        for pipeline in PlaceRounds.pipelines(seed, around: place.device.environment.now()) {
            let found = try await place.cachedRows(of: pipeline)
            if let fault = comparison.difference(pipeline, over: documents, found: found) {
                return "seed \(seed), offline \(place.isOffline): \(fault)"
            }
        }
        return nil
    }

    /// Plays rounds of a device that is online, offline with pending writes, opened again and
    /// online again, until enough pipelines are compared or one has wrong rows.
    private func play(
        _ first: UInt64, count: Int, defects: PlantedDefects = [],
        _ comparison: inout PlaceComparison
    ) async throws -> String? {
        let place = try DevicePlace(seed: first, defects: defects)
        defer { place.end() }
        var seed = first
        while comparison.compared < count {
            var generator = PipelineGenerator(seed: seed)
            place.fill(generator.storedDocuments())
            place.changeByDevice()
            for step in UInt64(0)..<4 {
                switch step {
                case 1: place.disconnect()
                case 2 where seed.isMultiple(of: 4): try place.reopen(withServer: false)
                default: break
                }
                if step > 0 { place.changeByDevice() }
                if let fault = try await fault(place, seed &* 4 &+ step, &comparison) {
                    return fault
                }
            }
            if seed.isMultiple(of: 4) { try place.reopen(withServer: true) }
            place.connect()
            seed += 1
        }
        return nil
    }

    @Test func `have the rows of the tests' evaluator`() async throws {
        var comparison = PlaceComparison()
        let fault = try await play(
            PlaceRounds.seed, count: PlaceRounds.count, &comparison)
        #expect(fault == nil, "\(fault ?? "")")
        #expect(comparison.isEnough(for: PlaceRounds.count), "\(comparison)")
        print("pipelines on the cache's file: \(comparison)")
    }

    #if TIDEMARK_DEFECTS
        @Test(arguments: [
            PipelineDefect.hintTooNarrow, .existenceAssumed, .existenceLost, .encodedNullsCounted,
        ])
        func `find a planted defect`(defect: PipelineDefect) async throws {
            var comparison = PlaceComparison()
            let fault = try await PipelineDefect.$planted.withValue(defect) {
                try await play(1, count: 3_000, &comparison)
            }
            #expect(fault != nil, "no pipeline finds \(defect)")
        }

        /// Pending writes stay on top after they are done.
        @Test func `find a planted defect of the engine`() async throws {
            var comparison = PlaceComparison()
            let fault = try await play(
                1, count: 3_000, defects: .overlayNotRecomputed, &comparison)
            #expect(fault != nil)
        }
    #endif
}
