import Synchronization
import Tidemark
import TidemarkPipelines

/// Computes the figures of a pipeline from rows that the engine passes on within its slices.
final class CachedFigures: RowReceiver, Sendable {
    private struct State: ~Copyable {
        var groups: StreamedGroups?
        var failure: PipelineError?
    }

    private let pipeline: ValidatedPipeline
    private let context: PipelineContext
    private let state = Mutex(State())

    init(_ pipeline: ValidatedPipeline, _ context: PipelineContext) {
        (self.pipeline, self.context) = (pipeline, context)
    }

    func begin() {
        state.withLock { state in
            state.failure = nil
            do throws(PipelineError) {
                state.groups = try StreamedGroups(pipeline, context: context)
            } catch { state.failure = error }
        }
    }

    func take(_ row: ViewDocument) -> Bool {
        state.withLock { state in
            guard state.failure == nil, let groups = state.groups else { return false }
            do throws(PipelineError) { try groups.add(row.withEstimatedTimes) } catch {
                state.failure = error
            }
            return state.failure == nil
        }
    }

    /// Returns the rows of the figures, after the last row of the cache.
    func rows(in firestore: Firestore) throws(FirestoreError) -> [PipelineResult] {
        let result = state.withLock { state -> Result<[PipelineResult], PipelineError> in
            if let failure = state.failure { return .failure(failure) }
            guard let groups = state.groups.take() else { return .success([]) }
            return Result { () throws(PipelineError) in
                try groups.end().map { PipelineResult(firestore, $0) }
            }
        }
        do throws(PipelineError) { return try result.get() } catch {
            throw FirestoreError(error.status)
        }
    }
}
