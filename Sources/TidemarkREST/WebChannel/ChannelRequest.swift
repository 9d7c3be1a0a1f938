import Foundation
import TidemarkModel

/// A decoded request to a WebChannel.
struct ChannelRequest: Equatable {
    enum Kind: Equatable {
        case handshake
        case forward(sid: String)
        case back(sid: String)
        case terminate(sid: String)
    }

    let rpc: RPCMethod
    let kind: Kind
    /// The origin of the page; nil if a program sent the request.
    let origin: String?
    /// The request's headers, and the headers that a page may not set itself.
    let headers: [String: String]
    /// The number of the last array that the browser has received.
    let acknowledged: Int?
    let isPolling: Bool
    /// The maximum duration of a poll.
    let wait: Duration
    let firstMap: Int
    let maps: [String]
    /// True if the connection carries several requests at the same time.
    let isMultiplexed: Bool

    static let pathPrefix = "/google.firestore.v1.Firestore/"
    static let maxMaps = 1_000

    static func isChannel(_ path: String) -> Bool { path.hasPrefix(pathPrefix) }

    /// - Throws: `NOT_FOUND` for another path, `INVALID_ARGUMENT` for a malformed request.
    init(_ request: RESTRequest) throws(RPCStatus) {
        switch request.path.dropFirst(Self.pathPrefix.count) {
        case "Listen/channel": rpc = .listen
        case "Write/channel": rpc = .write
        default: throw RPCStatus(.notFound, "There is no channel at \(request.path.prefix(300)).")
        }
        guard let pairs = URLText.pairs(request.query ?? "") else { throw Self.malformed }
        let query = Dictionary(pairs.map { ($0.name, $0.value) }) { _, last in last }
        let form = try Self.form(request)
        origin = request.headers["origin"]
        isMultiplexed = request.isMultiplexed
        headers = try Self.headers(request, query: query, form: form)
        acknowledged = query["AID"].flatMap { Int($0) }
        isPolling = query["CI"] == "1"
        wait = .milliseconds(max(0, min(query["TO"].flatMap { Int($0) } ?? 30_000, 60_000)))
        (maps, firstMap) = try Self.maps(form)
        let sid = query["SID"] ?? ""
        if query["TYPE"] == "terminate" {
            kind = .terminate(sid: sid)
        } else if request.method == "GET", query["RID"] == "rpc" {
            kind = .back(sid: sid)
        } else if request.method == "POST" {
            guard query["VER"] == "8" else {
                throw .invalidArgument("This server supports version 8 of WebChannel only.")
            }
            kind = sid.isEmpty ? .handshake : .forward(sid: sid)
        } else {
            throw Self.malformed
        }
    }

    private static let malformed = RPCStatus.invalidArgument(
        """
        This is not a request of a WebChannel.
        """)

    private static func form(_ request: RESTRequest) throws(RPCStatus) -> [String: String] {
        guard request.method == "POST" else { return [:] }
        // The pairs are counted before they are decoded, which limits the memory.
        let marks = request.body.lazy.filter { $0 == UInt8(ascii: "&") }.prefix(4 * maxMaps).count
        guard marks < 4 * maxMaps else { throw malformed }
        let text = String(decoding: request.body, as: UTF8.self)
        guard let pairs = URLText.pairs(text) else { throw malformed }
        return Dictionary(pairs.map { ($0.name, $0.value) }) { _, last in last }
    }

    private static func maps(
        _ form: [String: String]
    ) throws(RPCStatus) -> (maps: [String], first: Int) {
        guard let text = form["count"] else { return ([], 0) }
        guard let count = Int(text), (0...maxMaps).contains(count),
            let first = Int(form["ofs"] ?? "0"), (0..<(1 << 53)).contains(first)
        else { throw malformed }
        var maps: [String] = []
        for index in 0..<count {
            guard let map = form["req\(index)___data__"] else { throw malformed }
            maps.append(map)
        }
        return (maps, first)
    }

    /// Returns the headers, with the headers from the text. A page sends its own headers as a text,
    /// in the body or (older clients) in the URL, because the browser would ask permission for each
    /// real header.
    private static func headers(
        _ request: RESTRequest, query: [String: String], form: [String: String]
    ) throws(RPCStatus) -> [String: String] {
        var headers = request.headers
        for text in [query["$httpHeaders"], form["headers"]].compactMap({ $0 }) {
            for line in text.replacing("\r\n", with: "\n").split(separator: "\n") {
                let sides = line.split(
                    separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
                guard sides.count == 2 else { throw malformed }
                headers[sides[0].lowercased()] = sides[1].trimmingCharacters(in: .whitespaces)
            }
        }
        return headers
    }
}
