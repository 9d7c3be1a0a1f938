public import Foundation
import Synchronization
package import TidemarkServer

/// Reports the servers' addresses to Firebase's tools, like the hub of Firebase's emulators: by
/// `GET /emulators`, and by a file in the temporary folder that contains the hub's address.
///
/// Tests call `PUT /functions/disableBackgroundTriggers` and `…/enableBackgroundTriggers` around
/// code that must start no functions. Commits between them cause no events.
public final class EmulatorHub: WebPages {
    /// The ports of the servers.
    public struct Ports: Hashable, Sendable {
        public var hub: Int
        public var firestore: Int
        /// The port of the accounts; nil if there are none.
        public var accounts: Int?
        /// The port of the ``RequestsFeed``; nil if there is none.
        public var requests: Int?
        /// The port of the objects; nil if there are none.
        public var storage: Int?

        public init(
            hub: Int, firestore: Int, accounts: Int?, requests: Int? = nil, storage: Int? = nil
        ) {
            self.hub = hub
            self.firestore = firestore
            self.accounts = accounts
            self.requests = requests
            self.storage = storage
        }
    }

    private let host: String
    private let version: String
    private let ports = Mutex<Ports?>(nil)
    private let events = Mutex<ServerEvents?>(nil)

    /// - Parameters:
    ///   - host: The address on which the servers listen.
    ///   - version: The version that is reported to tools.
    public init(host: String, version: String) {
        self.host = host
        self.version = version
    }

    /// Sets the ports. Before that, the hub reports no servers.
    public func set(_ ports: Ports) { self.ports.withLock { $0 = ports } }

    /// Sets the events that tests turn off and on. Before that, these requests have no effect.
    package func set(_ events: ServerEvents) { self.events.withLock { $0 = events } }

    public func answer(_ request: PageRequest) async -> PageAnswer? {
        switch (request.method, request.path) {
        case ("PUT", ["functions", "disableBackgroundTriggers"]):
            events.withLock { $0 }?.setRecording(false)
            return Self.json(["enabled": false])
        case ("PUT", ["functions", "enableBackgroundTriggers"]):
            events.withLock { $0 }?.setRecording(true)
            return Self.json(["enabled": true])
        case ("GET", ["emulators"]):
            return ports.withLock { $0 }.map { Self.json(emulators($0)) }
        default: return nil
        }
    }

    private static func json(_ value: some Encodable) -> PageAnswer {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // JSON can represent all texts, numbers and booleans.
        let data = (try? encoder.encode(value)) ?? Data()
        return PageAnswer(type: "application/json", body: .bytes(Array(data)))
    }

    private struct Emulator: Encodable {
        struct Address: Encodable {
            let address: String
            let family: String
            let port: Int
        }

        let name: String
        let host: String
        let port: Int
        let listen: [Address]
        var webSocketHost: String?
        var webSocketPort: Int?

        init(_ name: String, host: String, port: Int) {
            self.name = name
            self.host = host
            self.port = port
            let family = host.utf8.contains(UInt8(ascii: ":")) ? "IPv6" : "IPv4"
            listen = [Address(address: host, family: family, port: port)]
        }
    }

    private func emulators(_ ports: Ports) -> [String: Emulator] {
        var result = [
            "hub": Emulator("hub", host: host, port: ports.hub),
            "firestore": Emulator("firestore", host: host, port: ports.firestore),
        ]
        if let requests = ports.requests {
            result["firestore"]?.webSocketHost = host
            result["firestore"]?.webSocketPort = requests
        }
        if let accounts = ports.accounts {
            result["auth"] = Emulator("auth", host: host, port: accounts)
        }
        if let storage = ports.storage {
            result["storage"] = Emulator("storage", host: host, port: storage)
        }
        return result
    }

    // MARK: The file

    private struct Locator: Encodable {
        let version: String
        let origins: [String]
        let pid: Int32
    }

    /// Returns the path of `hub-PROJECT.json`, in the system's temporary folder.
    public static func locator(of project: String) -> URL {
        FileManager.default.temporaryDirectory.appending(path: "hub-\(project).json")
    }

    /// Writes the file with which tools find the hub of a project.
    ///
    /// - Throws: The error of the file system.
    public func writeLocator(of project: String) throws {
        guard let ports = ports.withLock({ $0 }) else { return }
        let name = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
        let locator = Locator(
            version: version, origins: ["http://\(name):\(ports.hub)"],
            pid: ProcessInfo.processInfo.processIdentifier)
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        try encoder.encode(locator).write(to: Self.locator(of: project), options: .atomic)
    }

    /// Removes the file, if it exists.
    public static func removeLocator(of project: String) {
        try? FileManager.default.removeItem(at: locator(of: project))
    }
}
