import TidemarkModel
import TidemarkStore

/// Writes of a process that does not hold the cache, as they lie in the cache's inbox.
struct SharedWrite: Equatable, Sendable {
    /// When they were made, by the clock of their process.
    var time: Timestamp
    /// Whose queue they belong to.
    var user: String?
    var mutations: [Mutation]

    private static let edition: UInt8 = 1
    private static let what = "write of another process"

    init(time: Timestamp, user: String?, mutations: [Mutation]) {
        self.time = time.truncatedToMicroseconds
        self.user = user
        self.mutations = mutations
    }

    /// - Throws: ``DamagedRecord`` for bytes that ``bytes`` has not made.
    init(_ bytes: [UInt8]) throws(DamagedRecord) {
        // The edition, the time, the length of the user's id, the id, the mutations. No id has 0 bytes.
        guard bytes.count >= 10, bytes[0] == Self.edition,
            bytes.count >= 10 + Int(bytes[9])
        else { throw DamagedRecord(what: Self.what) }
        let end = 10 + Int(bytes[9])
        let microseconds = bytes[1..<9].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        time = Timestamp(microseconds: Int64(bitPattern: microseconds))
        user = end == 10 ? nil : String(decoding: bytes[10..<end], as: UTF8.self)
        mutations = try MutationCodec.decode(Array(bytes[end...]))
        if mutations.isEmpty { throw DamagedRecord(what: Self.what) }
    }

    var bytes: [UInt8] {
        let user = UserKey(user).bytes
        let time = withUnsafeBytes(of: UInt64(bitPattern: time.microseconds).bigEndian, Array.init)
        return [Self.edition] + time + [UInt8(user.count)] + user + MutationCodec.encode(mutations)
    }
}

/// Names of the writes of one process: in their order, and unlike those of every other process.
struct SharedWriteNames: Sendable {
    private let process: UInt64
    private var last: Int64 = 0

    /// - Parameter process: Drawn by lot.
    init(process: UInt64) { self.process = process }

    /// In the order of time among processes, and of the calls within one, whatever its clock does.
    mutating func next(at time: Timestamp) -> String {
        last = max(last + 1, time.microseconds)
        return Self.padded(String(last), to: 17) + "-"
            + Self.padded(String(process, radix: 16), to: 16)
    }

    private static func padded(_ text: String, to length: Int) -> String {
        String(repeating: "0", count: max(0, length - text.count)) + text
    }
}
