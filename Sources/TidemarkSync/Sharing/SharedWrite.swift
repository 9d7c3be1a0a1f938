import TidemarkModel
import TidemarkStore

/// Writes of a process that does not hold the cache, in the form of the cache's inbox.
struct SharedWrite: Equatable, Sendable {
    /// The time of the writes, by the clock of their process.
    var time: Timestamp
    /// The user whose queue receives the writes.
    var user: String?
    var mutations: [Mutation]

    private static let edition: UInt8 = 1
    private static let what = "write of another process"

    init(time: Timestamp, user: String?, mutations: [Mutation]) {
        self.time = time.truncatedToMicroseconds
        self.user = user
        self.mutations = mutations
    }

    /// - Throws: ``DamagedRecord`` if ``bytes`` did not make these bytes.
    init(_ bytes: [UInt8]) throws(DamagedRecord) {
        // The bytes are the edition, the time, the length of the user's id, the id, and the
        // mutations. No id has 0 bytes.
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

/// The names of one process's writes. They are in the order of the writes, and differ from the
/// names of all other processes.
struct SharedWriteNames: Sendable {
    private let process: UInt64
    private var last: Int64 = 0

    /// - Parameter process: A random number.
    init(process: UInt64) { self.process = process }

    /// Returns the next name. Names of several processes are ordered by time. Names of one process
    /// are ordered by call, even if its clock goes back.
    mutating func next(at time: Timestamp) -> String {
        last = max(last + 1, time.microseconds)
        return Self.padded(String(last), to: 17) + "-"
            + Self.padded(String(process, radix: 16), to: 16)
    }

    private static func padded(_ text: String, to length: Int) -> String {
        String(repeating: "0", count: max(0, length - text.count)) + text
    }
}
