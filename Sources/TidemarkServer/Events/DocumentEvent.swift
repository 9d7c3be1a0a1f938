package import TidemarkModel
import TidemarkRules

/// A change of a document, for one function.
package struct DocumentEvent: Sendable {
    /// The same for every attempt of the event, so that a function can recognize a repetition.
    package let id: String
    package let trigger: EventTrigger
    package let path: DocumentPath
    /// The time of the commit.
    package let time: Timestamp
    /// The document before the commit; nil if it did not exist.
    package let before: Document?
    /// The document after the commit; nil if it does not exist.
    package let after: Document?
    package let author: EventAuthor

    package init(
        id: String, trigger: EventTrigger, path: DocumentPath, time: Timestamp, before: Document?,
        after: Document?, author: EventAuthor
    ) {
        self.id = id
        self.trigger = trigger
        self.path = path
        self.time = time
        self.before = before
        self.after = after
        self.author = author
    }

    /// The fields that differ. Decodes both documents at each call. Empty unless the document
    /// existed before and exists now.
    package var updateMask: [FieldPath] {
        guard let before, let after else { return [] }
        return ChangedFields.leaves(from: before.fields, to: after.fields)
    }
}

/// The author of a change, in the words of Google's events.
package struct EventAuthor: Hashable, Sendable {
    /// Source: functions-events 3.4.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case serviceAccount = "service_account"
        case apiKey = "api_key"
        case system, unauthenticated, unknown
    }

    package let kind: Kind
    /// The uid of an account, or the name of an administrator; empty for the other kinds.
    package let id: String

    package init(_ kind: Kind, id: String = "") {
        self.kind = kind
        self.id = id
    }

    /// The author of everything that a caller with the server's own rights writes.
    package static let administrator = EventAuthor(.serviceAccount, id: RulesIdentity.owner)

    /// The author of a call. A token without the form of an account's token is an administrator's,
    /// because no other passes the server's gate.
    package init(_ context: CallContext) {
        if context.label == Expiry.label {
            self.init(.system)
        } else if context.isUnbilled {
            self.init(.unknown, id: context.label ?? "")
        } else {
            switch try? RulesIdentity(context.token, administrators: []) {
            case .administrator?, nil: self = .administrator
            case .caller(nil)?: self.init(.unauthenticated)
            case .caller(let caller?)?: self.init(.apiKey, id: caller.uid)
            }
        }
    }

    /// True if a function can be the author, as functions write with an administrator's rights.
    package var canBeFunction: Bool { kind == .serviceAccount || kind == .unknown }
}

/// The end of an attempt to deliver an event.
package enum DeliveryAnswer: Hashable, Sendable {
    /// The function has taken the event.
    case delivered
    /// The receiver has no function of this key.
    case unknownKey
    /// The receiver cannot be reached. The event itself is not at fault.
    case unreachable(String)
    /// The function failed, or has not answered in time. Another attempt can succeed.
    case failed(String)
    /// The receiver refuses the event for good.
    case refused(String)
}

/// Calls functions. Implemented over HTTP by the program, and by tests.
package protocol EventReceiver: Sendable {
    /// Returns true if the receiver knows where the trigger's function runs.
    func reaches(_ trigger: EventTrigger) -> Bool
    /// Delivers an event once.
    ///
    /// - Parameter done: Must be called exactly once, on any thread, within a bounded time.
    func deliver(_ event: DocumentEvent, done: @escaping @Sendable (DeliveryAnswer) -> Void)
}

/// Makes ids of events.
enum EventID {
    /// Returns a random UUID, version 4, in lower case.
    static func text(_ high: UInt64, _ low: UInt64) -> String {
        let high = high & 0xFFFF_FFFF_FFFF_0FFF | 0x4000
        let low = low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        let digits = Array((hex(high) + hex(low)).utf8)
        var text = ""
        for (index, digit) in digits.enumerated() {
            if [8, 12, 16, 20].contains(index) { text += "-" }
            text.unicodeScalars.append(Unicode.Scalar(digit))
        }
        return text
    }

    private static func hex(_ bits: UInt64) -> String {
        let text = String(bits, radix: 16)
        return String(repeating: "0", count: 16 - text.utf8.count) + text
    }
}

extension CallContext {
    /// True for the writes of an import: they are no events.
    var isImport: Bool { isUnbilled && label == ServerEvents.importLabel }
}
