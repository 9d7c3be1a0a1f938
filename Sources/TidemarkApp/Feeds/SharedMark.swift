public import Tidemark

extension FeedDefinition {
    /// The place where the user's devices share the clear mark: a field of a document that belongs
    /// to the user, in milliseconds since 1970. The value only rises. Each write of the mark is a
    /// separate write, which waits in the queue while the device is offline. Costs a read for each
    /// requested sync; a feed that listens pays a read at its begin and a read for each change.
    ///
    /// An existing mark keeps its form, so an older version of the app still understands it: a
    /// number stays a number, and a text of digits stays a text. The server itself raises a number
    /// to the highest of all devices. The server cannot raise a text: the last write counts until a
    /// device that has cleared later receives that write and repeats its own. A text has whole
    /// milliseconds, and covers all of their fractions.
    ///
    /// ```swift
    /// var mark = FeedDefinition.SharedMark(
    ///     firestore.document("users/ann/chats/blue"), encoding: .string)
    /// mark.onClear = [
    ///     "conversation_deleted": .boolean(true), "last_message_timestamp": .mark,
    /// ]
    /// ```
    public struct SharedMark: Sendable {
        /// The form of a mark in a document that has no mark yet.
        public enum Encoding: Hashable, Sendable {
            /// A number: milliseconds since 1970, with a fraction.
            case number
            /// A text of digits: whole milliseconds since 1970.
            case string
        }

        /// A value that a clear sets beside the mark, in the same write.
        public enum ClearedValue: Hashable, Sendable {
            case boolean(Bool)
            case integer(Int64)
            case string(String)
            case null
            /// The mark, in the form in which the mark is written.
            case mark
            /// The mark, as a timestamp.
            case timestamp
            /// The server's time, when the write arrives there.
            case serverTimestamp
            /// The field is removed.
            case delete
        }

        public var document: DocumentReference
        /// The name of a field, or a path to it. Contexts can share a document.
        public var field: String
        /// The field in which the devices share the consumption mark; nil, the default, if they do
        /// not share it. Each move of that mark is a write.
        public var consumptionField: String?
        public var encoding: Encoding
        /// Fields of the document, or paths to fields, that a clear on this device also sets.
        public var onClear: [String: ClearedValue]

        /// - Parameters:
        ///   - document: The user's own document.
        ///   - field: The field of the clear mark.
        ///   - consumptionField: The field of the consumption mark; nil if each device has its own.
        ///   - encoding: The form of a mark in a document that has no mark yet.
        ///   - onClear: The values that a clear also sets, by field.
        public init(
            _ document: DocumentReference, field: String = "fetch_message_after",
            consumptionField: String? = nil, encoding: Encoding = .number,
            onClear: [String: ClearedValue] = [:]
        ) {
            self.document = document
            self.field = field
            self.consumptionField = consumptionField
            self.encoding = encoding
            self.onClear = onClear
        }
    }
}

/// The marks that this device sends to the user's other devices, or receives from them.
package struct SharedMarks: Hashable, Sendable {
    package var action: Timestamp?
    package var consumption: Timestamp?
    /// True if the marks are written as texts, which the server cannot raise.
    var isText = false
    /// True if the user has cleared the feed on this device.
    var isClear = false
    /// True if the marks are this device's last write, and no read has returned the document since.
    var isOwnAlone = false

    package init() {}
}

