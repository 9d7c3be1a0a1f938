import Tidemark
import TidemarkPipelines

/// Computes the figures of a pipeline from rows that the engine passes on within its slices.
///
/// `@unchecked`: the engine calls on its executor only, one call after the other, and the figures
/// are read after its last call. A lock would take as long as a row.
final class CachedFigures: RowReceiver, @unchecked Sendable {
    private let pipeline: ValidatedPipeline
    private let context: PipelineContext
    private let isFiltered: Bool
    private var groups: StreamedGroups?
    private var failure: PipelineError?

    /// True if the pipeline reads nothing but fields.
    let takesFields: Bool

    /// - Parameter isFiltered: True if the engine's query has the pipeline's first conditions.
    init(_ pipeline: ValidatedPipeline, _ context: PipelineContext, isFiltered: Bool) {
        (self.pipeline, self.context, self.isFiltered) = (pipeline, context, isFiltered)
        takesFields = StreamedGroups.takesFields(pipeline)
    }

    func begin() {
        failure = nil
        do throws(PipelineError) {
            groups = try StreamedGroups(
                pipeline, context: context, isFiltered: isFiltered)
        } catch { failure = error }
    }

    func take(_ row: ViewDocument) -> Bool {
        guard failure == nil, let groups else { return false }
        do throws(PipelineError) { try groups.add(row.withEstimatedTimes) } catch {
            failure = error
        }
        return failure == nil
    }

    func take(_ fields: FieldsInPlace) -> Bool {
        guard failure == nil, let groups else { return false }
        do throws(PipelineError) { try groups.add(fields) } catch { failure = error }
        return failure == nil
    }

    /// Returns the rows of the figures. Called once, after the last row of the cache.
    func rows(in firestore: Firestore) throws(FirestoreError) -> [PipelineResult] {
        do throws(PipelineError) {
            if let failure { throw failure }
            guard let groups else { return [] }
            self.groups = nil
            return try groups.end().map { PipelineResult(firestore, $0) }
        } catch { throw FirestoreError(error.status) }
    }
}
