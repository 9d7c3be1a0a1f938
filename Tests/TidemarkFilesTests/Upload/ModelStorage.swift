import TidemarkModel

@testable import TidemarkFiles

/// A part of a file: bytes of one version of it.
struct ModelPart: Hashable {
    var version: Int
    var range: Range<Int64>
}

/// The bytes of an object or a session, as the parts that they came from. Parts that follow each
/// other in one version are joined, so a good object has one part.
struct ModelBytes: Hashable {
    private(set) var parts: [ModelPart] = []

    var count: Int64 { parts.reduce(0) { $0 + Int64($1.range.count) } }

    mutating func append(_ part: ModelPart) {
        if part.range.isEmpty { return }
        if let last = parts.last, last.version == part.version,
            last.range.upperBound == part.range.lowerBound
        {
            parts[parts.count - 1].range = last.range.lowerBound..<part.range.upperBound
        } else {
            parts.append(part)
        }
    }

    /// Returns a text that is equal for equal bytes.
    var digest: String {
        parts.map { "\($0.version):\($0.range.lowerBound)-\($0.range.upperBound)" }
            .joined(separator: "+")
    }

    static func whole(_ version: Int, size: Int64) -> ModelBytes {
        var bytes = ModelBytes()
        bytes.append(ModelPart(version: version, range: 0..<size))
        return bytes
    }
}

/// The ways in which Storage, its rules and its network can behave in one history.
struct ModelHabits {
    /// Appends every chunk, whatever its offset, as the official emulator does.
    var ignoresOffsets = false
    /// Denies an upload over an existing object, as rules with `resource == null` do.
    var deniesOverwriting = false
    /// Denies reads.
    var deniesReads = false
    /// Puts the object into the answer of a query whose state is final.
    var describesFinal = false
    /// Reports the number of bytes in the answer of a chunk.
    var reportsReceived = true
    /// Forgets a session when its object is complete.
    var forgetsFinal = false
}

/// The events that can happen to one request.
enum ModelFault: CaseIterable {
    /// The request is lost.
    case lostRequest
    /// The answer is lost.
    case lostAnswer
    /// The connection breaks within a chunk: whole multiples of 256 KiB stay.
    case brokenChunk
    case unavailable, throttled, timedOut, unauthenticated
    /// Storage has dropped all sessions.
    case sessionsGone, sessionGone410, sessionCancelled
    /// A query reports fewer bytes than are stored, because a dead connection is still being
    /// processed.
    case lateReport
    /// An answer without its header fields, as a proxy gives it.
    case bareAnswer
    /// A captive portal answers in the place of Storage.
    case portal
}

/// Storage as the facts describe it, for one object. Written for tests, from the protocol alone.
struct ModelStorage {
    struct Session {
        var bytes = ModelBytes()
        var declared: Int64
        var madeAt: Int64
        var isFinal = false
        var isCancelled = false
    }

    let habits: ModelHabits
    private(set) var sessions: [String: Session] = [:]
    private(set) var object: ModelBytes?
    private(set) var generation = 0
    private(set) var bytesReceived: Int64 = 0
    private var made = 0

    init(_ habits: ModelHabits) { self.habits = habits }

    private static let granularity: Int64 = 262_144
    private static let week: Int64 = 604_800

    /// - Parameter part: The bytes of a chunk.
    /// - Returns: The answer; nil if none arrives.
    mutating func answer(
        _ request: UploadMachine.Request, part: ModelPart?, size: Int64, now: Int64,
        _ fault: ModelFault?, _ dice: inout ModelDice
    ) -> UploadAnswer? {
        switch fault {
        case .lostRequest: return nil
        case .unavailable: return UploadAnswer(503)
        case .throttled: return UploadAnswer(429, retryAfter: .seconds(7))
        case .timedOut: return UploadAnswer(408)
        case .unauthenticated: return UploadAnswer(401, .final)
        case .bareAnswer: return UploadAnswer(200)
        case .portal: return UploadAnswer(dice.pick([302, 307, 511]))
        case .sessionsGone: sessions = [:]
        case .brokenChunk: return broken(request, part, &dice)
        case .sessionGone410, .sessionCancelled: end(request, fault == .sessionGone410)
        case .lostAnswer, .lateReport, nil: break
        }
        sessions = sessions.filter { now - $0.value.madeAt < Self.week }
        let answer = process(request, part, size, now, isLate: fault == .lateReport)
        return fault == .lostAnswer ? nil : answer
    }

    private mutating func end(_ request: UploadMachine.Request, _ isGone: Bool) {
        guard let address = request.address, sessions[address]?.isFinal == false else { return }
        if isGone { sessions[address] = nil } else { sessions[address]?.isCancelled = true }
    }

