public import Observation

/// The progress of a ``Backfill`` that a view can bind to.
@MainActor @Observable
public final class BackfillModel {
    public private(set) var progress = BackfillProgress()

    @ObservationIgnored private var watching: Task<Void, Never>?

    /// Begins to watch, until the model is released.
    public init(_ backfill: Backfill) {
        watching = Task { [weak self] in
            for await progress in await backfill.progress { self?.progress = progress }
        }
    }

    deinit { watching?.cancel() }
}
