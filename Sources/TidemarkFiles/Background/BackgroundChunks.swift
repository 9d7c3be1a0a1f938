/// The decisions about chunks that the system sends for an app that may have ended. Pure.
///
/// The system continues a chunk after the end of the process that started it. The next process must
/// not send to the same session meanwhile. Its uploads wait until the chunk has ended, and then ask
/// Storage for the offset. A chunk that no upload waits for is cancelled.
struct BackgroundChunks: Hashable, Sendable {
    /// The number that the system gave to a chunk.
    typealias Number = Int

    /// The description of a chunk, which the system keeps with it.
    struct Chunk: Hashable, Sendable, Codable {
        /// The bytes of the id of the user who owns the file, in hexadecimal digits.
        var user: String
        /// The number of the file.
        var file: Int64
        /// A digest of the session's address, which is a secret.
        var session: String
        var offset: Int64
    }

    enum Event: Hashable, Sendable {
        /// The chunks that the system has at the start, by their numbers; nil for a description
        /// that cannot be read.
        case found([Number: Chunk?])
        /// The session in the journal of a file with a found chunk; nil if the file does not wait
        /// or has no session.
        case row(file: Int64, user: String, session: String?)
        /// This process has started a chunk.
        case started(Number)
        /// A chunk has ended, whatever its result.
        case ended(Number)
        /// A chunk was waited for as long as ``patience``.
        case late(Number)
        /// The system has launched the app and delivered the ends of its chunks.
        case delivered
        /// No chunk was started within ``longestDelivery``.
        case deliveryLate
    }

    enum Effect: Hashable, Sendable {
        case cancel(Number)
        /// Sends ``Event/late(_:)`` after ``patience``.
        case wait(Number)
        /// Sends ``Event/deliveryLate`` after ``longestDelivery``.
        case waitForChunk
        /// Looks at the journal again: a file may have become free.
        case look
        /// Allows the system to suspend the app.
        case answerSystem
    }

    /// The longest time that an upload waits for a chunk of an earlier process.
    static let patience = Duration.seconds(120)
    /// The system grants an app some 30 s after it has delivered the ends of chunks.
    static let longestDelivery = Duration.seconds(10)

    /// False until the system has named its chunks. Nothing is sent before.
    private(set) var isKnown = false
    /// The chunks of earlier processes that have not ended.
    private(set) var found: [Number: Chunk] = [:]
    private var own: Set<Number> = []
    private var cancelled: Set<Number> = []
    private var isDelivered = false

    mutating func step(_ event: Event) -> [Effect] {
        switch event {
        case .found(let chunks): return take(chunks)
        case .row(let file, let user, let session): return compare(file, user, session)
        case .started(let number):
            own.insert(number)
            return answer()
        case .ended(let number):
            own.remove(number)
            cancelled.remove(number)
            return found.removeValue(forKey: number) == nil ? [] : [.look]
        case .late(let number): return found[number] == nil ? [] : cancel(number)
        case .delivered:
            isDelivered = true
            return [.look, .waitForChunk]
        case .deliveryLate: return answer()
        }
    }

    /// True if an upload must not send now.
    func holds(_ file: Int64, of user: String) -> Bool {
        !isKnown || found.values.contains { $0.file == file && $0.user == user }
    }

    private mutating func take(_ chunks: [Number: Chunk?]) -> [Effect] {
        isKnown = true
        var effects: [Effect] = []
        for (number, chunk) in chunks.sorted(by: { $0.key < $1.key }) where !own.contains(number) {
            guard let chunk else {
                effects.append(.cancel(number))
                continue
            }
            if found.updateValue(chunk, forKey: number) == nil { effects.append(.wait(number)) }
        }
        return effects + [.look]
    }

    private mutating func compare(_ file: Int64, _ user: String, _ session: String?) -> [Effect] {
        found.filter { $0.value.file == file && $0.value.user == user }
            .filter { session == nil || $0.value.session != session }
            .keys.sorted().flatMap { cancel($0) }
    }

    private mutating func cancel(_ number: Number) -> [Effect] {
        cancelled.insert(number).inserted ? [.cancel(number)] : []
    }

    private mutating func answer() -> [Effect] {
        if !isDelivered { return [] }
        isDelivered = false
        return [.answerSystem]
    }
}

extension BackgroundChunks.Chunk {
    init(user: [UInt8], file: Int64, address: String, offset: Int64) {
        self.user = Self.text(user)
        self.file = file
        session = Self.digest(of: address)
        self.offset = offset
    }

    static func text(_ user: [UInt8]) -> String {
        let digits = Array("0123456789abcdef")
        return String(user.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }

    static func digest(of address: String) -> String {
        var digest = RunningDigest()
        Array(address.utf8).withUnsafeBytes { digest.add($0) }
        return digest.digest.sha256
    }
}