    private mutating func broken(
        _ request: UploadMachine.Request, _ part: ModelPart?, _ dice: inout ModelDice
    ) -> UploadAnswer? {
        guard case .chunk(let address, let offset, _, _) = request, let part,
            let session = sessions[address], !session.isFinal, !session.isCancelled,
            habits.ignoresOffsets || session.bytes.count == offset
        else { return nil }
        let arrived = Int64(dice.below(part.range.count + 1))
        let kept =
            (session.bytes.count + arrived) / Self.granularity * Self.granularity
            - session.bytes.count
        if kept > 0 {
            let range = part.range.lowerBound..<(part.range.lowerBound + kept)
            sessions[address]?.bytes.append(ModelPart(version: part.version, range: range))
            bytesReceived += kept
        }
        return nil
    }

    private mutating func process(
        _ request: UploadMachine.Request, _ part: ModelPart?, _ size: Int64, _ now: Int64,
        isLate: Bool
    ) -> UploadAnswer {
        switch request {
        case .start:
            if habits.deniesOverwriting, object != nil { return UploadAnswer(403, .final) }
            made += 1
            sessions["session \(made)"] = Session(declared: size, madeAt: now)
            return UploadAnswer(200, .active, address: "session \(made)")
        case .chunk(let address, let offset, _, let isLast):
            return chunk(address, offset, part!, isLast)
        case .query(let address): return query(address, isLate)
        case .look:
            if habits.deniesReads { return UploadAnswer(403) }
            return object.map { UploadAnswer(200, object: described($0)) } ?? UploadAnswer(404)
        case .remove:
            defer { object = nil }
            return UploadAnswer(object == nil ? 404 : 204)
        }
    }

    private func described(_ bytes: ModelBytes) -> UploadedObject {
        UploadedObject(size: bytes.count, md5: bytes.digest, generation: "\(generation)")
    }

    private mutating func chunk(
        _ address: String, _ offset: Int64, _ part: ModelPart, _ isLast: Bool
    ) -> UploadAnswer {
        guard let session = sessions[address] else { return UploadAnswer(404) }
        if session.isCancelled { return UploadAnswer(400) }
        if session.isFinal, let object {
            return UploadAnswer(200, .final, object: described(object))
        }
        if !habits.ignoresOffsets, session.bytes.count != offset {
            return UploadAnswer(400, .active)
        }
        // A refused chunk stores nothing.
        let total = session.bytes.count + Int64(part.range.count)
        if isLast, !habits.ignoresOffsets, total != session.declared {
            return UploadAnswer(400, .active)
        }
        if isLast, habits.deniesOverwriting, object != nil { return UploadAnswer(403, .final) }
        bytesReceived += Int64(part.range.count)
        sessions[address]?.bytes.append(part)
        let stored = sessions[address]!.bytes
        guard isLast else {
            return UploadAnswer(
                200, .active, received: habits.reportsReceived ? stored.count : nil)
        }
        object = stored
        generation += 1
        sessions[address]?.isFinal = true
        if habits.forgetsFinal { sessions[address] = nil }
        return UploadAnswer(200, .final, received: stored.count, object: described(stored))
    }

    private func query(_ address: String, _ isLate: Bool) -> UploadAnswer {
        guard let session = sessions[address] else { return UploadAnswer(404) }
        if session.isCancelled { return UploadAnswer(200, .cancelled) }
        if session.isFinal {
            return UploadAnswer(
                200, .final, received: session.bytes.count,
                object: habits.describesFinal ? object.map(described) : nil)
        }
        let late = isLate && !habits.ignoresOffsets ? Self.granularity : 0
        return UploadAnswer(200, .active, received: max(0, session.bytes.count - late))
    }
}

extension UploadMachine.Request {
    var address: String? {
        switch self {
        case .chunk(let address, _, _, _), .query(let address): address
        case .start, .look, .remove: nil
        }
    }
}

/// Random numbers that a seed determines. Neighbouring seeds give unrelated numbers: a state of
/// `seed × increment` gave each seed the numbers of its predecessor, moved by one.
struct ModelDice: RandomNumberGenerator {
    private var random: SeededRandom

    init(_ seed: UInt64) { random = SeededRandom(seed: seed) }

    mutating func next() -> UInt64 { random.next() }

    /// - Parameter bound: At least 1.
    mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }

    mutating func fraction() -> Double { Double(next() >> 11) / 9_007_199_254_740_992 }

    mutating func happens(_ probability: Double) -> Bool { fraction() < probability }

    mutating func pick<T>(_ all: [T]) -> T { all[below(all.count)] }
}
