/// An index that a query needs and nobody has.
package enum MissingIndex: Hashable, Sendable {
    case composite(CompositeIndex)
    case singleField(SingleFieldIndex)

    /// As explain would say it if it were there.
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

    /// For a log: names of collections and fields, and no values.
    package var sentence: String { "\(use.queryScope) \(group.text) \(use.properties)" }
}
