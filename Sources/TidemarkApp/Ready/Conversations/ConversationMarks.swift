import Tidemark

/// The mark up to which a user has seen a conversation.
struct ConversationMark: Hashable, Sendable {
    /// The time of the last seen message.
    var time: Timestamp
    /// The number of messages that had been sent by then, without the messages that stayed unread.
    var count: Int

    /// Raises the mark. Marks only move forward, each part separately, because two devices do not
    /// know each other's state.
    ///
    /// - Returns: True if the mark moved.
    mutating func raise(to other: ConversationMark) -> Bool {
        let before = self
        time = max(time, other.time)
        count = max(count, other.count)
        return self != before
    }
}

/// A number of unread messages that the server has counted.
struct ConversationCount: Hashable, Sendable {
    /// The time of the last message when it was counted.
    let lastMessageAt: Timestamp
    let unread: Int
}

/// The marks of a user's conversations, in the form on disk and in the user's own document.
struct ConversationMarks: Hashable, Sendable {
    /// The maximum number of kept marks. Above it, the marks with the oldest times are removed.
    static let capacity = 10_000

    private(set) var marks: [ByteString: ConversationMark] = [:]
    /// The time up to which conversations without a mark count as seen; nil before the first
    /// complete list.
    var begin: Timestamp?
    /// The server's counts of conversations whose documents have no count, at most ``capacity``.
    /// Other devices do not receive them.
    private(set) var counts: [ByteString: ConversationCount] = [:]

    subscript(id: ByteString) -> ConversationMark? { marks[id] }

    mutating func take(_ count: ConversationCount, of id: ByteString) {
        if counts[id] != nil || counts.count < Self.capacity { counts[id] = count }
    }

    mutating func dropCount(of id: ByteString) { counts[id] = nil }

    /// - Returns: True if a mark moved.
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
        counts.merge(other.counts) { own, _ in own }
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
        let counts = MapValue(
            counts.map { id, count in
                (id.text, .array([.timestamp(count.lastMessageAt), .integer(Int64(count.unread))]))
            })
        all = MapValue([
            ("marks", .map(all)), ("begin", begin.map { .timestamp($0) } ?? .null),
            ("counts", .map(counts)),
        ])
        return FieldsCodec.encode(all)
    }

    /// Decodes the marks from disk. Unreadable parts count as unknown.
    init(encoded bytes: [UInt8]) {
        guard let all = try? FieldsCodec.decode(bytes) else { return }
        if case .timestamp(let time)? = all["begin"] { begin = time }
        for (id, time, count) in Self.pairs(all["marks"]) {
            marks[id] = ConversationMark(time: time, count: count)
        }
        for (id, time, count) in Self.pairs(all["counts"]) {
            counts[id] = ConversationCount(lastMessageAt: time, unread: count)
        }
    }

    /// Returns the entries of a map whose values are a time and a number.
    private static func pairs(_ value: Value?) -> [(ByteString, Timestamp, Int)] {
        guard case .map(let entries)? = value else { return [] }
        return entries.compactMap { entry in
            guard case .array(let parts) = entry.value, parts.count == 2,
                case .timestamp(let time) = parts[0], case .integer(let count) = parts[1]
            else { return nil }
            return (ByteString(entry.key), time, Int(clamping: count))
        }
    }

    init() {}

    // MARK: In a document

    static let (timeKey, countKey, beginKey) = ("at", "count", "begin")

    /// Decodes a field's value: a map by conversation, with the begin of the marks.
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
