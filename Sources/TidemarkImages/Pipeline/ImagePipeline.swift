public import Foundation
import Synchronization
import TidemarkResilience

/// Loads pictures at the size of their view, from memory, disk or network. Thread-safe.
///
/// ```swift
/// let pipeline = try ImagePipeline(folder: caches.appendingPathComponent("pictures"))
/// let size = PictureSize(width: 112, height: 112)
/// let loaded = try await pipeline.picture(PictureRequest(url, size: size))
/// ```
///
/// A picture that several callers request is downloaded once, and decoded once for each size. The
/// work ends when the last of these callers is cancelled. A download is written to disk as it
/// arrives, is never completely in memory, and resumes after an interruption. A picture is decoded
/// at the smallest scale that is large enough. A picture that is too large by its header is not
/// decoded.
public final class ImagePipeline: PictureSource {
    private let settings: ImageSettings
    private let environment: ImageEnvironment
    private let memory: PictureMemory
    private let store: PictureStore
    private let traffic: TrafficControl
    private let tally = PictureTally()
    private let decoding = BlockingLane("tidemark.pictures.decode", isConcurrent: true)
    private let files = SingleFlight<PictureID, StoredPicture>()
    private let pictures = SingleFlight<SizedID, LoadedPicture>()
    /// The checks of shown pictures with the server.
    private let questions = Mutex(Questions())
    private static let mostQuestions = 64

    private struct Questions {
        var open: [PictureID: Task<Void, Never>] = [:]
        /// The times of the last checks of pictures, in milliseconds since 1970. Only the newest
        /// checks are kept.
        var times = CostCache<PictureID, Int64>(limit: 1_000)
    }

    /// Opens the disk cache without reading its contents. The first picture that is not in memory
    /// triggers the read of the folder, on the cache's own thread. That read also removes pictures
    /// that are too old, and the unfinished downloads of a killed process.
    ///
    /// - Parameters:
    ///   - folder: The folder of the disk cache, for this pipeline and one process only.
    ///   - settings: Sizes and bounds.
    ///   - environment: Network, clock and logging.
    /// - Throws: The file system's error.
    public init(
        folder: URL, settings: ImageSettings = ImageSettings(),
        environment: ImageEnvironment = ImageEnvironment()
    ) throws {
        self.settings = settings
        self.environment = environment
        memory = PictureMemory(limit: settings.memoryBytes)
        traffic = TrafficControl(settings.traffic)
        let downloader = Downloader(environment, settings: settings, traffic: traffic, tally: tally)
        let disk = try DiskCache(
            folder, limit: settings.diskBytes, maximumAge: settings.diskAge.milliseconds,
            now: environment.wallClock())
        store = PictureStore(disk, downloader: downloader, wallClock: environment.wallClock)
    }

    deinit { for question in questions.withLock({ $0.open.values }) { question.cancel() } }

    // MARK: Pictures

    /// Returns the picture if it is in memory, even if it is out of date. Never waits.
    public func cached(_ request: PictureRequest) -> Picture? {
        memory.entry(owned(request).sized)?.picture
    }

    /// Returns an object's request with the signed-in user.
    private func owned(_ request: PictureRequest) -> PictureRequest {
        request.isObject ? request.owned(by: environment.bucket?.userID()) : request
    }

    /// Loads a picture at the requested size, or at its own if that is smaller.
    ///
    /// - Throws: ``PictureError``, or `CancellationError` when the caller's task is cancelled;
    ///   other callers are not affected.
    public func picture(_ request: PictureRequest) async throws -> LoadedPicture {
        tally.add(.requests)
        let request = owned(request)
        do {
            guard request.isLoadable, !request.isObject || environment.bucket != nil else {
                throw PictureError.badURL
            }
            if let loaded = fromMemory(request) { return loaded }
            let now = environment.wallClock()
            if let error = memory.failure(request.id, now: now) { throw error }
            return try await shared(request)
        } catch {
            if !(error is CancellationError) { tally.add(.failures) }
            throw error
        }
    }

