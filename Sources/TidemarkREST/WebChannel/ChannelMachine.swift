/// The state of one WebChannel session: received maps, queued arrays, and the arrays that the
/// browser has acknowledged.
///
/// Arrays for the browser are numbered from 1 and are kept until the browser acknowledges them.
/// Maps from the browser are numbered too; each is delivered once, in order. Times are durations
/// since a fixed start. Source: webchannel-rest 3.
struct ChannelMachine: Equatable, Sendable {
    /// The bytes of kept arrays, in UTF-8, at which the session is full. It accepts payloads again
    /// when half of them are acknowledged.
    static let window = 1 << 20
    /// The bytes after which an answer to a back channel ends. The browser acknowledges arrays with
    /// its next request, so this limits the bytes that are kept.
    static let answerBytes = 1 << 19
    /// The bytes after which no array is added to a frame.
    static let frameBytes = 1 << 16
    /// The maximum number of maps that wait for an earlier map.
    static let maxEarlyMaps = 1_000
    static let maxEarlyBytes = 11_534_336
    /// The interval of keep-alives. The browser gives up a silent back channel after 45 s.
    static let noopInterval = Duration.seconds(25)
    static let longestAnswer = Duration.seconds(60)
    /// The time until a session is dropped if it has no back channel, or if the back channel takes
    /// nothing.
    static let idleLimit = Duration.seconds(150)
    /// The time without maps and payloads after which a session with `endsWhenQuiet` is ended.
    static let quietLimit = Duration.seconds(2)

    enum Event: Equatable, Sendable {
        /// The maps of a forward request, the number of the first map, and the last acknowledged
        /// array.
        case maps([String], first: Int, acknowledged: Int?)
        case payload(String)
        /// A GET opened a back channel. It replaces an open back channel.
        case backOpened(id: Int, acknowledged: Int, isPolling: Bool, wait: Duration)
        case backLost(id: Int)
        /// The stream has ended. No payloads follow.
        case finished
        case tick
    }

    enum Effect: Equatable, Sendable {
        /// Delivers maps to the stream. Maps are in order, and each occurs only once.
        case deliver([String])
        /// Wakes the back channel: it has arrays to take, or has ended.
        case wake
        /// The session accepts payloads again.
        case room
        /// Refuses the request, because its maps cannot be kept.
        case refuse
        /// Ends the stream, because the session has ended.
        case end
        /// Drops the session.
        case expire
    }

    /// The next step of a back channel's answer.
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
    /// The bytes, in UTF-8, of maps that wait for an earlier map.
    private(set) var earlyBytes = 0
    private var lastSeen: Duration
    private var isFinished = false
    private let endsWhenQuiet: Bool
    /// The time of the last map or payload.
    private var lastUse: Duration
    private var deliveredMaps = 0
    private var payloads = 0
    /// True after the session ended because it was quiet. Later maps and payloads are dropped.
    private(set) var isEnded = false

    /// - Parameter endsWhenQuiet: True for a stream that answers each map with one payload. The
    ///   session then ends if the browser reads, has all answers, and sends nothing for
    ///   ``quietLimit``.
    init(now: Duration, endsWhenQuiet: Bool = false) {
        lastSeen = now
        lastUse = now
        self.endsWhenQuiet = endsWhenQuiet
    }

    /// True if no payloads should be added.
    var isCrowded: Bool { isFull }

    /// The answer to a forward request: whether a back channel is open, the last array's number,
    /// and the bytes of unacknowledged arrays.
    var status: String { "[\(back == nil ? 0 : 1),\(lastID),\(keptBytes)]" }

    mutating func step(_ event: Event, now: Duration) -> [Effect] {
        switch event {
        case .maps(let maps, let first, let acknowledged):
            lastSeen = now
            let freed = acknowledged.map { acknowledge($0) } ?? []
            // The browser repeats a delivered map if its answer was lost.
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
            // Sends a keep-alive first. If the first bytes of a streaming answer are late, the
            // browser suspects a proxy that buffers. If an answer ends empty, the browser reports
            // an error.
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

    /// Returns the next step of a back channel's answer.
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

    /// Returns the text after its length in UTF-16 code units, the unit of JavaScript's strings.
    static func frame(_ json: String) -> String { "\(json.utf16.count)\n\(json)" }

    /// True if the browser sent nothing for ``quietLimit``, and all maps are answered and the
    /// answers are sent.
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
