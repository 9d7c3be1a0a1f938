#if TIDEMARK_DEFECTS
    /// Known defects of live pipelines that a test plants to prove that they are found.
    package enum LiveDefect: Sendable, CaseIterable {
        /// Keeps the rows of documents that have changed or are gone.
        case rowsStay
        /// Keeps groups without rows.
        case emptyGroupsStay
        /// Keeps the least and the greatest value after it is gone.
        case extremesStay
        /// Forgets a value of `count_distinct` when one of several rows with it is gone.
        case distinctForgets
        /// Adds the row of a changed document twice.
        case countedTwice
        /// Keeps documents that are gone, where a pipeline runs again.
        case documentsStay
        /// Takes no pending write.
        case pendingWritesIgnored
        /// Takes only the newest of the snapshots that waited together.
        case waitingSnapshotsLost
        /// Takes only the first snapshot of the sources behind the first.
        case otherSourcesStand

        /// The defects of figures that are maintained by difference.
        package static let ofFigures: [LiveDefect] = [
            .rowsStay, .emptyGroupsStay, .extremesStay, .distinctForgets, .countedTwice,
        ]

        @TaskLocal package static var planted: LiveDefect?
    }
#endif
