#if TIDEMARK_DEFECTS
    /// Known defects of word indexes that a test plants to prove that they are found.
    package enum WordDefect: Sendable, CaseIterable {
        /// The words of a removed document stay. Its row may belong to another document later.
        case wordsStay
        /// A change of the last filled document is taken for one of a later document.
        case lastRowNotCovered
        /// A search forgets the documents that changed between its slices.
        case searchForgetsChanged

        @TaskLocal package static var planted: WordDefect?
    }
#endif
