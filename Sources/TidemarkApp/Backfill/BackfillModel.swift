public import Observation

/// A ``Backfill``'s progress for a view to bind to.
@MainActor @Observable
public final class BackfillModel {
    public private(set) var progress = BackfillProgress()

    @ObservationIgnored private var watching: Task<Void, Never>?

    /// Begins to watch; ends with the model.
    public init(_ backfill: Backfill) {
        watching = Task { [weak self] in
            for await progress in await backfill.progress { self?.progress = progress }
        }
    }

    deinit { watching?.cancel() }
}
