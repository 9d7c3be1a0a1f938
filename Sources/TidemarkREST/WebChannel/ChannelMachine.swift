/// One WebChannel session's bookkeeping: what came, what is to go, and what the browser has.
///
/// Arrays to the browser have numbers, 1 and up, and are kept until the browser says that it has them.
/// Maps from the browser have numbers too, and are given on in order, each once. Time is a duration since
/// any beginning that never changes. Source: webchannel-rest 3.
struct ChannelMachine: Equatable, Sendable {
    /// Kept arrays, in UTF-8 bytes: from here on no more should be added, until half of them are gone.
    static let window = 1 << 20
    /// How much one answer to a back channel carries. The browser says what it has got when it asks for
    /// the next one, so this bounds what is kept for it.
    static let answerBytes = 1 << 19
    /// How much leaves at once.
    static let frameBytes = 1 << 16
    /// Maps that came before their turn.
    static let maxEarlyMaps = 1_000
    static let maxEarlyBytes = 11_534_336
    /// The browser gives a silent back channel up after 45 s.
    static let noopInterval = Duration.seconds(25)
    static let longestAnswer = Duration.seconds(60)
    /// A session without a back channel, or whose back channel takes nothing, is dropped after this.
    static let idleLimit = Duration.seconds(150)
    /// A session that ends when it is quiet ends after this, counted from its last map or payload.
    static let quietLimit = Duration.seconds(2)

    enum Event: Equatable, Sendable {
        /// A forward request's maps, the number of the first one, and the last array that arrived.
        case maps([String], first: Int, acknowledged: Int?)
        case payload(String)
        /// A GET for arrays; another one before it is over.
        case backOpened(id: Int, acknowledged: Int, isPolling: Bool, wait: Duration)
        case backLost(id: Int)
        /// Nothing comes after what is queued.
        case finished
        case tick
    }

    enum Effect: Equatable, Sendable {
        /// In order, and never again.
        case deliver([String])
        /// The back channel has something to take, or is over.
        case wake
        /// There is room for payloads again.
        case room
        /// The maps cannot be kept: the request is refused.
        case refuse
        /// The stream is over: the session has ended it.
        case end
        /// The session is dropped.
        case expire
    }

    /// What a back channel's answer does next.
    enum Taken: Equatable, Sendable {
        case frame(String, isLast: Bool)
        case wait
        case end
    }

    private struct Kept: Equatable {
        let id: Int
        let payload: String
        var bytes: Int { payload.utf8.count + 16 }
    }

    private struct Back: Equatable {
        let id: Int
        let isPolling: Bool
        let deadline: Duration
        var sentThrough: Int
        var sentBytes = 0
        var lastSent: Duration
        var isOver = false
    }

    private var lastID = 0
    private var kept: [Kept] = []
    private(set) var keptBytes = 0
    private var isFull = false
    private var back: Back?
    private var nextMap = 0
    private var early: [Int: String] = [:]
    /// UTF-8 bytes of the maps that came before their turn.
    private(set) var earlyBytes = 0
    private var lastSeen: Duration
    private var isFinished = false
    private let endsWhenQuiet: Bool
    /// When a map or a payload came last.
    private var lastUse: Duration
    private var deliveredMaps = 0
    private var payloads = 0
    /// True once it was ended because it was quiet. What comes later is neither delivered nor sent.
    private(set) var isEnded = false

    /// - Parameter endsWhenQuiet: For a stream that answers each map with one payload. The session ends
    ///   when the browser reads, was sent all answers, and asks for nothing for ``quietLimit``.
    init(now: Duration, endsWhenQuiet: Bool = false) {
        lastSeen = now
        lastUse = now
        self.endsWhenQuiet = endsWhenQuiet
    }

    /// Whether no more payloads should be added.
    var isCrowded: Bool { isFull }

    /// The answer to a forward request: whether a back channel is open, the last array, and what of the
    /// arrays the browser has not said to have.
    var status: String { "[\(back == nil ? 0 : 1),\(lastID),\(keptBytes)]" }

    mutating func step(_ event: Event, now: Duration) -> [Effect] {
        switch event {
        case .maps(let maps, let first, let acknowledged):
            lastSeen = now
            let freed = acknowledged.map { acknowledge($0) } ?? []
            // One that was delivered may come again: its answer was lost.
            if isEnded { return first + maps.count <= nextMap ? freed : freed + [.refuse] }
            if !maps.isEmpty { lastUse = now }
            return freed + take(maps, first)
        case .payload(let payload):
            if isEnded { return [] }
            precondition(!isFinished, "a payload after the last one")
            lastUse = now
            payloads += 1
            append(payload)
            return [.wake]
        case .backOpened(let id, let acknowledged, let isPolling, let wait):
            lastSeen = now
            let freed = acknowledge(acknowledged)
            let limit = isPolling ? min(wait, Self.longestAnswer) : Self.longestAnswer
            back = Back(
                id: id, isPolling: isPolling, deadline: now + limit,
                sentThrough: min(max(acknowledged, 0), lastID), lastSent: now)
            // A streaming answer that says nothing at once looks like a proxy that holds it back, and one
            // that ends without a word like an error.
            if !hasUnsent, !isPolling || isFinished { append(Self.noop) }
            return freed + [.wake]
        case .backLost(let id):
            guard back?.id == id else { return [] }
            lastSeen = now
            back = nil
            return []
        case .finished:
            isFinished = true
            return [.wake]
        case .tick: return tick(now)
        }
    }

