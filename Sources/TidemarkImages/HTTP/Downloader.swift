import Synchronization
import TidemarkResilience

/// Performs ``DownloadMachine`` with a network, a disk and retries.
final class Downloader: Sendable {
    enum Outcome: Sendable {
        /// The whole file was downloaded.
        case file(UnfinishedFile)
        /// The kept picture is still valid.
        case notModified(HTTPFields)
    }

    /// The maximum number of interrupted downloads whose beginning is kept for the next request.
    /// The newest are kept.
    private static let keptBeginnings = 16

    private let environment: ImageEnvironment
    private let settings: ImageSettings
    private let traffic: TrafficControl
    private let tally: PictureTally
    private let beginnings = Mutex(CostCache<PictureID, UnfinishedFile>(limit: keptBeginnings))

    init(
        _ environment: ImageEnvironment, settings: ImageSettings, traffic: TrafficControl,
        tally: PictureTally
    ) {
        self.environment = environment
        self.settings = settings
        self.traffic = traffic
        self.tally = tally
    }

    /// - Parameters:
    ///   - known: The validity of the kept picture, to check it with the server; nil to download
    ///     the picture in any case.
    ///   - path: Returns the path of the downloaded file.
    /// - Throws: ``PictureError`` or `CancellationError`.
    func download(
        _ address: String, _ id: PictureID, known: Validity?, to path: @Sendable () -> String
    ) async throws -> Outcome {
        let kept = beginnings.withLock { $0.remove(id) }
        let file = kept ?? UnfinishedFile(path(), known: known, limits: settings.limits)
        do {
            return try await attempts(address, id, file, clock: environment.clock)
        } catch {
            if file.canResume, error is CancellationError || isPassing(error) {
                beginnings.withLock { _ = $0.insert(file, for: id, cost: 1) }
            }
            throw error
        }
    }

    func forget(_ id: PictureID) { beginnings.withLock { _ = $0.remove(id) } }
    func forgetAll() { beginnings.withLock { _ = $0.trim(to: 0) } }

    private func isPassing(_ error: any Error) -> Bool {
        switch error as? PictureError {
        case .unreachable, .serverFailed: true
        default: false
        }
    }

    private func attempts<C: Clock<Duration>>(
        _ address: String, _ id: PictureID, _ file: UnfinishedFile, clock: C
    ) async throws -> Outcome {
        var policy = settings.retry
        // The timeout begins when the request is sent, because the wait for its turn is not the
        // server's fault.
        let timeout = policy.attemptTimeout
        (policy.attemptTimeout, policy.hedging) = (nil, nil)
        let retry = Retry(
            policy, clock: clock, connectivity: environment.connectivity,
            random: environment.random)
        do {
            return try await retry.run(.read, classify: Self.failure) { [self] _ in
                try await traffic.run(.download, of: id) {
                    try await attempt(address, file: file, timeout: timeout)
                }
            }
        } catch let error as RetryError {
            throw Self.error(error)
        }
    }

    private func attempt(
        _ address: String, file: UnfinishedFile, timeout: Duration?
    ) async throws -> Outcome {
        let (attempt, fields) = file.begin()
        let request = PictureGet(
            address: address, fields: fields.map { ($0.name, $0.value) }, timeout: timeout)
        let head = Mutex<DownloadMachine.Step?>(nil)
        tally.add(.sent)
        do {
            try await environment.transport.get(request) { [tally] answer in
                try Task.checkCancellation()
                switch answer {
                case .head(let status, let fields):
                    let step = try file.head(status, fields, attempt: attempt)
                    if step == .receive(fromStart: false) { tally.add(.resumed) }
                    head.withLock { $0 = step }
                case .body(let bytes):
                    // The body of a 304 is ignored.
                    guard case .receive? = head.withLock({ $0 }) else { return }
                    tally.add(.bytesReceived, bytes.count)
                    try file.body(bytes, attempt: attempt)
                }
            }
        } catch let error as UnfinishedFile.Ended {
            throw error
        } catch {
            try Task.checkCancellation()
            // The network has many error reasons, and all have the same consequence.
            _ = try file.end(isClean: false, attempt: attempt)
        }
        if case .notModified(let fields)? = head.withLock({ $0 }) {
            tally.add(.notModified)
            return .notModified(fields)
        }
        _ = try file.end(isClean: head.withLock { $0 } != nil, attempt: attempt)
        tally.add(.downloads)
        return .file(file)
    }

    private static func failure(_ error: any Error) -> Failure {
        switch error {
        case let ended as UnfinishedFile.Ended:
            if case .failed(_, let failure) = ended.step { failure } else { Failure(.permanent) }
        case is CancellationError: Failure(.cancelled)
        case is PictureError: Failure(.permanent)
        default: Failure(.transient)
        }
    }

    private static func error(_ error: RetryError) -> any Error {
        switch error.last {
        case let ended as UnfinishedFile.Ended: ended.error
        case let error as PictureError: error
        case is CancellationError: CancellationError()
        default: PictureError.unreachable
        }
    }
}
