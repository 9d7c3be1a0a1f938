package enum Severity: String, Codable, Sendable, CaseIterable, Comparable {
    case note, warning, error

    package static func < (left: Severity, right: Severity) -> Bool {
        left.rank < right.rank
    }

    private var rank: Int {
        switch self {
        case .note: 0
        case .warning: 1
        case .error: 2
        }
    }
}

/// A finding at a place.
package struct Finding: Codable, Sendable, Hashable {
    package var id: FindingID
    package var severity: Severity
    package var place: Place
    /// The number of bytes that the caret underlines.
    package var length: Int
    /// The problem, in a sentence.
    package var message: String
    /// The effect on the app or its bill.
    package var reason: String
    /// The recommended change.
    package var mending: String
    package var estimate: Estimate?
    /// A safe change of the text.
    package var fix: Fix?
    /// The line of the finding, without its indentation.
    package var line: String

    /// A change. All of its edits are made, or none.
    package struct Fix: Codable, Sendable, Hashable {
        package var edits: [Edit]
    }

    /// A part of the file, in bytes, and its replacement on the same lines.
    package struct Edit: Codable, Sendable, Hashable {
        package var start: Int
        package var end: Int
        package var text: String
    }
}

extension Finding: Comparable {
    package static func < (left: Finding, right: Finding) -> Bool {
        (left.place, left.id.rawValue) < (right.place, right.id.rawValue)
    }
}
