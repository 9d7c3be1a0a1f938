#if TIDEMARK_DEFECTS
    /// Known mistakes that a test plants, to see them found.
    enum RulesDefect: Sendable {
        /// A proof of the first alternative of a filter counts for all.
        case firstAlternativeOnly
        /// An end of a range that is not included counts as if it were.
        case openEndsIncluded
        /// What no filter speaks of counts as there.
        case missingFieldsThere
        /// One read more than the limit.
        case oneReadMore

        @TaskLocal static var planted: RulesDefect?
    }
#endif
