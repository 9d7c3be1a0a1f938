import Foundation
public import TidemarkModel
import TidemarkResilience
import TidemarkWire

/// Finds out if a Firestore can be reached, and otherwise the reason.
///
/// The doctor disturbs no other work: it has a separate thread and connection, begins after a
/// delay, limits every step to 5 s, and ends immediately when its task is cancelled. Costs one
/// read.
///
/// ```swift
/// let report = try await Doctor(target).diagnose(after: .zero)
/// show(report.verdict.message)
/// ```
public struct Doctor: Sendable {
    /// The default delay. Source: journeys 1.
    public static let delay = Duration.seconds(2)

    /// The maximum duration of each step.
    public var stepTime = Duration.seconds(5)
    /// The duration after which a read counts as slow.
    public var slowAfter = Verdict.slowAfter
    public var target: DiagnosisTarget
    public var tokens: (any TokenProvider)?
    /// The bearer token of the read if ``tokens`` provides none.
    public var token: String?
    /// The path of a document that every user of the app may read, as in `settings/app`: a refusal
    /// then results in ``Verdict/forbidden``. Nil reads a document that does not exist, and a
    /// refusal by security rules is then a good answer.
    public var document: String?
    /// The label under which the server's read meter counts the read.
    public var label = "doctor"
    /// The seconds by which this device's clock is ahead of a server's; nil if unknown.
    public var clockAhead: Int64?
    /// The trusted certificates, each as PEM; empty for the system's own.
    package var authorities: [[UInt8]] = []
    /// The HOST:PORT of a proxy that calls may use.
    var proxy = NetworkProbe.proxy

    public init(_ target: DiagnosisTarget) { self.target = target }

    /// Runs at background priority, regardless of the caller's priority.
    ///
    /// - Throws: `CancellationError` if its task is cancelled, because the app itself needs the
    ///   network; `InvalidPath` if ``document`` is no document's path, or if the project or the
    ///   database of the target has no valid id.
    public func diagnose(after delay: Duration = Self.delay) async throws -> DiagnosisReport {
        _ = (try path(), try database())
        let task = Task.detached(priority: .background) { [self] in
            try await Task.sleep(for: delay)
            return try await run()
        }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }

    /// Returns the path of the document to read.
    fileprivate func path() throws(InvalidPath) -> DocumentPath {
        guard let document else { return DocumentPath(unchecked: "tidemark/doctor") }
        return try DocumentPath(document)
    }

    fileprivate func database() throws(InvalidPath) -> DatabaseID {
        try DatabaseID(project: target.project, database: target.database)
    }

    private func run() async throws -> DiagnosisReport {
        let probe = NetworkProbe(authorities: authorities)
        // The probe's thread ends without a waiter.
        defer { probe.close() }
        var examination = Examination(doctor: self, probe: probe)
        try await examination.run()
        return DiagnosisReport(
            target: target, verdict: Verdict(examination.evidence),
            evidence: examination.evidence, steps: examination.steps)
    }
}

/// A run of the diagnosis: each step follows the step that it needs.
private struct Examination {
    let doctor: Doctor
    let probe: NetworkProbe
    var evidence = Evidence()
    var steps: [DiagnosisReport.Step] = []

    init(doctor: Doctor, probe: NetworkProbe) {
        self.doctor = doctor
        self.probe = probe
        evidence.clockAhead = doctor.clockAhead
        evidence.namesProxy = doctor.proxy != nil
    }

    mutating func run() async throws {
        let target = doctor.target
        interface()
        let addresses = try await names()
        if addresses.isEmpty { return }
        guard let address = try await connect(addresses) else { return }
        let place = ProbedPlace(host: target.host, address: address, port: target.port)
        if target.usesTLS {
            guard try await secure(place) else { return }
        } else {
            evidence.securing = .unused
        }
        guard try await speak(place) else { return }
        try await read()
    }

    private mutating func interface() {
        let found = NetworkProbe.interfaces()
        evidence.interface = found.isEmpty ? .down : .up
        var detail = found.isEmpty ? "none but this machine's own" : found.joined(separator: ", ")
        if let proxy = doctor.proxy { detail += "; proxy \(proxy)" }
        steps.append(
            .init(.interface, isOK: !found.isEmpty, milliseconds: 0, detail: detail))
    }

