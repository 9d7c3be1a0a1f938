import TidemarkModel

/// A query read that is received in parts. Decides when parts are stored, and where the next
/// attempt continues after a failed one.
///
/// A part is stored when it is full, so received rows are kept whatever happens. The next attempt
/// asks for the rows after the last one, as of the same time. If the server no longer has that
/// time, the attempt reads as of now, or starts again. Keeps one part in memory, and all rows only
/// if the caller wants them.
struct LongRead: Equatable, Sendable {
    enum Event: Equatable, Sendable {
        case reply(RunQueryReply)
        /// An attempt ended early, and another one follows.
        case broke
        /// The server no longer has the time at which the attempt was to read.
        case timeForgotten
        case ended
    }

    enum Effect: Equatable, Sendable {
        /// Store these documents now. Further documents or the end follow.
        case store([Document], readTime: Timestamp)
        case finish(Answer)
        /// Stop: the read cannot continue.
        case giveUp
    }

    /// The result of a completed read.
    struct Answer: Equatable, Sendable {
        /// The rows in the server's order; empty if rows are not kept.
        var documents: [Document] = []
        /// The rows that no part has stored yet.
        var unstored: [Document] = []
        /// The time as of which every row is current at least; nil if the server did not send it.
        var readTime: Timestamp?
        var count = 0
        /// True if all rows belong to one state of the database. Only then are other documents in
        /// the cache no longer rows.
        var isOfOneTime = true
        /// True if parts were stored before.
        var hasParts: Bool { unstored.count < count }
        /// The names of all rows, if parts were stored.
        var names = NameDigests()
    }

    /// The maximum size of a part, which takes some milliseconds to store.
    static let (rowsInPart, bytesInPart) = (200, 256 * 1024)
    /// The number of times that the server may lose the time of one read.
    private static let mostForgotten = 3

    /// The query in its wire form.
    private let query: Query
    /// True if an answer of several times is preferable to starting again.
    private let mayMixTimes: Bool
    private let keepsRows: Bool
    private let database: DatabaseID
    private var answer = Answer()
    private var bytesUnstored = 0
    private var first: DocumentPath?
    private var last: Document?
    /// The read time of the rows since the time last changed.
    private var time: Timestamp?
    private var asksForPast = false
    private var forgotten = 0
    /// The number of rows since the attempt began.
    private(set) var progress = 0

    /// - Parameter query: The query in its wire form, without a projection.
    init(_ query: Query, in database: DatabaseID, mayMixTimes: Bool, keepsRows: Bool) {
        precondition(query.projection == nil)
        self.query = query
        self.database = database
        self.mayMixTimes = mayMixTimes
        self.keepsRows = keepsRows
    }

    /// Returns the request of an attempt that begins now; nil if all rows that the limit allows
    /// have arrived.
    mutating func nextRequest() -> RunQueryRequest? {
        progress = 0
        asksForPast = false
        guard let last else { return RunQueryRequest(query: query) }
        var rest = query
        // Only all orders together define a row's position, so the implicit orders become explicit.
        rest.orders = query.normalizedOrders
        rest.start = Cursor(behind: last.path, last.contents, in: rest.orders, of: database)
        rest.offset = 0
        if let limit = query.limit {
            guard limit.count > answer.count else { return nil }
            rest.limit = .first(limit.count - answer.count)
        }
        guard let time else { return RunQueryRequest(query: rest) }
        asksForPast = true
        return RunQueryRequest(query: rest, consistency: .at(time))
    }

    mutating func step(_ event: Event) -> [Effect] {
        switch event {
        case .reply(let reply): return take(reply)
        // The received rows are valid and stored before the delay. Without a read time, the rest
        // belongs to another time.
        case .broke: return time == nil && answer.count > 0 ? changeTimes() : storing()
        case .timeForgotten: return changeTimes()
        case .ended:
            answer.readTime = answer.isOfOneTime ? time : answer.readTime
            return [.finish(answer)]
        }
    }

    /// Returns true if the status means that the server rejected the attempt's past read time.
    func isAboutTime(_ status: RPCStatus) -> Bool {
        asksForPast && progress == 0
            && [.invalidArgument, .failedPrecondition, .outOfRange].contains(status.code)
    }

    private mutating func take(_ reply: RunQueryReply) -> [Effect] {
        if let told = reply.readTime { time = max(told, time ?? told) }
        guard let document = reply.document else { return [] }
        if progress == 0, asksForPast {
            // A server that includes the row at the cursor repeats the last row, which is skipped.
            // A server that ignores the cursor starts with the first row again, forever.
            if document.path == last?.path { return [] }
            if document.path == first { return [.giveUp] }
        }
        if first == nil { first = document.path }
        progress += 1
        answer.count += 1
        answer.unstored.append(document)
        if keepsRows { answer.documents.append(document) }
        bytesUnstored += document.contents.bytes.count
        last = document
        let isFull =
            answer.unstored.count >= Self.rowsInPart || bytesUnstored >= Self.bytesInPart
        return isFull ? storing() : []
    }

    private mutating func storing() -> [Effect] {
        // Without a read time, rows cannot be stored before the answer is complete.
        guard let time, !answer.unstored.isEmpty else { return [] }
        for document in answer.unstored { answer.names.insert(document.path) }
        let part = answer.unstored
        answer.unstored = []
        bytesUnstored = 0
        return [.store(part, readTime: time)]
    }

    private mutating func changeTimes() -> [Effect] {
        forgotten += 1
        guard forgotten <= Self.mostForgotten else { return [.giveUp] }
        let effects = storing()
        if mayMixTimes {
            // The earlier time applies, because a row that moved to before the cursor meanwhile is
            // missing.
            answer.readTime = answer.isOfOneTime ? time : answer.readTime
            answer.isOfOneTime = false
        } else {
            answer = Answer()
            (first, last) = (nil, nil)
        }
        time = nil
        return effects
    }
}

extension Cursor {
    /// The position directly after a row, given by all orders.
    init(
        behind path: DocumentPath, _ contents: EncodedFields, in orders: [Order],
        of database: DatabaseID
    ) {
        let fields = contents.decoded
        let values = orders.map { order in
            if order.field.isDocumentID {
                return Value.reference(ReferenceValue(database: database, path: path))
            }
            // A row has every ordered field.
            return fields[order.field] ?? .null
        }
        self.init(values: values, before: false)
    }
}

/// The set of received names, with eight bytes each. Two names with equal digests count as one;
/// then a document that is no longer a row stays in the cache until the next read finds it. For a
/// million rows, this happens to one such document in 10^13.
struct NameDigests: Equatable, Sendable {
    private var places: [[Int]] = []
    private var isSorted: [Bool] = []
    private static let bits = 10

    mutating func insert(_ path: DocumentPath) {
        if places.isEmpty {
            places = Array(repeating: [], count: 1 << Self.bits)
            isSorted = Array(repeating: false, count: 1 << Self.bits)
        }
        let digest = path.hashValue
        places[Self.place(digest)].append(digest)
        isSorted[Self.place(digest)] = false
    }

    /// Sorts the names in the same bucket at the first lookup.
    mutating func contains(_ path: DocumentPath) -> Bool {
        if places.isEmpty { return false }
        let digest = path.hashValue
        let place = Self.place(digest)
        if !isSorted[place] {
            places[place].sort()
            isSorted[place] = true
        }
        let index = places[place].partitioningIndex { $0 >= digest }
        return index < places[place].count && places[place][index] == digest
    }

    private static func place(_ digest: Int) -> Int {
        Int(UInt(bitPattern: digest) >> UInt(UInt.bitWidth - Self.bits))
    }
}
