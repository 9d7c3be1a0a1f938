public import TidemarkWords

/// What the steps of a diagnosis have seen, as far as a verdict depends on it.
public struct Evidence: Hashable, Sendable {
    public enum Interface: Hashable, Sendable, CaseIterable {
        /// An address that is not this machine's own.
        case up
        case down, notTried
    }

    public enum Names: Hashable, Sendable, CaseIterable {
        case found
        /// There is an answer: no such name.
        case unknown
        case noAnswer, notTried
    }

    public enum Connecting: Hashable, Sendable, CaseIterable {
        case connected
        /// Somebody said no at once: the machine is there, and nobody listens.
        case refused
        /// The network says that there is no way there.
        case unreachable
        case noAnswer, notTried
    }

    public enum Securing: Hashable, Sendable, CaseIterable {
        case secured
        /// The address is used without TLS.
        case unused
        /// The certificate's time has not come, or is over, by this device's clock.
        case notYetValid, expired
        /// Somebody known vouches for whoever answers, and under other names than the one called.
        case otherName
        /// Nobody known vouches for whoever answers.
        case untrusted
        /// What answers does not speak TLS.
        case otherProtocol
        case noAnswer, notTried
    }

    public enum Speaking: Hashable, Sendable, CaseIterable {
        /// As a Firestore does.
        case http2
        /// A page sends the caller elsewhere: how portals of hotels and trains greet.
        case redirected
        /// Proxy authentication is asked for: HTTP status 407.
        case proxyAsks
        /// A gateway says that what is behind it does not answer: HTTP status 502, 503 or 504.
        case gatewayFails
        /// Too much was asked of it: HTTP status 429.
        case exhausted
        /// Something else speaks.
        case otherProtocol
        /// The connection was ended without a word.
        case closed
        case noAnswer, notTried
    }

    public enum Reading: Hashable, Sendable, CaseIterable {
        case answered
        /// An answer that took more than ``Doctor/slowAfter``.
        case answeredLate
        case unauthenticated, forbidden
        /// `RESOURCE_EXHAUSTED`.
        case exhausted
        /// The server is there and says that it cannot.
        case failed
        /// It is not there.
        case unavailable
        case noAnswer, notTried
    }

    public var interface = Interface.notTried
    public var names = Names.notTried
    public var connecting = Connecting.notTried
    public var securing = Securing.notTried
    public var speaking = Speaking.notTried
    public var reading = Reading.notTried
    /// Whether the environment or the system names a proxy.
    public var namesProxy = false
    /// How far this device's clock is ahead of a server's that was heard, in seconds; nil when none was.
    public var clockAhead: Int64?

    public init() {}
}

/// What is the matter, and what can be done about it.
public enum Verdict: String, Hashable, Sendable, CaseIterable {
    case healthy, slow
    case noNetwork, namesFail, nameUnknown, noRoute, silence
    case captivePortal, proxy
    case clockWrong, certificateExpired, certificateUntrusted
    case backendDown, backendFailing, backendSlow, wrongService
    case quota, credentials, forbidden
    /// What was seen does not say.
    case unknown

    /// A read that takes longer is told.
    public static let slowAfter = Duration.seconds(2)
    /// A clock that is off by more makes certificates and tokens fail, in seconds.
    public static let clockTolerance: Int64 = 300

    /// By what has been seen, the cause before what follows from it. Pure, and total.
    public init(_ evidence: Evidence) {
        self =
            Self.reading(evidence.reading) ?? Self.speaking(evidence)
            ?? Self.securing(evidence) ?? Self.connecting(evidence) ?? Self.names(evidence)
            ?? (evidence.interface == .down ? .noNetwork : .unknown)
    }

    /// An answer to a read says more than all before it.
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
        // It is spoken there without the TLS that was expected.
        case .http2 where evidence.securing == .otherProtocol: .wrongService
        // The line is good, and only the read is not answered.
        case .http2: evidence.reading == .unavailable ? .backendDown : .backendSlow
        case .closed: evidence.namesProxy ? .proxy : .backendDown
        case .noAnswer: .silence
        case .notTried: nil
        }
    }

    private static func securing(_ evidence: Evidence) -> Verdict? {
        let isClockOff = evidence.clockAhead.map { $0.magnitude > UInt64(clockTolerance) }
        return switch evidence.securing {
        // Certificates that are for later are rarer than clocks that were never set.
        case .notYetValid: isClockOff == false ? .certificateUntrusted : .clockWrong
        case .expired: isClockOff == true ? .clockWrong : .certificateExpired
        case .otherName: .certificateUntrusted
        case .untrusted: evidence.namesProxy ? .proxy : .certificateUntrusted
        // A page where TLS was expected.
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

    /// One sentence for the person using the app. Names no type, code or path.
    public var sentence: Sentence {
        switch self {
        case .healthy: Sentence("diagnosis.healthy", "Everything works.")
        case .slow: Sentence("diagnosis.slow", "Everything works, slowly.")
        case .noNetwork:
            Sentence("diagnosis.noNetwork", "This device isn't connected to a network.")
        case .namesFail:
            Sentence(
                "diagnosis.namesFail",
                "The network doesn't look up names. Restarting the router may help.")
        case .nameUnknown: Sentence("diagnosis.nameUnknown", "The service's name isn't known here.")
        case .noRoute: Sentence("diagnosis.noRoute", "The network has no way to the service.")
        case .silence:
            Sentence("diagnosis.silence", "Something on the way swallows everything that is sent.")
        case .captivePortal:
            Sentence(
                "diagnosis.captivePortal",
                "This network wants you to log in first. Open any page in a browser.")
        case .proxy:
            Sentence("diagnosis.proxy", "A proxy stands between this device and the service.")
        case .clockWrong:
            Sentence(
                "diagnosis.clockWrong",
                "This device's date and time are wrong. Please set them.")
        case .certificateExpired:
            Sentence("diagnosis.certificateExpired", "The service's certificate has run out.")
        case .certificateUntrusted:
            Sentence(
                "diagnosis.certificateUntrusted",
                "Somebody on this network answers in the service's place.")
        case .backendDown: Sentence("diagnosis.backendDown", "The service isn't running right now.")
        case .backendFailing:
            Sentence("diagnosis.backendFailing", "The service has trouble right now.")
        case .backendSlow:
            Sentence(
                "diagnosis.backendSlow",
                "The service can be reached and doesn't answer in time.")
        case .wrongService:
            Sentence("diagnosis.wrongService", "Something else answers at the service's address.")
        case .quota: Sentence("diagnosis.quota", "The service has reached its limit for now.")
        case .credentials:
            Sentence("diagnosis.credentials", "Your sign-in isn't accepted. Please sign in again.")
        case .forbidden: Sentence("diagnosis.forbidden", "You don't have permission to read there.")
        case .unknown: Sentence("diagnosis.unknown", "What is wrong can't be told from here.")
        }
    }
}
