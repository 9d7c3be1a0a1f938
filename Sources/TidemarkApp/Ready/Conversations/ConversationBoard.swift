import Tidemark

/// A conversation, from the fields of its document.
struct ConversationRow<Content: Hashable & Sendable>: Hashable, Sendable {
    let id: ByteString
    let content: Content
    let lastMessageAt: Timestamp?
    /// True if the time is this device's estimate, because the server has not set it yet.
    var isTimeEstimated = false
    /// The number of all messages, or of the user's unread messages; nil if the document has no
    /// number.
    let count: Int?
    /// True if the user has written the last message.
    let isOwn: Bool
    let createTime: Timestamp?
}

/// Joins conversations with the marks of their user. The board is pure: it takes events, and
/// returns the marks to store and to share.
struct ConversationBoard<Content: Hashable & Sendable>: Hashable, Sendable {
    typealias Row = ConversationRow<Content>

    struct Entry: Hashable, Sendable {
        let row: Row
        let unread: Int
        /// True if ``unread`` is the exact number, and false if there may be more unread messages.
        let isExact: Bool
    }

    enum Way: Hashable, Sendable { case sinceMark, ofEachUser, notCounted }

    enum Event: Sendable {
        /// The marks on the disk.
        case loaded(ConversationMarks)
        /// The present conversations.
        /// - Parameter readTime: The time as of which the rows are complete; nil if they are
        ///   incomplete.
        case rows([Row], readTime: Timestamp?)
        /// The marks in the user's own document; nil if it has none, or cannot be read.
        case shared(ConversationMarks?)
        /// The user has seen all messages of a conversation except the given number.
        case seen(ByteString, unread: Int)
        case seenAll
        /// The server has counted the messages after a conversation's mark.
        case counted(ByteString, ConversationCount)
    }

    /// A conversation whose messages after a time are to be counted.
    struct Uncounted: Hashable, Sendable {
        let id: ByteString
        let since: Timestamp
        let lastMessageAt: Timestamp
    }

    enum Effect: Hashable, Sendable {
        case publish
        case save
        /// - Parameter begin: The begin of the marks, if it is new.
        case share([ByteString], begin: Timestamp?)
        /// Sets the counts in these documents to 0.
        case zero([ByteString])
    }

    let way: Way
    let sharesMarks: Bool
    private(set) var marks = ConversationMarks()
    private var rows: [Row] = []
    private var places: [ByteString: Int] = [:]
    /// The time as of which the rows are complete.
    private var readTime: Timestamp?
    private var isLoaded = false
    private var hasHeardShared = false
    /// The conversations whose last message is this device's own and not yet confirmed.
    private var sending: Set<ByteString> = []
    private(set) var entries: [Entry] = []

    init(_ way: Way, sharesMarks: Bool) {
        self.way = way
        self.sharesMarks = sharesMarks
    }

    /// The number of unread messages of all conversations.
    var unreadTotal: Int { entries.reduce(0) { $0 + $1.unread } }

    mutating func step(_ event: Event) -> [Effect] {
        var effects: [Effect] = []
        switch event {
        case .loaded(let stored):
            isLoaded = true
            _ = marks.merge(stored)
            effects += settle()
        case .rows(let rows, let readTime):
            self.rows = rows
            places = Dictionary(
                rows.enumerated().map { ($1.id, $0) }, uniquingKeysWith: { first, _ in first })
            self.readTime = readTime
            effects += settle()
        case .shared(let theirs):
            hasHeardShared = true
            if let theirs, marks.merge(theirs) { effects.append(.save) }
            effects += settle()
        case .seen(let id, let unread):
            guard let place = places[id] else { return [] }
            effects += see([place], unread: unread)
        case .seenAll: effects += see(Array(rows.indices), unread: 0)
        case .counted(let id, let count):
            guard let place = places[id], rows[place].lastMessageAt == count.lastMessageAt else {
                return []
            }
            marks.take(count, of: id)
            effects.append(.save)
        }
        guard isLoaded else { return effects }
        let entries = rows.map(entry)
        if entries != self.entries || isFirst(event) {
            self.entries = entries
            effects.append(.publish)
        }
        return effects
    }

    /// Returns true for events whose rows may be unchanged while their freshness has changed.
    private func isFirst(_ event: Event) -> Bool {
        switch event {
        case .loaded, .rows: true
        default: false
        }
    }

    // MARK: What is unread

    private func entry(_ row: Row) -> Entry {
        let (unread, isExact) = unread(row)
        return Entry(row: row, unread: unread, isExact: isExact)
    }

