import TestSupport
import Testing
import TidemarkModel

@testable import TidemarkObjects

/// Random histories of one upload. The tests' own disk and clients check the machine: the object
/// has the client's bytes, no two requests write at a time, and each request has one answer.
struct ObjectHistoryTests {
    private static let seeds = SeedRange("TIDEMARK_OBJECT_SEEDS", 0..<400)

    @Test(.ownThread, arguments: seeds.shares)
    func `make the client's object or none`(seeds: Range<UInt64>) throws {
        var ends: [String: Int] = [:]
        for seed in seeds {
            var history = UploadHistory(seed: seed)
            try history.play()
            ends[history.end, default: 0] += 1
        }
        // Histories that never end in an object would prove nothing.
        if seeds.count == 50 { #expect(ends["object", default: 0] >= 10, "\(ends)") }
    }
}

/// A history of clients that send, repeat, cut, displace and cancel requests.
private struct UploadHistory {
    private struct Request {
        var offset: Int64
        var count: Int64
        var sent: Int64 = 0
        var span: UploadSpan?
    }

    private let seed: UInt64
    private var random: SeededRandom
    private let dialect: UploadDialect
    private let file: [UInt8]
    private var machine: UploadMachine
    /// The bytes in the server's file, and how many of them a loss of power spares.
    private var disk: [UInt8] = []
    private var synced = 0
    private var requests: [CallID: Request] = [:]
    private var writer: CallID?
    private var stopped: Set<CallID> = []
    private var committing: CallID?
    private var unanswered: Set<CallID> = []
    private var calls = 0
    private(set) var end = "open"
    /// True once no request fails.
    private var isHealed = false

