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

/// One thing that was found in one place.
package struct Finding: Codable, Sendable, Hashable {
    package var id: FindingID
    package var severity: Severity
    package var place: Place
    /// How many bytes the caret underlines.
    package var length: Int
    /// What is there, in one sentence.
    package var message: String
    /// What it does to the app or its bill.
    package var reason: String
    /// What to do.
    package var mending: String
    package var estimate: Estimate?
    /// A change of the text that is safe to make.
    package var fix: Fix?
    /// The line it stands in, without its indentation.
    package var line: String

    /// All of its edits are made, or none.
    package struct Fix: Codable, Sendable, Hashable {
        package var edits: [Edit]
    }

    /// A part of the file, in bytes, and what takes its place: on the same lines.
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