    private mutating func names() async throws -> [String] {
        let host = doctor.target.host
        let (result, time) = try await timed { [probe] in await probe.addresses(of: host) }
        switch result {
        case .found(let addresses)?:
            evidence.names = .found
            note(.names, isOK: true, time: time, detail: addresses.joined(separator: ", "))
            return addresses
        case .unknown(let reason)?:
            evidence.names = .unknown
            note(.names, isOK: false, time: time, detail: reason)
        case .failed(let reason)?:
            evidence.names = .noAnswer
            note(.names, isOK: false, time: time, detail: reason)
        case nil:
            evidence.names = .noAnswer
            note(.names, isOK: false, time: time, detail: "no answer")
        }
        return []
    }

    /// - Returns: The address that accepted a connection; nil if none did.
    private mutating func connect(_ addresses: [String]) async throws -> String? {
        let port = doctor.target.port
        let (result, time) = try await timed { [probe] in
            await probe.connect(to: addresses, port: port)
        }
        switch result {
        case .connected(let address)?:
            evidence.connecting = .connected
            note(.connection, isOK: true, time: time, detail: "\(address) port \(port)")
            return address
        case .refused?:
            evidence.connecting = .refused
            note(.connection, isOK: false, time: time, detail: "refused")
        case .unreachable(let reason)?:
            evidence.connecting = .unreachable
            note(.connection, isOK: false, time: time, detail: reason)
        case nil:
            evidence.connecting = .noAnswer
            note(.connection, isOK: false, time: time, detail: "no answer")
        }
        return nil
    }

    private mutating func secure(_ place: ProbedPlace) async throws -> Bool {
        let (result, time) = try await timed { [probe] in await probe.secure(place) }
        guard let result else {
            evidence.securing = .noAnswer
            note(.security, isOK: false, time: time, detail: "no answer")
            return false
        }
        evidence.securing = result.finding
        let isOK = result.finding == .secured
        let more = isOK ? "" : try await askWhoIsThere(place)
        note(.security, isOK: isOK, time: time, detail: result.detail + more)
        return isOK
    }

    /// Finds the reason for a failed handshake, from the answer of the other side without trust.
    private mutating func askWhoIsThere(_ place: ProbedPlace) async throws -> String {
        let finding = evidence.securing
        let (speech, _) = try await timed { [probe] in
            finding == .otherProtocol
                ? await probe.speak(place, usesTLS: false) : await probe.ask(place)
        }
        guard let speech else { return "" }
        switch finding {
        case .otherProtocol: evidence.speaking = speech.finding
        // A portal's page arrives under the portal's name, or under a false name.
        case .untrusted, .otherName:
            if speech.finding == .redirected || speech.finding == .proxyAsks {
                evidence.speaking = speech.finding
            }
        // The value of an app from a trusted connection is more reliable.
        case .expired, .notYetValid: evidence.clockAhead = evidence.clockAhead ?? speech.clockAhead
        case .secured, .unused, .noAnswer, .notTried: break
        }
        return "; without trust: \(speech.detail)" + clockText
    }

    private mutating func speak(_ place: ProbedPlace) async throws -> Bool {
        let usesTLS = doctor.target.usesTLS
        let (result, time) = try await timed { [probe] in
            await probe.speak(place, usesTLS: usesTLS)
        }
        guard let result else {
            evidence.speaking = .noAnswer
            note(.protocolSpoken, isOK: false, time: time, detail: "no answer")
            return false
        }
        evidence.speaking = result.finding
        if let ahead = result.clockAhead { evidence.clockAhead = ahead }
        note(.protocolSpoken, isOK: result.finding == .http2, time: time, detail: result.detail)
        return result.finding == .http2
    }

    /// The text is empty while the clock is correct or unknown.
    private var clockText: String {
        guard let ahead = evidence.clockAhead, ahead.magnitude > UInt64(Verdict.clockTolerance)
        else { return "" }
        return "; this device's clock is \(ahead.magnitude) s \(ahead > 0 ? "ahead" : "behind")"
    }