    private func fromMemory(_ request: PictureRequest) -> LoadedPicture? {
        guard let entry = memory.entry(request.sized) else { return nil }
        let isFresh = entry.isFresh(at: environment.wallClock())
        if !isFresh {
            if settings.staleness == .askFirst || entry.validity?.mustAsk == true { return nil }
            ask(request)
        }
        tally.add(.fromMemory)
        return LoadedPicture(picture: entry.picture, origin: .memory, isStale: !isFresh)
    }

    private func shared(_ request: PictureRequest) async throws -> LoadedPicture {
        traffic.join(request.id, request.priority)
        defer { leave(request.id, request.priority) }
        let landing = try await pictures.landing(for: request.sized) { [self] in
            try await load(request)
        }
        if landing.isShared { tally.add(.shared) }
        switch landing.value.origin {
        case .memory: tally.add(.fromMemory)
        case .disk: tally.add(.fromDisk)
        case .network: tally.add(.fromNetwork)
        }
        return landing.value
    }

    private func leave(_ id: PictureID, _ priority: PicturePriority) {
        traffic.leave(id, priority)
        if !traffic.isWanted(id) { store.isWantedNoMore(id) }
    }

    // MARK: Loading

    private func load(_ request: PictureRequest) async throws -> LoadedPicture {
        if let small = try await store.small(request.sized, asksFirst: asksFirst) {
            tally.add(.smallFiles)
            keep(small.picture, record: small.record, request: request)
            if small.isStale { ask(request) }
            return LoadedPicture(picture: small.picture, origin: .disk, isStale: small.isStale)
        }
        do {
            return try await loadFile(request)
        } catch let error as PictureError { throw remember(error, request) }
    }

    private func loadFile(_ request: PictureRequest) async throws -> LoadedPicture {
        do {
            return try await decode(try await file(request), request)
        } catch is StoredPicture.Gone {
            // The file is damaged or was just evicted: remove the picture and download it.
            await store.remove(request.id)
        }
        do {
            return try await decode(try await file(request), request)
        } catch is StoredPicture.Gone { throw PictureError.storageFailed }
    }

    private var asksFirst: Bool { settings.staleness == .askFirst }

    private func file(_ request: PictureRequest) async throws -> StoredPicture {
        let stored = try await files.value(for: request.id) { [self] in
            try await store.obtain(request, asksFirst: asksFirst)
        }
        if stored.isStale, !asksFirst { ask(request) }
        return stored
    }

    private func decode(
        _ stored: StoredPicture, _ request: PictureRequest
    ) async throws -> LoadedPicture {
        let origin: LoadedPicture.Origin = stored.isFromNetwork ? .network : .disk
        if let entry = memory.entry(request.sized), entry.digest == stored.record.digest {
            // The decoded picture in memory was made from the bytes of this file, so it is still
            // valid.
            keep(entry.picture, record: stored.record, request: request)
            return LoadedPicture(
                picture: entry.picture, origin: stored.isFromNetwork ? .network : .memory,
                isStale: stored.isStale)
        }
        let (size, mode, limits) = (request.size, request.mode, settings.limits)
        let plan = try await decoding.run {
            let file = try stored.open()
            if !stored.isFromNetwork { try stored.check(file) }
            return try PictureDecoding.plan(file.bytes, into: size, mode, limits: limits)
        }
        let picture = try await traffic.run(.decode, of: request.id, bytes: plan.bytes) {
            try await decoding.run {
                let file = try stored.open()
                return try PictureDecoding.decode(file.bytes, plan)
            }
        }
        tally.add(.decodes)
        if !stored.mustNotBeKept { keep(picture, record: stored.record, request: request) }
        if !stored.isTemporary {
            store.keep(picture, sized: request.sized, record: stored.record)
        }
        return LoadedPicture(picture: picture, origin: origin, isStale: stored.isStale)
    }

    private func keep(_ picture: Picture, record: PictureRecord, request: PictureRequest) {
        if store.isDropped(request.id) { return }
        let validity = record.version == nil ? record.validity : nil
        memory.keep(
            PictureMemory.Entry(picture: picture, digest: record.digest, validity: validity),
            request.sized)
    }

    private func remember(_ error: PictureError, _ request: PictureRequest) -> PictureError {
        if error.recovery == .showPlaceholder {
            let until = environment.wallClock() + settings.failureMemory.milliseconds
            memory.remember(error, request.id, until: until)
        }
        return error
    }