/// ``FeedDefinition/SharedMark`` with its texts parsed.
package struct SharedMarkFields: Sendable {
    typealias Mark = FeedDefinition.SharedMark

    let path: DocumentPath
    let action: FieldPath
    let consumption: FieldPath?
    private let encoding: Mark.Encoding
    private let onClear: [(field: FieldPath, value: Mark.ClearedValue)]

    init(_ mark: Mark) throws(FirestoreError) {
        let path: DocumentPath
        do throws(InvalidPath) { path = try DocumentPath(mark.document.path) } catch {
            throw FirestoreError(error)
        }
        try self.init(
            path, field: mark.field, consumptionField: mark.consumptionField,
            encoding: mark.encoding, onClear: mark.onClear)
    }

    /// - Throws: `invalidArgument` if a field name is invalid or occurs twice.
    package init(
        _ path: DocumentPath, field: String, consumptionField: String? = nil,
        encoding: FeedDefinition.SharedMark.Encoding = .number,
        onClear: [String: FeedDefinition.SharedMark.ClearedValue] = [:]
    ) throws(FirestoreError) {
        self.path = path
        self.encoding = encoding
        action = try field.resolved()
        consumption = try consumptionField?.resolved()
        var fields: [(field: FieldPath, value: Mark.ClearedValue)] = []
        for (name, value) in onClear.sorted(by: { $0.key < $1.key }) {
            fields.append((try name.resolved(), value))
        }
        self.onClear = fields
        let all = [action] + [consumption].compactMap(\.self) + fields.map(\.field)
        guard Set(all.map(\.encoded)).count == all.count else {
            throw .invalidArgument("A field of the shared marks is named twice.")
        }
    }

    /// Returns the marks of the other devices; no marks if there is no document.
    func marks(_ fields: MapValue?) -> SharedMarks {
        var marks = SharedMarks()
        marks.action = fields?[action].flatMap(Self.time)
        marks.consumption = consumption.flatMap { fields?[$0] }.flatMap(Self.time)
        marks.isText = fields?[action].map(Self.isText) ?? false
        return marks
    }

    /// Returns the write that sends the marks to the other devices.
    ///
    /// - Parameter found: The document, as far as this device has it.
    func mutation(_ marks: SharedMarks, found: MapValue?) -> Mutation {
        var write = Write()
        let pairs = [(action, marks.action), (consumption, marks.consumption)]
        for case let (field?, mark?) in pairs {
            raise(field, to: mark, found: found, write: &write)
        }
        if marks.isClear, let mark = marks.action {
            for (field, value) in onClear {
                set(field, value: value, mark: mark, found: found, write: &write)
            }
        }
        return Mutation(
            path: path, .patch(write.fields, mask: write.mask), transforms: write.transforms)
    }

    private struct Write {
        var fields = MapValue()
        var mask: [FieldPath] = []
        var transforms: [FieldTransform] = []

        mutating func put(_ value: Value?, _ field: FieldPath) {
            if let value { fields[field] = value }
            mask.append(field)
        }
    }

    private func raise(
        _ field: FieldPath, to mark: Timestamp, found: MapValue?, write: inout Write
    ) {
        let old = found?[field]
        guard isText(old) else {
            write.transforms.append(FieldTransform(field, .maximum(Self.number(mark))))
            return
        }
        // The mark of another device may be higher.
        let highest = old.flatMap(Self.time).map { max($0, mark) } ?? mark
        write.put(Self.text(highest), field)
    }

    private func set(
        _ field: FieldPath, value: Mark.ClearedValue, mark: Timestamp, found: MapValue?,
        write: inout Write
    ) {
        switch value {
        case .boolean(let flag): write.put(.boolean(flag), field)
        case .integer(let number): write.put(.integer(number), field)
        case .string(let text): write.put(.string(text), field)
        case .null: write.put(.null, field)
        case .mark:
            write.put(isText(found?[action]) ? Self.text(mark) : Self.number(mark), field)
        case .timestamp: write.put(.timestamp(mark), field)
        case .serverTimestamp: write.transforms.append(FieldTransform(field, .serverTimestamp))
        case .delete: write.put(nil, field)
        }
    }

    /// Returns true for the form of the old value. Without an old mark, the definition decides.
    private func isText(_ old: Value?) -> Bool {
        switch old {
        case .string?: true
        case .integer?, .double?: false
        default: encoding == .string
        }
    }

    private static func isText(_ value: Value) -> Bool {
        if case .string = value { true } else { false }
    }

    /// Returns the mark as a number with a fraction, so the server can compare it with a number and
    /// no microsecond is lost.
    static func number(_ mark: Timestamp) -> Value { .double(milliseconds(mark)) }

    static func milliseconds(_ mark: Timestamp) -> Double { Double(mark.microseconds) / 1_000 }

    static func text(_ mark: Timestamp) -> Value { .string("\(mark.milliseconds)") }

    /// Returns nil for a value that is neither a number nor a text of a number, and for a value
    /// outside the range of times.
    package static func time(_ value: Value) -> Timestamp? {
        let milliseconds: Double
        var fraction: Int64 = 0
        switch value {
        case .integer(let whole): milliseconds = Double(whole)
        case .double(let double) where double.isFinite: milliseconds = double
        case .string(let text):
            if let whole = Int64(text) {
                (milliseconds, fraction) = (Double(whole), 999)
            } else if let double = Double(text), double.isFinite {
                milliseconds = double
            } else {
                return nil
            }
        default: return nil
        }
        guard abs(milliseconds) < 1e14 else { return nil }
        return Timestamp(microseconds: Int64((milliseconds * 1_000).rounded()) + fraction)
    }
}