    private mutating func read() async throws {
        let target = doctor.target
        let context = CallContext(
            database: try doctor.database(), label: doctor.label, timeout: doctor.stepTime,
            token: doctor.token)
        let connection = GRPCTransport(
            .init(
                host: target.host, port: target.port, usesTLS: target.usesTLS,
                authorities: doctor.authorities))
        let transport = AuthorizedTransport(connection, doctor.tokens)
        // The answer contains the server's time, for an existing and for a missing document.
        let path = try doctor.path()
        let request = Request.batchGetDocuments(BatchGetDocumentsRequest(paths: [path]))
        let (result, time) = try await timed { () async -> Result<[Reply], RPCStatus> in
            do throws(RPCStatus) {
                return .success(try await transport.replies(to: request, context))
            } catch { return .failure(error) }
        }
        await connection.close()
        let status: RPCStatus
        switch result {
        case .success(let replies)?:
            status = .ok
            if case .batchGetDocuments(let answer)? = replies.first {
                evidence.clockAhead = probe.now() - answer.readTime.seconds
            }
        case .failure(let error)?: status = error
        case nil: status = RPCStatus(.deadlineExceeded, "no answer")
        }
        evidence.reading = Self.reading(
            status, time, slowAfter: doctor.slowAfter, isAnyPath: doctor.document == nil)
        switch evidence.reading {
        case .answered, .answeredLate:
            note(.read, isOK: true, time: time, detail: "answered" + clockText)
        case .noAnswer: note(.read, isOK: false, time: time, detail: "no answer")
        default: note(.read, isOK: false, time: time, detail: "\(status)")
        }
    }

    /// Classifies the answer. A missing document is as good as an existing document.
    ///
    /// - Parameter isAnyPath: True if the caller named no document. A refusal by the rules is then
    ///   no evidence about the app's own reads.
    static func reading(
        _ status: RPCStatus, _ time: Duration, slowAfter: Duration = Verdict.slowAfter,
        isAnyPath: Bool = false
    ) -> Evidence.Reading {
        switch status.code {
        case .permissionDenied where isAnyPath && status.isOfRules:
            time > slowAfter ? .answeredLate : .answered
        case .ok, .notFound: time > slowAfter ? .answeredLate : .answered
        case .unauthenticated: .unauthenticated
        case .permissionDenied: .forbidden
        case .resourceExhausted: .exhausted
        case .unavailable: .unavailable
        case .deadlineExceeded, .cancelled: .noAnswer
        case .unknown, .invalidArgument, .alreadyExists, .failedPrecondition, .aborted,
            .outOfRange, .unimplemented, .internal, .dataLoss:
            .failed
        }
    }

    private mutating func note(
        _ name: DiagnosisReport.Step.Name, isOK: Bool, time: Duration, detail: String
    ) {
        let milliseconds =
            Double(time.components.seconds) * 1_000 + Double(time.components.attoseconds) / 1e15
        steps.append(.init(name, isOK: isOK, milliseconds: milliseconds, detail: detail))
    }

    /// - Returns: The result; nil if the step's time was over. The step is then abandoned.
    private func timed<T: Sendable>(
        _ body: @escaping @Sendable () async -> T
    ) async throws -> (T?, Duration) {
        try Task.checkCancellation()
        let clock = ContinuousClock()
        let start = clock.now
        var policy = RetryPolicy.none
        policy.attemptTimeout = doctor.stepTime
        do {
            let value = try await Retry(policy).run(
                .read, classify: { _ in Failure(.permanent) }
            ) { _ in await body() }
            return (value, start.duration(to: clock.now))
        } catch is RetryError { return (nil, start.duration(to: clock.now)) }
    }
}

extension RPCStatus {
    /// True if security rules refused, in production's words. A project that refuses its API to all
    /// callers uses other words, and gives the reason in an `ErrorInfo`.
    fileprivate var isOfRules: Bool {
        message.hasPrefix("Missing or insufficient permissions.") && details.isEmpty
    }
}
