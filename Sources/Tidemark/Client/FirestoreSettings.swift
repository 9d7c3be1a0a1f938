import Foundation

/// How a ``Firestore`` reaches its server and where it keeps its cache.
public struct FirestoreSettings: Hashable, Sendable {
    public enum Cache: Hashable, Sendable {
        /// Gone with the client, the queue of writes too.
        case memory
        /// One SQLite file a database and user in this folder, which is made when it is missing. One
        /// client a folder at a time.
        case directory(String)
    }

    /// As in `localhost:8080`. Nil takes `FIRESTORE_EMULATOR_HOST` from the environment, without TLS,
    /// and where that is not set Cloud Firestore.
    public var host: String?
    public var isSSLEnabled: Bool
    public var cache: Cache
    /// Who uses the client from the start, by the app's own id of at most 128 bytes: each user has a
    /// cache and a queue of writes apart from all others'. Nil before anybody signed in. Later changes
    /// are ``Firestore/changeUser(to:erasingPrevious:)``.
    public var user: String?
    /// As FirebaseFirestore has it: one cache for all users, and only the queue of writes is each
    /// one's own. What one user has read, the next one sees.
    public var sharesCacheBetweenUsers: Bool
    /// What the cache may take on this device; beyond it, what was used the longest ago goes, a little
    /// every few minutes. Nil for no bound; at least 1 MiB. What feeds hold, what is listened to and
    /// what waits to be sent is never removed.
    public var cacheSizeBytes: Int64?
    /// Whom the server's read meter counts this client for; nil counts as unlabelled.
    public var label: String?
    /// How long a read that names no deadline of its own waits for the server before the cache
    /// answers. Nil waits for as long as the server is thought to be reachable.
    public var readDeadline: Duration?
    /// A bearer token that is sent with every call, for a server that asks for one; nil for none.
    public var token: String?

    public init(
        host: String? = nil, isSSLEnabled: Bool = true, cache: Cache = .memory,
        user: String? = nil, sharesCacheBetweenUsers: Bool = false,
        cacheSizeBytes: Int64? = 100 * 1024 * 1024,
        label: String? = nil, readDeadline: Duration? = .seconds(10),
        token: String? = nil
    ) {
        self.host = host
        self.isSSLEnabled = isSSLEnabled
        self.cache = cache
        self.user = user
        self.sharesCacheBetweenUsers = sharesCacheBetweenUsers
        self.cacheSizeBytes = cacheSizeBytes
        self.label = label
        self.readDeadline = readDeadline
        self.token = token
    }
}

extension FirestoreSettings {
    struct Server: Hashable {
        var host: String
        var port: Int
        var usesTLS: Bool
    }

    static let smallestCache: Int64 = 1024 * 1024

    static let cloudHost = "firestore.googleapis.com"

    /// - Throws: ``FirestoreError`` when the host is no host with a port.
    func server(environment: [String: String]) throws(FirestoreError) -> Server {
        if let host { return try Self.server(host, usesTLS: isSSLEnabled) }
        if let emulator = environment["FIRESTORE_EMULATOR_HOST"], !emulator.isEmpty {
            return try Self.server(emulator, usesTLS: false)
        }
        return Server(host: Self.cloudHost, port: 443, usesTLS: true)
    }

    /// `host`, `host:port`, `[::1]:port`; without a port the one that TLS, or its absence, implies.
    private static func server(_ text: String, usesTLS: Bool) throws(FirestoreError) -> Server {
        let implied = usesTLS ? 443 : 80
        var host = Substring(text)
        var port: Int? = implied
        // A colon after the bracket of an IPv6 address, or the only one there is, begins the port.
        if let colon = host.lastIndex(of: ":"),
            host.firstIndex(of: ":") == colon || host[..<colon].hasSuffix("]")
        {
            port = Int(host[host.index(after: colon)...])
            host = host[..<colon]
        }
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        guard let port, (1...65_535).contains(port), !host.isEmpty, !host.contains("/") else {
            throw .invalidArgument("\"\(text)\" is no host as in \"localhost:8080\".")
        }
        return Server(host: String(host), port: port, usesTLS: usesTLS)
    }

    /// The cache's file; nil for memory.
    func cacheFile(of database: DatabaseID) -> String? {
        guard case .directory(let folder) = cache else { return nil }
        let name = [database.project, database.database].map(Self.fileName).joined(separator: ".")
        return URL(fileURLWithPath: folder).appendingPathComponent(name + ".sqlite").path
    }

    /// Names of projects and databases may hold what disks do not take.
    private static func fileName(_ text: String) -> String {
        text.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "-"):
                String(UnicodeScalar(byte))
            default: "_" + String(byte, radix: 16)
            }
        }.joined()
    }
}