    init(seed: UInt64) {
        self.seed = seed
        random = SeededRandom(seed: seed)
        dialect = Bool.random(using: &random) ? .firebase : .cloud
        let size = [0, 1, 7, 40, 100].randomElement(using: &random) ?? 0
        file = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ Int(seed)) }
        let declared = Bool.random(using: &random) ? Int64(size) : nil
        machine = UploadMachine(dialect: dialect, declared: declared)
    }

    private func fail(_ text: String) -> ObjectRefusal {
        .invalid("seed \(seed): \(text); \(machine)")
    }

    mutating func play() throws {
        for _ in 0..<60 { try act() }
        isHealed = true
        // In the end the network heals: all requests finish, and a client completes the upload.
        while let call = writer ?? committing { try finish(call) }
        for _ in 0..<3 where end == "open" {
            try send(from: Int64(machine.received), all: true)
            while let call = writer ?? committing { try finish(call) }
        }
        guard unanswered.isEmpty else { throw fail("\(unanswered) have no answer") }
        guard end != "open" else { throw fail("it never ends") }
    }

    private mutating func act() throws {
        switch Int.random(in: 0..<12, using: &random) {
        case 0...2:
            let right = Int.random(in: 0..<4, using: &random) > 0
            let from = right ? machine.received : Int64.random(in: 0...110, using: &random)
            try send(from: from, all: Bool.random(using: &random))
        case 3: try perform(.query(begin()))
        case 4 where Int.random(in: 0..<12, using: &random) == 0: try perform(.cancel(begin()))
        case 5...8: try transfer()
        case 9: if let call = writer { try finish(call) }
        case 10: if let call = committing { try finish(call) }
        default: if writer != nil { try cut() }
        }
    }

    private mutating func begin() -> CallID {
        calls += 1
        unanswered.insert(calls)
        return calls
    }

    /// Sends bytes of the file. A client whose offset is beyond the file sends none.
    private mutating func send(from offset: Int64, all: Bool) throws {
        let call = begin()
        let rest = max(0, Int64(file.count) - offset)
        let count = all ? rest : Int64.random(in: 0...rest, using: &random)
        requests[call] = Request(offset: offset, count: count)
        let isLast = count == rest && offset <= file.count
        switch dialect {
        case .firebase:
            let isKnown = Bool.random(using: &random)
            try perform(
                .chunk(
                    UploadChunk(offset: offset, length: isKnown ? count : nil, isLast: isLast),
                    call))
        case .cloud:
            let total = isLast ? Int64(file.count) : nil
            try perform(
                .chunk(
                    UploadChunk(
                        offset: count == 0 ? nil : offset, length: count == 0 ? nil : count,
                        total: total), call))
        }
    }

    /// Moves some bytes of the writer's request to the disk.
    private mutating func transfer() throws {
        guard let call = writer, var request = requests[call], let span = request.span else {
            return
        }
        let left = request.count - request.sent
        let count = Int64.random(in: 0...left, using: &random)
        for _ in 0..<count {
            let place = request.offset + request.sent
            request.sent += 1
            if request.sent <= span.skip { continue }
            disk.append(file[Int(place)])
        }
        requests[call] = request
        if Bool.random(using: &random), !stopped.contains(call) {
            synced = disk.count
            try perform(.stored(upTo: Int64(synced), call))
        }
    }

    private mutating func cut() throws {
        guard let call = writer else { return }
        if Int.random(in: 0..<5, using: &random) == 0 {
            // The disk fails: unsynced bytes are lost.
            writer = nil
            try perform(.failed(.noSpace, call))
            return
        }
        writer = nil
        // Whole blocks of four bytes stay.
        let whole = max(synced, Int(machine.received), disk.count / 4 * 4)
        disk.removeLast(max(0, disk.count - whole))
        synced = disk.count
        try perform(.ended(upTo: Int64(synced), isComplete: false, call))
    }

    private mutating func finish(_ call: CallID) throws {
        if committing == call {
            committing = nil
            let isRefused = !isHealed && Int.random(in: 0..<8, using: &random) == 0
            if isRefused {
                let isForGood = Int.random(in: 0..<4, using: &random) == 0
                try perform(.refused(.noSpace, isForGood: isForGood, call))
                if isForGood { end = "refused" }
            } else {
                guard disk == file else { throw fail("the object has \(disk.count) wrong bytes") }
                end = "object"
                try perform(.committed(generation: 1, call))
            }
            return
        }
        if stopped.contains(call) { return try cut() }
        guard var request = requests[call], let span = request.span else { return }
        while request.sent < request.count {
            let place = Int(request.offset + request.sent)
            request.sent += 1
            if request.sent > span.skip { disk.append(file[place]) }
        }
        writer = nil
        synced = disk.count
        try perform(.ended(upTo: Int64(synced), isComplete: true, call))
    }

    private mutating func perform(_ event: UploadEvent) throws {
        for effect in machine.step(event) {
            switch effect {
            case .receive(let call, let span):
                guard writer == nil, committing == nil else { throw fail("two requests write") }
                guard end == "open" else { throw fail("it writes after the end") }
                guard span.at <= synced else { throw fail("it goes on after lost bytes") }
                disk.removeLast(disk.count - Int(span.at))
                synced = disk.count
                let request = requests[call]
                guard let request, request.offset + span.skip == span.at else {
                    throw fail("the bytes of \(call) would be at another place")
                }
                requests[call]?.span = span
                writer = call
            case .stop(let call):
                guard writer == call else { throw fail("\(call) does not write") }
                stopped.insert(call)
            case .commit(let call):
                guard committing == nil, writer == nil else { throw fail("it commits twice") }
                committing = call
            case .discard: disk = []
            case .save: break
            case .answer(let call, let answer):
                guard unanswered.remove(call) != nil else { throw fail("\(call) has two answers") }
                try check(answer)
            }
        }
        if case .cancelled = machine.phase { end = "cancelled" }
    }

    private func check(_ answer: UploadAnswer) throws {
        switch answer {
        case .active(let received):
            guard received <= synced else { throw fail("\(received) bytes are not synced") }
            guard disk.prefix(Int(received)).elementsEqual(file.prefix(Int(received))) else {
                throw fail("the bytes are not the client's")
            }
        case .final: guard end == "object" else { throw fail("there is no object") }
        case .cancelled, .refusal: break
        }
    }
}