    private func unread(_ row: Row) -> (count: Int, isExact: Bool) {
        if row.isOwn { return (0, true) }
        if way == .ofEachUser { return (max(0, row.count ?? 0), true) }
        let known = knownUnread(row)
        if known.isExact { return known }
        guard let counted = marks.counts[row.id], let time = row.lastMessageAt,
            counted.lastMessageAt > marks[row.id]?.time ?? .min
        else { return known }
        // At least one message has come since the count.
        return time > counted.lastMessageAt
            ? (max(known.count, counted.unread + 1), false) : (counted.unread, true)
    }

    /// The conversations whose number of unread messages is not known, with the latest first.
    var uncounted: [Uncounted] {
        entries.compactMap { entry in
            guard !entry.isExact, let begin = marks.begin, let time = entry.row.lastMessageAt
            else { return nil }
            return Uncounted(
                id: entry.row.id, since: marks[entry.row.id]?.time ?? begin, lastMessageAt: time)
        }
    }

    /// Returns the number of unread messages by the counts in the documents alone.
    private func knownUnread(_ row: Row) -> (count: Int, isExact: Bool) {
        guard let time = row.lastMessageAt, let begin = marks.begin else { return (0, true) }
        guard let mark = marks[row.id] else {
            if time <= begin { return (0, true) }
            guard way == .sinceMark, let count = row.count else { return (1, false) }
            // All messages are new, or the number of earlier messages is unknown.
            let isNew = row.createTime.map { $0 > begin } ?? true
            return isNew ? (max(1, count), true) : (1, false)
        }
        let isNewer = time > mark.time
        guard way == .sinceMark, let count = row.count else { return (isNewer ? 1 : 0, !isNewer) }
        // A newer message that its sender did not count is at least one unread message.
        return count > mark.count ? (count - mark.count, true) : (isNewer ? 1 : 0, !isNewer)
    }

    // MARK: Marks

    private func mark(_ row: Row, unread: Int = 0) -> ConversationMark? {
        guard let time = row.lastMessageAt, !row.isTimeEstimated else { return nil }
        return ConversationMark(time: time, count: max(0, (row.count ?? 0) - unread))
    }

    /// Raises the marks of rows.
    private mutating func see(_ places: [Int], unread: Int) -> [Effect] {
        if way == .ofEachUser {
            let counted = places.map { rows[$0] }.filter { ($0.count ?? 0) > 0 }
            return unread > 0 || counted.isEmpty ? [] : [.zero(counted.map(\.id))]
        }
        let moved = places.compactMap { place -> ByteString? in
            let row = rows[place]
            guard var mark = mark(row, unread: unread) else { return nil }
            // If some messages stay unread, the last message is unread.
            if unread > 0 { mark.time = marks[row.id]?.time ?? .epoch }
            if marks.raise(row.id, to: mark) {
                marks.dropCount(of: row.id)
                return row.id
            }
            return nil
        }
        if moved.isEmpty { return [] }
        return [.save] + (sharesMarks ? [.share(moved, begin: nil)] : [])
    }

    private mutating func settle() -> [Effect] { begin() + takeOwn() }

    /// Sets the begin of the marks with the first complete list: its conversations count as seen.
    /// Older conversations that appear later also count as seen.
    private mutating func begin() -> [Effect] {
        guard way != .ofEachUser, isLoaded, let readTime else { return [] }
        if sharesMarks && !hasHeardShared { return [] }
        let isNew = marks.begin == nil
        let begin = marks.begin ?? readTime
        marks.begin = begin
        var hasMoved = isNew
        for row in rows where marks[row.id] == nil {
            guard let mark = mark(row), mark.time <= begin else { continue }
            hasMoved = marks.raise(row.id, to: mark) || hasMoved
        }
        guard hasMoved else { return [] }
        return [.save] + (isNew && sharesMarks ? [.share([], begin: begin)] : [])
    }

    /// Raises the marks of conversations in which the user has written the last message.
    private mutating func takeOwn() -> [Effect] {
        guard way != .ofEachUser, isLoaded, marks.begin != nil else { return [] }
        var (moved, sent): ([ByteString], [ByteString]) = ([], [])
        for row in rows {
            guard row.isOwn else {
                sending.remove(row.id)
                continue
            }
            if row.isTimeEstimated {
                sending.insert(row.id)
                continue
            }
            let isSent = sending.remove(row.id) != nil
            guard let mark = mark(row), marks.raise(row.id, to: mark) else { continue }
            moved.append(row.id)
            // Each device sees the message; only the sending device shares the mark.
            if isSent { sent.append(row.id) }
        }
        if moved.isEmpty { return [] }
        return [.save] + (sharesMarks && !sent.isEmpty ? [.share(sent, begin: nil)] : [])
    }
}
