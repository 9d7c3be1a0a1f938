public import TidemarkWords

/// The observations of a diagnosis on which a verdict depends.
public struct Evidence: Hashable, Sendable {
    public enum Interface: Hashable, Sendable, CaseIterable {
        /// The device has an address that is not its own loopback.
        case up
        case down, notTried
    }

    public enum Names: Hashable, Sendable, CaseIterable {
        case found
        /// The answer is that the name does not exist.
        case unknown
        case noAnswer, notTried
    }

    public enum Connecting: Hashable, Sendable, CaseIterable {
        case connected
        /// The machine refused immediately: it is reachable, and no program listens.
        case refused
        /// The network reports that there is no route.
        case unreachable
        case noAnswer, notTried
    }

    public enum Securing: Hashable, Sendable, CaseIterable {
        case secured
        /// The address is used without TLS.
        case unused
        /// The certificate is not valid yet, or has expired, by this device's clock.
        case notYetValid, expired
        /// A trusted authority signed the certificate, but for other names than the called name.
        case otherName
        /// No trusted authority signed the certificate.
        case untrusted
        /// The other side does not speak TLS.
        case otherProtocol
        case noAnswer, notTried
    }

    public enum Speaking: Hashable, Sendable, CaseIterable {
        /// The other side speaks HTTP/2, as a Firestore does.
        case http2
        /// A page redirects the caller, as the portals of hotels and trains do.
        case redirected
        /// A proxy requires authentication: HTTP status 407.
        case proxyAsks
        /// A gateway reports that the server behind it does not answer: HTTP status 502, 503 or
        /// 504.
        case gatewayFails
        /// The other side is overloaded: HTTP status 429.
        case exhausted
        /// The other side speaks another protocol.
        case otherProtocol
        /// The connection was closed without an answer.
        case closed
        case noAnswer, notTried
    }

    public enum Reading: Hashable, Sendable, CaseIterable {
        case answered
        /// The answer took longer than ``Doctor/slowAfter``.
        case answeredLate
        case unauthenticated, forbidden
        /// The server answered `RESOURCE_EXHAUSTED`.
        case exhausted
        /// The server is reachable and reports a failure.
        case failed
        /// The server is unavailable.
        case unavailable
        case noAnswer, notTried
    }

    public var interface = Interface.notTried
    public var names = Names.notTried
    public var connecting = Connecting.notTried
    public var securing = Securing.notTried
    public var speaking = Speaking.notTried
    public var reading = Reading.notTried
    /// True if the environment or the system names a proxy.
    public var namesProxy = false
    /// The seconds by which this device's clock is ahead of the server's in an answer; nil without
    /// an answer.
    public var clockAhead: Int64?

    public init() {}
}

/// The problem, with the user's next step.
public enum Verdict: String, Hashable, Sendable, CaseIterable {
    case healthy, slow
    case noNetwork, namesFail, nameUnknown, noRoute, silence
    case captivePortal, proxy
    case clockWrong, certificateExpired, certificateUntrusted
    case backendDown, backendFailing, backendSlow, wrongService
    case quota, credentials, forbidden
    /// The observations are not sufficient.
    case unknown

    /// The duration after which a read counts as slow.
    public static let slowAfter = Duration.seconds(2)
    /// The maximum error of a clock in seconds; a larger error makes certificates and tokens fail.
    public static let clockTolerance: Int64 = 300

    /// Derives the verdict from the observations, the cause before its consequences. A pure and
    /// total function.
    public init(_ evidence: Evidence) {
        self =
            Self.reading(evidence.reading) ?? Self.speaking(evidence)
            ?? Self.securing(evidence) ?? Self.connecting(evidence) ?? Self.names(evidence)
            ?? (evidence.interface == .down ? .noNetwork : .unknown)
    }

    /// The answer to a read is stronger evidence than all earlier steps.
    private static func reading(_ reading: Evidence.Reading) -> Verdict? {
        switch reading {
        case .answered: .healthy
        case .answeredLate: .slow
        case .unauthenticated: .credentials
        case .forbidden: .forbidden
        case .exhausted: .quota
        case .failed: .backendFailing
        case .unavailable, .noAnswer, .notTried: nil
        }
    }

