public import Tidemark

extension FeedDefinition {
    /// Where the user's devices share the clear mark: a field of a document of the user's own, with
    /// milliseconds since 1970. It is only ever raised, by a write of its own that waits in the queue
    /// while the device is offline. Costs a read at each sync that is asked for; a feed that listens pays
    /// one when it begins, and one a change.
    ///
    /// A mark that is there keeps its form, so that an older version of the app goes on to understand it:
    /// a number stays a number, and a text of digits a text. A number is raised by the server itself, to
    /// the highest of all devices. A text cannot be: the last write counts until a device that has
    /// cleared later hears of it and writes its own again. A text tells whole milliseconds, and means all
    /// of their fractions.
    ///
    /// ```swift
    /// var mark = FeedDefinition.SharedMark(
    ///     firestore.document("users/ann/chats/blue"), encoding: .string)
    /// mark.onClear = [
    ///     "conversation_deleted": .boolean(true), "last_message_timestamp": .mark,
    /// ]
    /// ```
    public struct SharedMark: Sendable {
        /// How a mark is written in a document that has none yet.
        public enum Encoding: Hashable, Sendable {
            /// A number: milliseconds since 1970, with their fraction.
            case number
            /// A text of digits: whole milliseconds since 1970.
            case string
        }

        /// What a clear sets beside the mark, in the same write.
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
        /// A field, or a path to one: contexts may share a document.
        public var field: String
        /// Where the devices share the consumption mark too; nil, the default, for not at all. Each of
        /// its moves is a write.
        public var consumptionField: String?
        public var encoding: Encoding
        /// Fields of the document, or paths to them, that a clear on this device also sets.
        public var onClear: [String: ClearedValue]

        /// - Parameters:
        ///   - document: The user's own document.
        ///   - field: Of the clear mark.
        ///   - consumptionField: Of the consumption mark; nil where each device has its own.
        ///   - encoding: Of a mark in a document that has none yet.
        ///   - onClear: What a clear also sets, by field.
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

/// Marks as they are told to the user's other devices, or as these have told them.
package struct SharedMarks: Hashable, Sendable {
    package var action: Timestamp?
    package var consumption: Timestamp?
    /// Whether they are written as texts, which the server cannot raise.
    var isText = false
    /// Whether the user has cleared on this device.
    var isClear = false
    /// Whether they are what this device wrote last, as no read has told of the document since.
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

    /// - Throws: `invalidArgument` for a name of a field that is none, or that is named twice.
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

    /// What the devices have told; nothing where there is no document.
    func marks(_ fields: MapValue?) -> SharedMarks {
        var marks = SharedMarks()
        marks.action = fields?[action].flatMap(Self.time)
        marks.consumption = consumption.flatMap { fields?[$0] }.flatMap(Self.time)
        marks.isText = fields?[action].map(Self.isText) ?? false
        return marks
    }

    /// The write that tells the other devices of marks.
    ///
    /// - Parameter found: The document as far as the device knows it.
    func mutation(_ marks: SharedMarks, found: MapValue?) -> Mutation {
        var write = Write()
        let pairs = [(action, marks.action), (consumption, marks.consumption)]
        for case let (field?, mark?) in pairs { raise(field, to: mark, found, &write) }
        if marks.isClear, let mark = marks.action {
            for (field, value) in onClear { set(field, value, mark, found, &write) }
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
        _ field: FieldPath, to mark: Timestamp, _ found: MapValue?, _ write: inout Write
    ) {
        let old = found?[field]
        guard isText(old) else {
            write.transforms.append(FieldTransform(field, .maximum(Self.number(mark))))
            return
        }
        // Another device may have been further.
        let highest = old.flatMap(Self.time).map { max($0, mark) } ?? mark
        write.put(Self.text(highest), field)
    }

    private func set(
        _ field: FieldPath, _ value: Mark.ClearedValue, _ mark: Timestamp, _ found: MapValue?,
        _ write: inout Write
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

    /// As it was found; where there is none, or something else, as the definition says.
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

    /// With its fraction, so that a number can be compared with a number by the server, and no
    /// microsecond is lost.
    static func number(_ mark: Timestamp) -> Value { .double(milliseconds(mark)) }

    static func milliseconds(_ mark: Timestamp) -> Double { Double(mark.microseconds) / 1_000 }

    static func text(_ mark: Timestamp) -> Value { .string("\(mark.milliseconds)") }

    /// Nil for a value that is no number, nor a text of one, or beyond all times.
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
