/// A type of document events for which functions are registered.
///
/// Source: functions-events 2. The first generation calls a change `document.create`, the second
/// `document.v1.created`.
package struct EventType: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case created, updated, deleted, written
    }

    package enum Generation: Hashable, Sendable, CaseIterable { case first, second }

    package let kind: Kind
    package let generation: Generation
    /// True if the events name the author of the change.
    package let hasAuthContext: Bool

    private static let firstPrefix = "providers/cloud.firestore/eventTypes/document."
    private static let secondPrefix = "google.cloud.firestore.document.v1."
    private static let authSuffix = ".withAuthContext"

    package init(_ kind: Kind, generation: Generation = .second, hasAuthContext: Bool = false) {
        precondition(!hasAuthContext || generation == .second, "the first generation has no such")
        self.kind = kind
        self.generation = generation
        self.hasAuthContext = hasAuthContext
    }

    /// Returns nil if the name is not a type of document events.
    package init?(name: String) {
        let known = Self.all.first { $0.name == name }
        guard let known else { return nil }
        self = known
    }

    /// The twelve types, those of the first generation first.
    package static let all: [EventType] = Kind.allCases.flatMap { kind in
        [
            EventType(kind, generation: .first), EventType(kind),
            EventType(kind, hasAuthContext: true),
        ]
    }

    /// The name with which functions are registered.
    package var name: String {
        switch generation {
        case .first: Self.firstPrefix + firstName
        case .second: Self.secondPrefix + kind.rawValue + (hasAuthContext ? Self.authSuffix : "")
        }
    }

    private var firstName: String {
        switch kind {
        case .created: "create"
        case .updated: "update"
        case .deleted: "delete"
        case .written: "write"
        }
    }

    /// Returns true if the events of the type include a change.
    ///
    /// - Parameters:
    ///   - wasThere: True if the document existed before the change.
    ///   - isThere: True if the document exists after the change.
    func includes(wasThere: Bool, isThere: Bool) -> Bool {
        switch kind {
        case .written: wasThere || isThere
        case .created: !wasThere && isThere
        case .updated: wasThere && isThere
        case .deleted: wasThere && !isThere
        }
    }
}
