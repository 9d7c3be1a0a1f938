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

        /// By name.
        package static let all: [(name: String, defect: Self)] = [
            ("tokenStoredEarly", .tokenStoredEarly), ("lostRequeue", .lostRequeue),
            ("limboUnresolved", .limboUnresolved), ("ackTakenTwice", .ackTakenTwice),
            ("overlayNotRecomputed", .overlayNotRecomputed),
            ("existenceFilterIgnored", .existenceFilterIgnored), ("removalRace", .removalRace),
            ("sentTwiceAfterRestart", .sentTwiceAfterRestart),
        ]
    }

    extension EngineCore {
        func isPlanted(_ defect: PlantedDefects) -> Bool {
            environment.defects.contains(defect)
        }
    }
#endif