    // MARK: To the browser

    private static let noop = "[\"noop\"]"
    /// Ends a session without an error.
    static let close = "[\"close\"]"

    private var hasUnsent: Bool { lastID > (back?.sentThrough ?? 0) }

    private mutating func append(_ payload: String) {
        lastID += 1
        let array = Kept(id: lastID, payload: payload)
        kept.append(array)
        keptBytes += array.bytes
        if keptBytes >= Self.window { isFull = true }
    }

    private mutating func acknowledge(_ id: Int) -> [Effect] {
        guard let first = kept.first, id >= first.id else { return [] }
        let count = min(id - first.id + 1, kept.count)
        keptBytes -= kept[..<count].reduce(0) { $0 + $1.bytes }
        kept.removeFirst(count)
        guard isFull, keptBytes <= Self.window / 2 else { return [] }
        isFull = false
        return [.room]
    }

    /// What the answer of that back channel is to carry next.
    mutating func take(back id: Int, now: Duration) -> Taken {
        guard var open = back, open.id == id else { return .end }
        let start = kept.firstIndex { $0.id > open.sentThrough } ?? kept.count
        var arrays: [String] = []
        var bytes = 0
        for array in kept[start...] where bytes < Self.frameBytes {
            arrays.append("[\(array.id),\(array.payload)]")
            bytes += array.bytes
            open.sentThrough = array.id
        }
        if arrays.isEmpty {
            guard open.isOver || isFinished else { return .wait }
            back = nil
            lastSeen = now
            return .end
        }
        open.sentBytes += bytes
        open.lastSent = now
        let isLast =
            open.sentBytes >= Self.answerBytes || open.isOver
            || (open.isPolling && open.sentThrough == lastID)
        back = isLast ? nil : open
        lastSeen = now
        return .frame(Self.frame("[" + arrays.joined(separator: ",") + "]"), isLast: isLast)
    }

    /// Its length in UTF-16's units, which JavaScript counts by, and the text.
    static func frame(_ json: String) -> String { "\(json.utf16.count)\n\(json)" }

    /// True if nothing was asked for long, and all that was asked is answered and on its way.
    private func isQuiet(_ now: Duration) -> Bool {
        endsWhenQuiet && !isFinished && early.isEmpty && payloads >= deliveredMaps && back != nil
            && !hasUnsent && now - lastUse >= Self.quietLimit
    }

    private mutating func tick(_ now: Duration) -> [Effect] {
        if isQuiet(now) {
            append(Self.close)
            isFinished = true
            isEnded = true
            return [.wake, .end]
        }
        guard var open = back else {
            return now - lastSeen >= Self.idleLimit ? [.expire] : []
        }
        if hasUnsent { return now - open.lastSent >= Self.idleLimit ? [.expire] : [] }
        if now >= open.deadline {
            open.isOver = true
            back = open
            // An answer to a poll must not be empty.
            if open.isPolling { append(Self.noop) }
            return [.wake]
        }
        guard !open.isPolling, now - open.lastSent >= Self.noopInterval else { return [] }
        append(Self.noop)
        return [.wake]
    }

    // MARK: From the browser

    private mutating func take(_ maps: [String], _ first: Int) -> [Effect] {
        var ready: [String] = []
        for (index, map) in maps.enumerated() {
            let number = first + index
            if number < nextMap || early[number] != nil { continue }
            if number > nextMap {
                guard early.count < Self.maxEarlyMaps,
                    earlyBytes + map.utf8.count <= Self.maxEarlyBytes
                else {
                    deliveredMaps += ready.count
                    return ready.isEmpty ? [.refuse] : [.deliver(ready), .refuse]
                }
                early[number] = map
                earlyBytes += map.utf8.count
                continue
            }
            ready.append(map)
            nextMap += 1
            while let next = early.removeValue(forKey: nextMap) {
                earlyBytes -= next.utf8.count
                ready.append(next)
                nextMap += 1
            }
        }
        deliveredMaps += ready.count
        return ready.isEmpty ? [] : [.deliver(ready)]
    }
}
