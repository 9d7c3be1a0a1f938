#if TIDEMARK_DEFECTS
    /// Defects that a test plants in an engine, to see whether its checks find them. No release build
    /// has them: the flag is one of debug builds.
    package struct PlantedDefects: OptionSet, Hashable, Sendable {
        package let rawValue: Int

        package init(rawValue: Int) { self.rawValue = rawValue }

        /// The token is stored before the rows that it stands for.
        package static let tokenStoredEarly = Self(rawValue: 1 << 0)
        /// When the write stream fails, the batch under way is not sent again.
        package static let lostRequeue = Self(rawValue: 1 << 1)
        /// A document in limbo is never asked for.
        package static let limboUnresolved = Self(rawValue: 1 << 2)
        /// One answer of the server acknowledges two batches.
        package static let ackTakenTwice = Self(rawValue: 1 << 3)
        /// What the pending writes made of a document stays when one of them is done.
        package static let overlayNotRecomputed = Self(rawValue: 1 << 4)
        /// That the server counts other rows is not looked at.
        package static let existenceFilterIgnored = Self(rawValue: 1 << 5)
        /// The answer to an unlisten is taken for one to the listen that followed it.
        package static let removalRace = Self(rawValue: 1 << 6)
        /// After a restart nobody asks whether the head of the queue was applied already.
        package static let sentTwiceAfterRestart = Self(rawValue: 1 << 7)

        /// What the writes of the user before made of documents is shown to the next one.
        package static let overlaysOfUserBefore = Self(rawValue: 1 << 19)
        /// What was under way when the user changed is sent as the next one's.
        package static let queueOfUserBefore = Self(rawValue: 1 << 20)
        /// A transaction commits without saying what it has read.
        package static let readsUnverified = Self(rawValue: 1 << 21)
        /// A transaction whose commit had no answer is made again from its beginning.
        package static let lostCommitRepeated = Self(rawValue: 1 << 22)

        /// What a document was in an index stays there beside what it is.
        package static let indexEntryLeft = Self(rawValue: 1 << 23)
        /// The cache's collection takes targets and documents that are in use.
        package static let collectedInUse = Self(rawValue: 1 << 24)
        /// When a row leaves a view with a limit, none moves up.
        package static let limitNotRefilled = Self(rawValue: 1 << 25)
        /// What the server says of the first batch under way is taken for the last.
        package static let acknowledgedOutOfOrder = Self(rawValue: 1 << 26)
        /// Views are not told of a write before the server has answered.
        package static let ownWriteHidden = Self(rawValue: 1 << 27)
        /// A snapshot of several changes lacks one of them.
        package static let changeLeftOut = Self(rawValue: 1 << 28)

        // Of feeds and pagers.

        /// The look for newer items begins one above the newest that is held.
        package static let feedHeadOffByOne = Self(rawValue: 1 << 29)
        /// A feed that listens drops one of the rows it was told of.
        package static let liveRowDropped = Self(rawValue: 1 << 30)
        /// What a full listener shows is taken for a page of the server's, whatever else is among it.
        package static let listenerTakenForPage = Self(rawValue: 1 << 31)

        /// A page of changes is taken for the last one.
        package static let drainCutShort = Self(rawValue: 1 << 8)
        /// A delta begins where the one before ended, without an overlap.
        package static let overlapForgotten = Self(rawValue: 1 << 9)
        /// Items of the same time as the newest that is held are not asked for.
        package static let equalTimesSkipped = Self(rawValue: 1 << 10)
        /// A mark that was moved is not stored.
        package static let marksNotStored = Self(rawValue: 1 << 11)
        /// A mark is held back by the device's clock, not by the server's.
        package static let deviceClockTrusted = Self(rawValue: 1 << 12)
        /// What is no item any more stays in the window.
        package static let deletedRowsStay = Self(rawValue: 1 << 13)
        /// An audit looks for a difference in the lower half only.
        package static let upperHalfSkipped = Self(rawValue: 1 << 14)
        /// The shared mark is set, not raised.
        package static let sharedMarkOverwritten = Self(rawValue: 1 << 15)
        /// A pager goes on taking for known what may have come above a page.
        package static let pageHoleKept = Self(rawValue: 1 << 16)

        // Of backfills.

        /// A part is covered when it is stored, and uploaded after that.
        package static let coveredBeforeUploaded = Self(rawValue: 1 << 17)
        /// An answer that comes no further counts for all that was asked.
        package static let stallCounted = Self(rawValue: 1 << 18)

        /// Those of backfills, by name.
        package static let ofBackfills: [(name: String, defect: Self)] = [
            ("coveredBeforeUploaded", .coveredBeforeUploaded), ("stallCounted", .stallCounted),
        ]

        /// Those of feeds and pagers, by name.
        package static let ofFeeds: [(name: String, defect: Self)] = [
            ("drainCutShort", .drainCutShort), ("overlapForgotten", .overlapForgotten),
            ("equalTimesSkipped", .equalTimesSkipped), ("marksNotStored", .marksNotStored),
            ("deviceClockTrusted", .deviceClockTrusted), ("deletedRowsStay", .deletedRowsStay),
            ("upperHalfSkipped", .upperHalfSkipped),
            ("sharedMarkOverwritten", .sharedMarkOverwritten), ("pageHoleKept", .pageHoleKept),
            ("feedHeadOffByOne", .feedHeadOffByOne), ("liveRowDropped", .liveRowDropped),
            ("listenerTakenForPage", .listenerTakenForPage),
        ]

        /// Those of the engine, by name.
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
