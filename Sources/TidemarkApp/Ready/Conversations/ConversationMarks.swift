import Tidemark

/// Up to where a user has seen one conversation.
struct ConversationMark: Hashable, Sendable {
    /// Of the last message that was seen.
    var time: Timestamp
    /// How many messages had been sent by then, those that were left unread aside.
    var count: Int

    /// Marks only move forward, each part by itself: two devices do not know of each other.
    ///
    /// - Returns: Whether it moved.
    mutating func raise(to other: ConversationMark) -> Bool {
        let before = self
        time = max(time, other.time)
        count = max(count, other.count)
        return self != before
    }
}

/// The marks of a user's conversations, as they are kept on disk and in a document of the user's own.
struct ConversationMarks: Hashable, Sendable {
    /// Kept at the most. Of more, those that were moved to the oldest times go.
    static let capacity = 10_000

    private(set) var marks: [ByteString: ConversationMark] = [:]
    /// What was there by then counts as seen, where nothing else is known; nil before the list was complete
    /// for the first time.
    var begin: Timestamp?

    subscript(id: ByteString) -> ConversationMark? { marks[id] }

    /// - Returns: Whether anything moved.
    mutating func raise(_ id: ByteString, to mark: ConversationMark) -> Bool {
        guard var known = marks[id] else {
            marks[id] = mark
            return true
        }
        guard known.raise(to: mark) else { return false }
        marks[id] = known
        return true
    }

    mutating func merge(_ other: ConversationMarks) -> Bool {
        var hasMoved = false
        for (id, mark) in other.marks where raise(id, to: mark) { hasMoved = true }
        if let theirs = other.begin, begin.map({ theirs < $0 }) ?? true {
            begin = theirs
            hasMoved = true
        }
        return hasMoved
    }

    // MARK: On disk

    var encoded: [UInt8] {
        var kept = Array(marks)
        if kept.count > Self.capacity {
            kept = Array(kept.sorted { $0.value.time > $1.value.time }.prefix(Self.capacity))
        }
        var all = MapValue(
            kept.map { id, mark in
                (id.text, .array([.timestamp(mark.time), .integer(Int64(mark.count))]))
            })
        all = MapValue([("marks", .map(all)), ("begin", begin.map { .timestamp($0) } ?? .null)])
        return FieldsCodec.encode(all)
    }

    /// What cannot be read counts as nothing known.
    init(encoded bytes: [UInt8]) {
        guard let all = try? FieldsCodec.decode(bytes) else { return }
        if case .timestamp(let time)? = all["begin"] { begin = time }
        guard case .map(let entries)? = all["marks"] else { return }
        for entry in entries {
            guard case .array(let parts) = entry.value, parts.count == 2,
                case .timestamp(let time) = parts[0], case .integer(let count) = parts[1]
            else { continue }
            marks[ByteString(entry.key)] = ConversationMark(
                time: time, count: Int(clamping: count))
        }
    }

    init() {}

    // MARK: In a document

    static let (timeKey, countKey, beginKey) = ("at", "count", "begin")

    /// Of a field's value: a map by conversation, and when it began.
    init(shared value: Value?) {
        guard case .map(let entries)? = value else { return }
        for entry in entries {
            if entry.key.hasSameBytes(as: Self.beginKey),
                let time = SharedMarkFields.time(entry.value)
            {
                begin = time
                continue
            }
            guard case .map(let mark) = entry.value,
                let time = mark[Self.timeKey].flatMap(SharedMarkFields.time)
            else { continue }
            var count = 0
            if case .integer(let number)? = mark[Self.countKey] { count = Int(clamping: number) }
            marks[ByteString(entry.key)] = ConversationMark(time: time, count: count)
        }
    }
}
