import Synchronization

/// The browsers that have shown the server's token. Each has its own random cookie, only in memory:
/// when the server ends, they must show the token again.
final class PageSessions: Sendable {
    /// The maximum number of browsers; above it, the oldest must show the token again.
    static let capacity = 100
    private static let name = "tidemark-session"

    private let ids = Mutex<[String]>([])

    /// - Returns: The header that gives a browser its cookie. Other sites never send the cookie,
    ///   and no script can read it.
    func begin() -> String {
        var generator = SystemRandomNumberGenerator()
        let id = (0..<4).map { _ in
            let part = String(UInt64.random(in: .min ... .max, using: &generator), radix: 16)
            return String(repeating: "0", count: 16 - part.count) + part
        }.joined()
        ids.withLock { ids in
            ids.append(id)
            if ids.count > Self.capacity { ids.removeFirst() }
        }
        return "\(Self.name)=\(id); HttpOnly; SameSite=Strict; Path=/"
    }

    /// - Parameter cookies: The received headers.
    func knows(_ cookies: [String]) -> Bool {
        let offered = cookies.flatMap { $0.split(separator: ";") }.compactMap { pair -> String? in
            let sides = pair.split(separator: "=", maxSplits: 1)
            guard sides.count == 2, sides[0].filter({ $0 != " " }) == Self.name else { return nil }
            return String(sides[1])
        }
        return ids.withLock { ids in offered.contains { ids.contains($0) } }
    }
}
