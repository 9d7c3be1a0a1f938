#if TIDEMARK_DEFECTS
    /// Known defects that a test plants to prove that they are found.
    enum PipelineDefect: Sendable, CaseIterable {
        /// Treats null and absent as equal.
        case nullIsAbsent
        /// Groups integers and doubles of equal value apart.
        case typedGroups
        /// Keeps one row less than a sort with a limit needs.
        case sortLosesLastRow
        /// Compares values of different types in ranges.
        case rangesCrossTypes
        /// Lets null decide a disjunction.
        case nullDecides
        /// Gives the elements of an array the variables of the element before.
        case lateVariables
        /// Lets an expression of `add_fields` see the fields before it.
        case siblingsSeen
        /// Counts rows whose value is null.
        case nullsCounted
        /// Keeps the name of a document in the rows of `distinct`.
        case nameKept
        /// Leaves out documents that equal the bound of a range.
        case hintTooNarrow

        @TaskLocal static var planted: PipelineDefect?
    }
#endif
