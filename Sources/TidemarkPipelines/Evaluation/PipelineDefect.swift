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

        /// Makes a group for each new encoding of a key.
        case groupsByBytes
        /// Leaves absent values out of the encoded key of a group.
        case absentKeysForgotten
        /// Counts rows whose value is null, where the value is not decoded.
        case encodedNullsCounted

        /// Takes a query's rows for those of `exists` without an order by the field.
        case existenceAssumed
        /// Forgets an `exists` that stands in one condition with another field's value.
        case existenceLost
        /// Takes a query's rows for those of a pipeline with an offset.
        case offsetIsLimit

        @TaskLocal static var planted: PipelineDefect?
    }
#endif
