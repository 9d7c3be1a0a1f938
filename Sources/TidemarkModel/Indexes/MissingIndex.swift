/// An index that a query needs and the database lacks.
package enum MissingIndex: Hashable, Sendable {
    case composite(CompositeIndex)
    case singleField(SingleFieldIndex)

    /// The use of the index, as an explain report would name it.
    package var use: IndexUse {
        switch self {
        case .composite(let index): index.use
        case .singleField(let index): index.use
        }
    }

    package var group: ByteString {
        switch self {
        case .composite(let index): index.group
        case .singleField(let index): index.group
        }
    }

    /// A sentence for a log: names of collections and fields, and no values.
    package var sentence: String { "\(use.queryScope) \(group.text) \(use.properties)" }
}
