package import TidemarkModel

/// The value of the change-time field of a document.
package enum ChangeTime: Hashable, Sendable {
    case missing
    case time(Timestamp)
    /// A value that is no time, with the name of its type.
    case other(String)

    package init(_ value: Value?) {
        switch value {
        case nil: self = .missing
        case .timestamp(let time)?: self = .time(time)
        case .null?: self = .other("null")
        case .boolean?: self = .other("boolean")
        case .integer?, .double?: self = .other("number")
        case .string?: self = .other("string")
        case .bytes?: self = .other("bytes")
        case .reference?: self = .other("reference")
        case .geoPoint?: self = .other("place")
        case .array?: self = .other("array")
        case .vector?: self = .other("vector")
        case .map?: self = .other("map")
        case .pendingServerTimestamp?: self = .other("unsent time")
        }
    }
}

/// The part of a document that a migration looks at.
package struct SeenDocument: Hashable, Sendable {
    package var path: DocumentPath
    package var changeTime: ChangeTime
    /// The server's time of the last write.
    package var updateTime: Timestamp
    /// The name under which a check counts the document.
    package var label: String

    package init(
        path: DocumentPath, changeTime: ChangeTime, updateTime: Timestamp, label: String = ""
    ) {
        self.path = path
        self.changeTime = changeTime
        self.updateTime = updateTime
        self.label = label
    }
}

/// A number of documents, with the first of them as examples.
package struct Examples: Codable, Hashable, Sendable {
    /// The maximum number of examples.
    package static let limit = 20

    package private(set) var count = 0
    /// The first documents, each with the reason.
    package private(set) var first: [String] = []

    package init() {}

    package mutating func add(_ path: DocumentPath, _ reason: String) {
        count += 1
        if first.count < Self.limit { first.append("\(path.text): \(reason)") }
    }
}
