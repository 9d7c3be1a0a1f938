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
        _ request: PictureRequest, known: Validity?, to path: @Sendable () -> String
    ) async throws -> Outcome {
        let id = request.id
        let kept = beginnings.withLock { $0.remove(id) }
        let file = kept ?? UnfinishedFile(path(), known: known, limits: settings.limits)
        do {
            return try await attempts(request, file, clock: environment.clock)
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
        _ request: PictureRequest, _ file: UnfinishedFile, clock: C
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
                try await traffic.run(.download, of: request.id) {
                    try await attempt(request, file, timeout)
                }
            }
        } catch let error as RetryError {
            throw Self.error(error)
        }
    }

    /// Repeats the request of an object once if the server refuses the token.
    private func attempt(
        _ request: PictureRequest, _ file: UnfinishedFile, _ timeout: Duration?
    ) async throws -> Outcome {
        guard request.isObject, let bucket = environment.bucket else {
            return try await attempt((request.address, [:]), file, timeout)
        }
        let target = try await target(of: request, in: bucket, afterRefusal: false)
        do {
            return try await attempt(target, file, timeout, followsRedirects: false)
        } catch let ended as UnfinishedFile.Ended where ended.error == .refused(status: 401) {
            let target = try await self.target(of: request, in: bucket, afterRefusal: true)
            return try await attempt(target, file, timeout, followsRedirects: false)
        }
    }

    private typealias Target = (address: String, fields: [String: String])

    /// The bucket has no tokens now, so another attempt follows.
    private struct NoTokens: Error {}

    /// Returns the request of an object with its tokens.
    private func target(
        of request: PictureRequest, in bucket: PictureBucket, afterRefusal: Bool
    ) async throws -> Target {
        let target: Target?
        do {
            target = try await bucket.request(request.url, request.owner, afterRefusal)
        } catch {
            try Task.checkCancellation()
            // The tokens are another user's, who may not see the picture.
            if bucket.userID() != request.owner { throw PictureError.refused(status: 401) }
            throw NoTokens()
        }
        guard let target else { throw PictureError.badURL }
        return target
    }

    private func attempt(
        _ target: Target, _ file: UnfinishedFile, _ timeout: Duration?,
        followsRedirects: Bool = true
    ) async throws -> Outcome {
        let (attempt, fields) = file.begin()
        let request = PictureGet(
            address: target.address,
            fields: fields.map { ($0.name, $0.value) } + target.fields.map { ($0.key, $0.value) },
            timeout: timeout, followsRedirects: followsRedirects)
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
