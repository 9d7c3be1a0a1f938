#if TIDEMARK_DEFECTS
    /// Known mistakes that a test plants, to see them found.
    enum RulesDefect: Sendable {
        /// A proof of the first alternative of a filter counts for all.
        case firstAlternativeOnly
        /// What a query is ordered by counts as a number.
        case orderedFieldsAreNumbers
        /// What no filter speaks of counts as there.
        case missingFieldsThere
        /// One read more than the limit.
        case oneReadMore

        @TaskLocal static var planted: RulesDefect?
    }
#endif
