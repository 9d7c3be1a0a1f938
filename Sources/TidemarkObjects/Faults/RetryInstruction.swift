/// A fault of one request, by the name that Google's test server for Cloud Storage gives it.
/// Source: the README of googleapis/storage-testbench.
package enum RetryInstruction: Hashable, Sendable {
    /// `return-503`: the request fails and has no effect.
    case status(Int)
    /// `return-503-after-256K`: the upload fails after a number of bytes, which stay.
    case statusAfter(Int, bytes: Int64)
    /// `return-broken-stream`: the connection breaks in the first bytes of the answer.
    case brokenAnswer
    /// `return-broken-stream-after-256K`: the connection breaks in the bytes of a download. In an
    /// upload, it breaks after the bytes, which stay.
    case brokenAfter(bytes: Int64)
    /// `return-broken-stream-final-chunk-after-10B`: the object of a resumable upload is made, and
    /// the connection breaks in the answer. With 0 bytes, no part of the answer is sent.
    case brokenFinal(bytes: Int64)
    /// `return-reset-connection`: the connection is reset before the request has an effect.
    case reset
    /// `stall-for-10s-after-12K`: a download or an upload pauses after a number of bytes.
    case stall(seconds: Int64, bytes: Int64)

    /// The number of bytes of an answer before `return-broken-stream` breaks the connection.
    package static let fewBytes: Int64 = 4
    /// The longest pause in seconds.
    static let longestStall: Int64 = 600
    /// The largest size of an object in bytes.
    private static let maxBytes: Int64 = 5 << 40

    /// - Throws: ``ObjectRefusal`` with status 400 and a sentence for an unknown name.
    package init(_ name: String) throws(ObjectRefusal) {
        let words = name.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
        switch words.count {
        case 2 where words[0] == "return": self = .status(try Self.status(words[1], in: name))
        case 3 where name == "return-broken-stream": self = .brokenAnswer
        case 3 where name == "return-reset-connection": self = .reset
        case 4 where words[0] == "return" && words[2] == "after":
            self = .statusAfter(
                try Self.status(words[1], in: name), bytes: try Self.kibibytes(words[3], in: name))
        case 5 where name.hasPrefix("return-broken-stream-after-"):
            self = .brokenAfter(bytes: try Self.kibibytes(words[4], in: name))
        case 5 where name.hasPrefix("stall-for-") && words[3] == "after":
            let seconds = try Self.number(words[2], unit: "s", in: name)
            guard seconds <= Self.longestStall else {
                throw .invalid("\(name) is too long: at most \(Self.longestStall) s.")
            }
            self = .stall(seconds: seconds, bytes: try Self.kibibytes(words[4], in: name))
        case 7 where name.hasPrefix("return-broken-stream-final-chunk-after-"):
            self = .brokenFinal(bytes: try Self.number(words[6], unit: "B", in: name))
        default: throw Self.unknown(name)
        }
    }

    private static func unknown(_ name: String) -> ObjectRefusal {
        .invalid(
            """
            \(name.prefix(100)) is no known instruction. Known are return-503, \
            return-503-after-256K, return-broken-stream, return-broken-stream-after-256K, \
            return-broken-stream-final-chunk-after-10B, return-reset-connection and \
            stall-for-1s-after-256K, with other numbers.
            """)
    }

    private static func status(_ text: String, in name: String) throws(ObjectRefusal) -> Int {
        guard let number = ByteNumber.parse(text), (400...599).contains(number) else {
            throw unknown(name)
        }
        return Int(number)
    }

    private static func kibibytes(_ text: String, in name: String) throws(ObjectRefusal) -> Int64 {
        try number(text, unit: "K", in: name) << 10
    }

    private static func number(
        _ text: String, unit: Character, in name: String
    ) throws(ObjectRefusal) -> Int64 {
        guard text.last == unit, let number = ByteNumber.parse(text.dropLast()),
            number <= maxBytes >> 10
        else { throw unknown(name) }
        return number
    }

    /// The name, as ``init(_:)`` takes it.
    package var name: String {
        switch self {
        case .status(let status): "return-\(status)"
        case .statusAfter(let status, let bytes): "return-\(status)-after-\(bytes >> 10)K"
        case .brokenAnswer: "return-broken-stream"
        case .brokenAfter(let bytes): "return-broken-stream-after-\(bytes >> 10)K"
        case .brokenFinal(let bytes): "return-broken-stream-final-chunk-after-\(bytes)B"
        case .reset: "return-reset-connection"
        case .stall(let seconds, let bytes): "stall-for-\(seconds)s-after-\(bytes >> 10)K"
        }
    }
}