    private static func speaking(_ evidence: Evidence) -> Verdict? {
        switch evidence.speaking {
        case .redirected: .captivePortal
        case .proxyAsks: .proxy
        case .gatewayFails: .backendDown
        case .exhausted: .quota
        case .otherProtocol: evidence.namesProxy ? .proxy : .wrongService
        // The server speaks without the expected TLS.
        case .http2 where evidence.securing == .otherProtocol: .wrongService
        // The connection is good, and only the read has no answer.
        case .http2: evidence.reading == .unavailable ? .backendDown : .backendSlow
        case .closed: evidence.namesProxy ? .proxy : .backendDown
        case .noAnswer: .silence
        case .notTried: nil
        }
    }

    private static func securing(_ evidence: Evidence) -> Verdict? {
        let isClockOff = evidence.clockAhead.map { $0.magnitude > UInt64(clockTolerance) }
        return switch evidence.securing {
        // A certificate for the future is rarer than a clock that was never set.
        case .notYetValid: isClockOff == false ? .certificateUntrusted : .clockWrong
        case .expired: isClockOff == true ? .clockWrong : .certificateExpired
        case .otherName: .certificateUntrusted
        case .untrusted: evidence.namesProxy ? .proxy : .certificateUntrusted
        // A page answered instead of TLS.
        case .otherProtocol: .captivePortal
        case .noAnswer: .silence
        case .secured, .unused, .notTried: nil
        }
    }

    private static func connecting(_ evidence: Evidence) -> Verdict? {
        switch evidence.connecting {
        case .refused: .backendDown
        case .unreachable: evidence.interface == .down ? .noNetwork : .noRoute
        case .noAnswer: evidence.interface == .down ? .noNetwork : .silence
        case .connected, .notTried: nil
        }
    }

    private static func names(_ evidence: Evidence) -> Verdict? {
        switch evidence.names {
        case .unknown: evidence.interface == .down ? .noNetwork : .nameUnknown
        case .noAnswer: evidence.interface == .down ? .noNetwork : .namesFail
        case .found, .notTried: nil
        }
    }

    public var isHealthy: Bool { self == .healthy || self == .slow }

    /// The sentence in the language of the app.
    public var message: String { sentence.localized() }

    /// A sentence for the person using the app. Names no type, code or path.
    public var sentence: Sentence {
        switch self {
        case .healthy: Sentence("diagnosis.healthy", "Everything works.")
        case .slow: Sentence("diagnosis.slow", "Everything works, but slowly.")
        case .noNetwork:
            Sentence("diagnosis.noNetwork", "This device isn't connected to a network.")
        case .namesFail:
            Sentence(
                "diagnosis.namesFail",
                "The network's name lookup doesn't work. Restarting the router may help.")
        case .nameUnknown:
            Sentence(
                "diagnosis.nameUnknown",
                "This network doesn't know the service's name.")
        case .noRoute: Sentence("diagnosis.noRoute", "The network has no route to the service.")
        case .silence:
            Sentence("diagnosis.silence", "A firewall or VPN is blocking the connection.")
        case .captivePortal:
            Sentence(
                "diagnosis.captivePortal",
                "This network wants you to log in first. Open any page in a browser.")
        case .proxy:
            Sentence("diagnosis.proxy", "A proxy is blocking the connection to the service.")
        case .clockWrong:
            Sentence(
                "diagnosis.clockWrong",
                "This device's date and time are wrong. Please correct them.")
        case .certificateExpired:
            Sentence("diagnosis.certificateExpired", "The service's certificate has expired.")
        case .certificateUntrusted:
            Sentence(
                "diagnosis.certificateUntrusted",
                "Another computer on this network pretends to be the service.")
        case .backendDown: Sentence("diagnosis.backendDown", "The service isn't running right now.")
        case .backendFailing:
            Sentence("diagnosis.backendFailing", "The service has a problem right now.")
        case .backendSlow:
            Sentence(
                "diagnosis.backendSlow",
                "The service can be reached but is too slow to answer.")
        case .wrongService:
            Sentence("diagnosis.wrongService", "Another service answers at this address.")
        case .quota: Sentence("diagnosis.quota", "The service has reached its limit for now.")
        case .credentials:
            Sentence("diagnosis.credentials", "Your sign-in wasn't accepted. Please sign in again.")
        case .forbidden: Sentence("diagnosis.forbidden", "You don't have permission to read this.")
        case .unknown: Sentence("diagnosis.unknown", "The cause of the problem is unknown.")
        }
    }
}
