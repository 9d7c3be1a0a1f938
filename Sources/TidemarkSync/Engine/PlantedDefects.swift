#if TIDEMARK_DEFECTS
    /// Defects that a test plants in an engine to prove that its checks find them. They exist only
    /// in debug builds.
    package struct PlantedDefects: OptionSet, Hashable, Sendable {
        package let rawValue: Int

        package init(rawValue: Int) { self.rawValue = rawValue }

        /// Stores the token before the rows that it represents.
        package static let tokenStoredEarly = Self(rawValue: 1 << 0)
        /// Does not send the current batch again after the write stream failed.
        package static let lostRequeue = Self(rawValue: 1 << 1)
        /// Never asks for a document in limbo.
        package static let limboUnresolved = Self(rawValue: 1 << 2)
        /// Lets one response of the server acknowledge two batches.
        package static let ackTakenTwice = Self(rawValue: 1 << 3)
        /// Keeps the effects of pending writes on a document after one of the writes is done.
        package static let overlayNotRecomputed = Self(rawValue: 1 << 4)
        /// Ignores that the server counts other rows.
        package static let existenceFilterIgnored = Self(rawValue: 1 << 5)
        /// Treats the response to an unlisten as the response to the listen after it.
        package static let removalRace = Self(rawValue: 1 << 6)
        /// Does not check after a restart whether the first batch of the queue was already applied.
        package static let sentTwiceAfterRestart = Self(rawValue: 1 << 7)

        /// Shows the effects of the previous user's writes to the next user.
        package static let overlaysOfUserBefore = Self(rawValue: 1 << 19)
        /// Sends the previous user's current batches as the next user's.
        package static let queueOfUserBefore = Self(rawValue: 1 << 20)
        /// Commits a transaction without the versions of the documents that it has read.
        package static let readsUnverified = Self(rawValue: 1 << 21)
        /// Repeats a transaction from its beginning although its commit had no answer.
        package static let lostCommitRepeated = Self(rawValue: 1 << 22)

        /// Keeps the old entry of a document in an index beside the new one.
        package static let indexEntryLeft = Self(rawValue: 1 << 23)
        /// Lets garbage collection remove targets and documents that are in use.
        package static let collectedInUse = Self(rawValue: 1 << 24)
        /// Does not refill a view with a limit when a row leaves it.
        package static let limitNotRefilled = Self(rawValue: 1 << 25)
        /// Treats the response for the first current batch as the response for the last.
        package static let acknowledgedOutOfOrder = Self(rawValue: 1 << 26)
        /// Hides a write from views until the server has answered.
        package static let ownWriteHidden = Self(rawValue: 1 << 27)
        /// Omits a change from a snapshot with several changes.
        package static let changeLeftOut = Self(rawValue: 1 << 28)

        // Defects of feeds and pagers.

        /// Starts the request for newer items one above the newest held item.
        package static let feedHeadOffByOne = Self(rawValue: 1 << 29)
        /// Drops a row that the listener of a feed has reported.
        package static let liveRowDropped = Self(rawValue: 1 << 30)
        /// Treats the rows of a full listener as a page of the server, whatever else they contain.
        package static let listenerTakenForPage = Self(rawValue: 1 << 31)

        /// Treats a page of changes as the last one.
        package static let drainCutShort = Self(rawValue: 1 << 8)
        /// Starts a delta where the previous one ended, without an overlap.
        package static let overlapForgotten = Self(rawValue: 1 << 9)
        /// Does not request items with the same time as the newest held item.
        package static let equalTimesSkipped = Self(rawValue: 1 << 10)
        /// Does not store a mark that was moved.
        package static let marksNotStored = Self(rawValue: 1 << 11)
        /// Limits a mark by the device's clock instead of the server's.
        package static let deviceClockTrusted = Self(rawValue: 1 << 12)
        /// Keeps a document in the window that is no longer an item.
        package static let deletedRowsStay = Self(rawValue: 1 << 13)
        /// Searches only the lower half in an audit.
        package static let upperHalfSkipped = Self(rawValue: 1 << 14)
        /// Sets the shared mark instead of raising it.
        package static let sharedMarkOverwritten = Self(rawValue: 1 << 15)
        /// Lets a pager treat a range above a page as known although items may have been added
        /// there.
        package static let pageHoleKept = Self(rawValue: 1 << 16)

        // Defects of backfills.

        /// Marks a part as covered when it is stored, and uploads it afterwards.
        package static let coveredBeforeUploaded = Self(rawValue: 1 << 17)
        /// Counts an answer without progress as everything that was requested.
        package static let stallCounted = Self(rawValue: 1 << 18)

        /// The defects of backfills, by name.
        package static let ofBackfills: [(name: String, defect: Self)] = [
            ("coveredBeforeUploaded", .coveredBeforeUploaded), ("stallCounted", .stallCounted),
        ]

        /// The defects of feeds and pagers, by name.
        package static let ofFeeds: [(name: String, defect: Self)] = [
            ("drainCutShort", .drainCutShort), ("overlapForgotten", .overlapForgotten),
            ("equalTimesSkipped", .equalTimesSkipped), ("marksNotStored", .marksNotStored),
            ("deviceClockTrusted", .deviceClockTrusted), ("deletedRowsStay", .deletedRowsStay),
            ("upperHalfSkipped", .upperHalfSkipped),
            ("sharedMarkOverwritten", .sharedMarkOverwritten), ("pageHoleKept", .pageHoleKept),
            ("feedHeadOffByOne", .feedHeadOffByOne), ("liveRowDropped", .liveRowDropped),
            ("listenerTakenForPage", .listenerTakenForPage),
        ]

        /// The defects of the engine, by name.
        package static let all: [(name: String, defect: Self)] = [
            ("tokenStoredEarly", .tokenStoredEarly), ("lostRequeue", .lostRequeue),
            ("limboUnresolved", .limboUnresolved), ("ackTakenTwice", .ackTakenTwice),
            ("overlayNotRecomputed", .overlayNotRecomputed),
            ("existenceFilterIgnored", .existenceFilterIgnored), ("removalRace", .removalRace),
            ("sentTwiceAfterRestart", .sentTwiceAfterRestart),
            ("overlaysOfUserBefore", .overlaysOfUserBefore),
            ("queueOfUserBefore", .queueOfUserBefore),
            ("readsUnverified", .readsUnverified), ("lostCommitRepeated", .lostCommitRepeated),
            ("indexEntryLeft", .indexEntryLeft), ("collectedInUse", .collectedInUse),
            ("limitNotRefilled", .limitNotRefilled),
            ("acknowledgedOutOfOrder", .acknowledgedOutOfOrder),
            ("ownWriteHidden", .ownWriteHidden), ("changeLeftOut", .changeLeftOut),
        ]
    }
#endif
