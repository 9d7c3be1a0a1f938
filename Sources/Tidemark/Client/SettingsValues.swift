import Dispatch
import Foundation

extension FirestoreSettings {
    /// The settings as a client keeps them.
    struct Values: Sendable {
        var host: String?
        var isSSLEnabled = true
        var authorities: [[UInt8]] = []
        var dispatchQueue = DispatchQueue.main
        var cache = Cache.standard
        var freesAtOnce = false
        var cacheEncryption: CacheEncryption?
        var user: String?
        var sharesCacheBetweenUsers = false
        var cacheSizeBytes: Int64? = 100 * 1024 * 1024
        var label: String?
        var readDeadline: Duration? = .seconds(10)
        var token: String?
        var tokenProvider: (any TokenProvider)?
        var appCheckProvider: (any TokenProvider)?
        var onBusyCache = BusyCache.fail
        var readBudgets: [ReadBudget] = []
        var stormBounds = StormBreaker.Bounds()
        var indexAdvisor: IndexAdvisor?
    }

    struct Server: Hashable {
        var host: String
        var port: Int
        var usesTLS: Bool
    }

    static let cloudHost = "firestore.googleapis.com"

    static func emulator(_ environment: [String: String]) -> String? {
        guard let host = environment["FIRESTORE_EMULATOR_HOST"], !host.isEmpty else { return nil }
        return host
    }
}

extension FirestoreSettings {
    /// The address of the server that a client with these settings uses; nil if ``host`` is not an
    /// address.
    package var address: (host: String, port: Int, usesTLS: Bool)? {
        let environment = ProcessInfo.processInfo.environment
        return (try? values.server(environment: environment)).map {
            ($0.host, $0.port, $0.usesTLS)
        }
    }
}

extension FirestoreSettings.BusyCache {
    var policy: SyncEngine.BusyCache {
        switch self {
        case .fail: .fail
        case .readOnly: .view
        case .shared(.app): .share(.app)
        case .shared(.helper): .share(.helper)
        }
    }
}

extension FirestoreSettings.Values {
    /// Source: `FirestoreCacheSizeUnlimited` and the bound of a cache's size, swift-api 1.1.
    private static let smallestCache: Int64 = 1024 * 1024

    /// - Throws: `invalidArgument` for a cache that is too small.
    func check() throws(FirestoreError) {
        if let size = cacheSizeBytes, size < Self.smallestCache {
            throw .invalidArgument("A cache of \(size) bytes is too small: the minimum is 1 MiB.")
        }
    }

    /// - Throws: ``FirestoreError`` if the host is not a host with a port.
    func server(
        environment: [String: String]
    ) throws(FirestoreError) -> FirestoreSettings.Server {
        if let host { return try Self.server(host, usesTLS: isSSLEnabled) }
        if let emulator = FirestoreSettings.emulator(environment) {
            return try Self.server(emulator, usesTLS: false)
        }
        return FirestoreSettings.Server(
            host: FirestoreSettings.cloudHost, port: 443, usesTLS: true)
    }

    /// Parses `host`, `host:port` or `[::1]:port`. Without a port, TLS or its absence implies the
    /// port.
    private static func server(
        _ text: String, usesTLS: Bool
    ) throws(FirestoreError) -> FirestoreSettings.Server {
        let implied = usesTLS ? 443 : 80
        var host = Substring(text)
        var port: Int? = implied
        // The port begins at a colon that follows the bracket of an IPv6 address, or at the only
        // colon.
        if let colon = host.lastIndex(of: ":"),
            host.firstIndex(of: ":") == colon || host[..<colon].hasSuffix("]")
        {
            port = Int(host[host.index(after: colon)...])
            host = host[..<colon]
        }
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        guard let port, (1...65_535).contains(port), !host.isEmpty, !host.contains("/") else {
            throw .invalidArgument("\"\(text)\" is not a host, as in \"localhost:8080\".")
        }
        return FirestoreSettings.Server(host: String(host), port: port, usesTLS: usesTLS)
    }

    /// The cache's file; nil for memory.
    func cacheFile(of database: DatabaseID) -> String? {
        let folder: URL
        switch cache {
        case .memory: return nil
        case .directory(let path): folder = URL(fileURLWithPath: path)
        case .standard: folder = Self.standardFolder
        }
        let name = [database.project, database.database].map(Self.fileName).joined(separator: ".")
        return folder.appendingPathComponent(name + ".sqlite").path
    }

    private static var standardFolder: URL {
        let kept = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)
        return (kept.first ?? FileManager.default.temporaryDirectory)
            .appendingPathComponent("tidemark")
            .appendingPathComponent(fileName(ProcessInfo.processInfo.processName))
    }

    /// Returns a file name for a project or database, because their names can contain characters
    /// that disks do not accept.
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
