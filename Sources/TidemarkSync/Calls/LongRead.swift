import TidemarkModel

/// A query read once, in parts: what of its answer is to be stored when, and where another attempt
/// goes on after one that broke.
///
/// A part is stored when it is full, so that what came is kept whatever happens next. Another attempt
/// asks for what follows the last row, as of the same time; where the server has forgotten that time,
/// as of now, or from the start. Keeps one part in memory, and all rows where the caller wants them.
struct LongRead: Equatable, Sendable {
    enum Event: Equatable, Sendable {
        case reply(RunQueryReply)
        /// An attempt ended too early, and another one follows.
        case broke
        /// The server has forgotten the time at which the attempt was to read.
        case timeForgotten
        case ended
    }

    enum Effect: Equatable, Sendable {
        /// To be stored now; more follows, or the end.
        case store([Document], readTime: Timestamp)
        case finish(Answer)
        /// It cannot go on.
        case giveUp
    }

    /// What becomes of a read that came to its end.
    struct Answer: Equatable, Sendable {
        /// All rows in the order the server sent them; empty where they are not kept.
        var documents: [Document] = []
        /// Those that no part has stored yet.
        var unstored: [Document] = []
        /// As of when every row is at least; nil when the server did not say.
        var readTime: Timestamp?
        var count = 0
        /// Whether all rows are of one state of the database: only then is what the cache has besides
        /// no row any more.
        var isOfOneTime = true
        /// Whether parts of it were stored before.
        var hasParts: Bool { unstored.count < count }
        /// The names of all rows where parts were stored.
        var names = NameDigests()
    }

    /// A part: some milliseconds of writing.
    static let (rowsInPart, bytesInPart) = (200, 256 * 1024)
    /// How often the server may forget the time of one read.
    private static let mostForgotten = 3

    /// In the server's form.
    private let query: Query
    /// Whether an answer of several times is better than reading from the start again.
    private let mayMixTimes: Bool
    private let keepsRows: Bool
    private let database: DatabaseID
    private var answer = Answer()
    private var bytesUnstored = 0
    private var first: DocumentPath?
    private var last: Document?
    /// Of the rows since the last change of times.
    private var time: Timestamp?
    private var asksForPast = false
    private var forgotten = 0
    /// Rows since the attempt began.
    private(set) var progress = 0

    /// - Parameter query: In the server's form, without a projection.
    init(_ query: Query, in database: DatabaseID, mayMixTimes: Bool, keepsRows: Bool) {
        precondition(query.projection == nil)
        self.query = query
        self.database = database
        self.mayMixTimes = mayMixTimes
        self.keepsRows = keepsRows
    }

    /// What an attempt that begins now asks for; nil when all rows that the query may have are here.
    mutating func nextRequest() -> RunQueryRequest? {
        progress = 0
        asksForPast = false
        guard let last else { return RunQueryRequest(query: query) }
        var rest = query
        // The place of a row is told by all orders, so the implicit ones become explicit.
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
        // What came is good; it is stored before the pause. Without a time, it is not the rest's.
        case .broke: return time == nil && answer.count > 0 ? changeTimes() : storing()
        case .timeForgotten: return changeTimes()
        case .ended:
            answer.readTime = answer.isOfOneTime ? time : answer.readTime
            return [.finish(answer)]
        }
    }

    /// Whether an end says that the past time of the attempt is the reason.
    func isAboutTime(_ status: RPCStatus) -> Bool {
        asksForPast && progress == 0
            && [.invalidArgument, .failedPrecondition, .outOfRange].contains(status.code)
    }

    private mutating func take(_ reply: RunQueryReply) -> [Effect] {
        if let told = reply.readTime { time = max(told, time ?? told) }
        guard let document = reply.document else { return [] }
        if progress == 0, asksForPast {
            // Of a server that takes a cursor for one row less, the row is here; of one that knows no
            // cursor it would be the first, and so on without an end.
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
        // Of a server that tells no time nothing can be stored before all is there.
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
            // A row that moved to before the cursor meanwhile is missing: so says the older time.
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
    /// Just behind a row: its place is told by all orders.
    init(
        behind path: DocumentPath, _ contents: EncodedFields, in orders: [Order],
        of database: DatabaseID
    ) {
        let fields = contents.decoded
        let values = orders.map { order in
            if order.field.isDocumentID {
                return Value.reference(ReferenceValue(database: database, path: path))
            }
            // A row has every field that it is ordered by.
            return fields[order.field] ?? .null
        }
        self.init(values: values, before: false)
    }
}

/// Which names came, in eight bytes each. Two names with one digest are taken for one: then a document
/// that is no row any more stays in the cache, where the next read finds it. Of a million rows that
/// happens to one such document in 10^13.
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

    /// Sorts what lies near it, the first time.
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
