import TidemarkStore

// Indexes that queries wished for are made when nobody waits: never inside the read that wished.

extension EngineCore {
    /// After the last query that asked.
    private static let pauseBeforeIndexes = Duration.milliseconds(100)
    /// Between two slices, for whatever else the engine has to do.
    private static let pauseBetweenSlices = Duration.milliseconds(2)

    /// Makes what is wished for in a while. Called after queries were run.
    func wantIndexes() {
        guard local.store.wantsIndexes, !isScheduled(.indexBuilding) else { return }
        schedule(.indexBuilding, after: Self.pauseBeforeIndexes)
    }

    /// One slice. An index is never needed: where the disk is full, the next query asks again.
    func buildIndexes() {
        guard (try? local.store.buildWantedIndexes()) == true else { return }
        schedule(.indexBuilding, after: Self.pauseBetweenSlices)
    }

    /// All slices at once.
    func finishIndexes() {
        cancelTimer(.indexBuilding)
        while (try? local.store.buildWantedIndexes()) == true {}
    }
}
