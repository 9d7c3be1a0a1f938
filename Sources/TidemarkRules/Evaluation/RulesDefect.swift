#if TIDEMARK_DEFECTS
    /// Known defects that a test plants to prove that they are found.
    enum RulesDefect: Sendable {
        /// Accepts a proof of the first alternative of a filter for all alternatives.
        case firstAlternativeOnly
        /// Treats fields in the query's orders as numbers.
        case orderedFieldsAreNumbers
        /// Treats fields without a filter as existing.
        case missingFieldsThere
        /// Allows one read more than the limit.
        case oneReadMore

        @TaskLocal static var planted: RulesDefect?
    }
#endif
