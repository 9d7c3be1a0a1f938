import Synchronization
import Testing
import TestSupport
import Tidemark
import TidemarkLivePipelines
import TidemarkPipelines
import TidemarkTestKit
import TidemarkTesting

/// Compares random live pipelines, after random writes of the device and of others, with the tests'
/// own evaluator, online and offline.
@Suite(.ownThread) struct `Random live pipelines of a device` {
    /// The newest result of a live pipeline.
    private final class Live {
        let pipeline: PipelineValue
        private let box = Box()
        private let listener: PipelineListener

        init(_ pipeline: PipelineValue, on place: DevicePlace) {
            self.pipeline = pipeline
            let box = box
            let (device, thread) = (place.device, place.thread)
            let client = LiveClient(
                engine: device.engine, database: device.databaseID,
                environment: device.environment,
                listen: { device.engine.listen($0, $1, observer: $2) },
                run: { thread.enqueue($0) })
            listener = PipelineListener(
                pipeline, of: client, options: SnapshotListenOptions()
            ) { box.put($0) }
            listener.start()
        }

        var hasResult: Bool { box.newest != nil }

        /// Returns the rows; nil if the pipeline has failed for a document.
        ///
        /// - Throws: An error that is not the pipeline's own.
        func rows() throws -> [NaiveRow]? {
            switch box.newest {
            case .success(let rows)?:
                return rows.rows.map { NaiveRow(path: $0.path?.text, fields: $0.fields) }
            case .failure(let error)? where error.code != .invalidArgument: throw error
            case .failure?, nil: return nil
            }
        }

        /// True if the listener has ended with an error.
        var hasFailed: Bool { if case .failure? = box.newest { true } else { false } }
        /// True if nothing that the pipeline reads can change.
        var isConstant: Bool {
            guard case .failure(let error)? = box.newest else { return false }
            return error.detail.contains("never changes")
        }

        func stop() { listener.stop() }
    }

    private final class Box: Sendable {
        private let state = Mutex<Result<LiveRows, FirestoreError>?>(nil)
        var newest: Result<LiveRows, FirestoreError>? { state.withLock { $0 } }
        func put(_ result: Result<LiveRows, FirestoreError>) { state.withLock { $0 = result } }
    }

    private func fault(
        _ place: DevicePlace, _ lives: [Live], _ comparison: inout PlaceComparison
    ) throws -> String? {
        let documents = place.documents
        for live in lives {
            if !live.hasResult { return "no result of \(live.pipeline)" }
            let difference = comparison.difference(
                live.pipeline, over: documents, found: try live.rows())
            if let difference { return "offline \(place.isOffline): \(difference)" }
        }
        return nil
    }

    /// Keeps ten pipelines live through ten steps, online and offline.
    private func play(
        _ seed: UInt64, on place: DevicePlace, _ comparison: inout PlaceComparison
    ) throws -> (lives: Int, fault: String?) {
        var generator = PipelineGenerator(seed: seed)
        place.fill(generator.storedDocuments())
        var lives = PlaceRounds.pipelines(seed, around: place.device.environment.now())
            .map { Live($0, on: place) }
        place.settle()
        lives.removeAll { $0.isConstant }
        defer {
            for live in lives { live.stop() }
            place.connect()
        }
        for step in 0..<10 {
            switch step {
            case 1, 3: place.changeByOther()
            case 5: place.disconnect()
            case 8: place.connect()
            default: place.changeByDevice()
            }
            // A listener ends at an error, which a state before this one may have had.
            lives = lives.map { $0.hasFailed ? Live($0.pipeline, on: place) : $0 }
            place.settle()
            if let fault = try fault(place, lives, &comparison) {
                return (lives.count, "seed \(seed), step \(step), \(fault)")
            }
        }
        return (lives.count, nil)
    }

    /// - Returns: The description of rows that are wrong; nil if there are none.
    private func play(
        from first: UInt64, count: Int, _ comparison: inout PlaceComparison
    ) throws -> String? {
        var (seed, lives) = (first, 0)
        while lives < count {
            let place = try DevicePlace(seed: seed)
            defer { place.end() }
            for _ in 0..<5 where lives < count {
                let played = try play(seed, on: place, &comparison)
                if let fault = played.fault { return fault }
                lives += played.lives
                seed += 1
            }
        }
        return nil
    }

    @Test func `have the rows of the tests' evaluator after each write`() throws {
        var comparison = PlaceComparison()
        let fault = try play(from: PlaceRounds.seed, count: PlaceRounds.count, &comparison)
        #expect(fault == nil, "\(fault ?? "")")
        #expect(comparison.isEnough(for: PlaceRounds.count * 4), "\(comparison)")
        print("live pipelines: \(comparison)")
    }

    #if TIDEMARK_DEFECTS
        @Test(arguments: LiveDefect.allCases)
        func `find a planted defect`(defect: LiveDefect) throws {
            var comparison = PlaceComparison()
            let fault = try LiveDefect.$planted.withValue(defect) {
                try play(from: 1, count: 1_000, &comparison)
            }
            #expect(fault != nil, "no live pipeline finds \(defect)")
        }
    #endif
}
