#if TIDEMARK_DEFECTS
    /// Known defects of the bill of live pipelines that a test plants to prove that they are found.
    package enum BillDefect: Sendable, CaseIterable {
        /// A pipeline listens to whole collections: its rows are right, and its bill is not.
        case wholeCollections
        /// A plan has no look-ups of documents that the server no longer has.
        case lookUpsForgotten
        /// A plan lets every old listener resume.
        case resumesAlways
        /// A plan forgets the rows of the cache that an own write brings into a limit.
        case ownWritesAlone

        @TaskLocal package static var planted: BillDefect?
    }
#endif