    /// Checks a shown picture with the server, at most as often as a failed picture is requested.
    /// The next request shows a new picture.
    private func ask(_ request: PictureRequest) {
        let (id, now) = (request.id, environment.wallClock())
        let pause = settings.failureMemory.milliseconds
        questions.withLock { questions in
            if questions.open[id] != nil || questions.open.count >= Self.mostQuestions { return }
            if let last = questions.times.peek(id), abs(now - last) < pause { return }
            _ = questions.times.insert(now, for: id, cost: 1)
            questions.open[id] = Task { [weak self] in
                await self?.question(request)
                self?.questions.withLock { _ = $0.open.removeValue(forKey: id) }
            }
        }
    }

    private func question(_ request: PictureRequest) async {
        traffic.join(request.id, .prefetch)
        defer { leave(request.id, .prefetch) }
        let stored: StoredPicture
        do {
            stored = try await files.value(for: request.id) { [self] in
                try await store.obtain(request, asksFirst: true)
            }
        } catch {
            if (error as? PictureError)?.isGone == true { memory.remove(request.id) }
            return
        }
        // The server is unreachable: the kept picture is still shown.
        if stored.isStale { return }
        memory.remove(request.id, otherThan: stored.record.digest)
        if let entry = memory.entry(request.sized) {
            keep(entry.picture, record: stored.record, request: request)
        }
    }

    // MARK: Prefetching

    /// The maximum number of pictures in a prefetch; further pictures are ignored.
    public static let mostPrefetched = 1_000
    private static let prefetchedTogether = 4

    /// Loads pictures into the caches with the lowest priority, a few at a time. Failures are
    /// ignored. A request for a prefetched picture raises its priority.
    public func prefetch(_ requests: [PictureRequest]) -> Prefetch {
        let requests = Array(requests.prefix(Self.mostPrefetched))
        let task = Task { [weak self] in
            await withTaskGroup(of: Void.self) { group in
                for (index, request) in requests.enumerated() {
                    if index >= Self.prefetchedTogether { await group.next() }
                    if Task.isCancelled { break }
                    group.addTask { _ = try? await self?.picture(request.with(.prefetch)) }
                }
            }
        }
        return Prefetch(task: task)
    }

    // MARK: Upkeep

    /// Removes a picture at all sizes from memory and disk. Callers that wait for the picture still
    /// get it. Of an object, this removes the signed-in user's picture.
    public func remove(_ url: URL, version: String? = nil) async {
        let size = PictureSize(width: 1, height: 1)
        let id = owned(PictureRequest(url, size: size, version: version)).id
        files.forget(id)
        store.drop(id, isWanted: traffic.isWanted(id))
        memory.remove(id)
        await store.remove(id)
        memory.remove(id)
    }

    public func removeAll() async {
        memory.trim(to: 0)
        await store.removeAll()
    }

    /// Removes the least recently used pictures until the rest has this size. Call this when the
    /// system requests memory.
    public func trimMemory(toBytes bytes: Int) { memory.trim(to: bytes) }

    public var figures: PictureFigures { tally.current }
    public var memoryUse: (bytes: Int, pictures: Int) { (memory.bytes, memory.count) }
    /// The size of the disk cache. The call reads the folder if no other call has used the disk
    /// before.
    public var diskUse: (bytes: Int, pictures: Int) { store.use }

    /// The number of waiting and running jobs. Both are zero if no work is left.
    package var load: (waiting: Int, running: Int) { (traffic.waiting, traffic.running) }

    /// Returns the number of callers that wait for a picture at its size.
    package func callers(for request: PictureRequest) -> Int {
        pictures.callers(for: owned(request).sized)
    }

    /// Returns when all pending writes are done and no check with the server is open.
    package func settle() async {
        for question in questions.withLock({ Array($0.open.values) }) { await question.value }
        await store.settle()
    }
}

/// Pictures that are being prefetched.
public struct Prefetch: Sendable {
    let task: Task<Void, Never>

    /// Cancels the downloads that no other caller requested.
    public func cancel() { task.cancel() }

    /// Returns when all pictures are loaded or failed, or when the prefetch was cancelled.
    public func finished() async { await task.value }
}

extension Duration {
    var milliseconds: Int64 {
        components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000
    }
}
