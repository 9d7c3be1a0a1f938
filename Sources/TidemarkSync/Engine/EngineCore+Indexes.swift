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

    /// How long a slice may hold the engine, in steps of some 3 µs and in time. A frame of a screen is 8 ms.
    private static let stepsOfSlice = 2_000
    private static let longestSlice = Duration.milliseconds(3)

    /// One slice. An index is never needed: where the disk is full, the next query asks again.
    func buildIndexes() {
        let scheduler = environment.scheduler
        let end = scheduler.elapsed + Self.longestSlice
        let isMore = try? local.store.buildWantedIndexes(slice: Self.stepsOfSlice) {
            scheduler.elapsed >= end
        }
        guard isMore == true else { return }
        schedule(.indexBuilding, after: Self.pauseBetweenSlices)
    }

    /// All slices at once.
    func finishIndexes() {
        cancelTimer(.indexBuilding)
        while (try? local.store.buildWantedIndexes()) == true {}
    }
}
