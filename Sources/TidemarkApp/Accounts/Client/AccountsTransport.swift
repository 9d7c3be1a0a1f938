public import Foundation

/// Sends requests to an accounts server. Conformers: HTTP, and a script in tests.
public protocol AccountsTransport: Sendable {
    /// - Throws: ``AccountsUnreachable`` if no complete answer arrived within the request's time;
    ///   the server may have executed the request.
    func send(_ request: AccountsRequest) async throws(AccountsUnreachable) -> AccountsReply
}

public struct AccountsRequest: Hashable, Sendable {
    public enum Service: Hashable, Sendable {
        /// `identitytoolkit.googleapis.com`.
        case accounts
        /// `securetoken.googleapis.com`.
        case tokens
    }

    public var service: Service
    /// The path, as in `v1/accounts:signUp`.
    public var path: String
    /// The body, in JSON.
    public var body: [UInt8]
    public var timeout: Duration

    public init(_ service: Service, _ path: String, body: [UInt8], timeout: Duration) {
        self.service = service
        self.path = path
        self.body = body
        self.timeout = timeout
    }
}

public struct AccountsReply: Hashable, Sendable {
    public var status: Int
    public var body: [UInt8]

    public init(status: Int, body: [UInt8]) {
        self.status = status
        self.body = body
    }
}

public struct AccountsUnreachable: Error, Hashable, Sendable {
    /// The reason, for the log.
    public let detail: String
    /// True if the request was certainly not sent, because no server listens there.
    public let hadNoEffect: Bool

    public init(_ detail: String, hadNoEffect: Bool = false) {
        self.detail = detail
        self.hadNoEffect = hadNoEffect
    }
}

/// The address of an accounts server, and the project's key.
public struct AccountsEndpoint: Hashable, Sendable {
    /// The address without a slash at its end.
    public let accounts: String
    public let tokens: String
    public let key: String
    /// The app's bundle identifier, sent with every call. A key that is restricted to iOS apps
    /// refuses calls without the identifier of one of these apps. Nil sends none.
    public let bundleID: String?

    /// Google's servers.
    ///
    /// - Parameters:
    ///   - key: The API key in `GoogleService-Info.plist`.
    ///   - bundleID: The bundle identifier to which the key is restricted; the running app's by
    ///     default. An extension passes its app's: `GoogleServiceInfo.bundleID`.
    public static func cloud(
        key: String, bundleID: String? = Bundle.main.bundleIdentifier
    ) -> AccountsEndpoint {
        AccountsEndpoint(
            accounts: "https://identitytoolkit.googleapis.com",
            tokens: "https://securetoken.googleapis.com", key: key, bundleID: bundleID)
    }

    /// `tidemark serve`, or another emulator, for example `localhost:9099`, without TLS.
    ///
    /// - Parameters:
    ///   - host: The host and the port.
    ///   - key: The API key; a local server accepts any text.
    ///   - bundleID: The identifier that `--accounts-ios-bundle` demands.
    public static func local(
        _ host: String, key: String = "tidemark", bundleID: String? = nil
    ) -> AccountsEndpoint {
        AccountsEndpoint(
            accounts: "http://\(host)/identitytoolkit.googleapis.com",
            tokens: "http://\(host)/securetoken.googleapis.com", key: key, bundleID: bundleID)
    }

    /// Returns the address of a request. Characters of the key that an address cannot contain are
    /// removed.
    public func url(of request: AccountsRequest) -> String {
        let base = request.service == .accounts ? accounts : tokens
        let allowed = key.utf8.filter { byte in
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte & 0xDF)
                || "-_.~".utf8.contains(byte)
        }
        return "\(base)/\(request.path)?key=\(String(decoding: allowed, as: UTF8.self))"
    }
}
