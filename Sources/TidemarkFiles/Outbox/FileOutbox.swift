import Foundation
public import Tidemark

/// Sends files to Storage as surely as documents are sent: a file that is attached to a batch
/// survives kills, restarts and a changed network, and its document follows when the object exists.
///
/// ```swift
/// let files = FileOutbox(firestore, FileSettings(bucket: "my-project.firebasestorage.app"))
/// await files.start()
/// ```
///
/// An app has one outbox for a client, and keeps it. The outbox sends the files of the signed-in
/// user; files of other users wait until these users return. In an app of several processes, the
/// process that holds the cache sends.
///
/// An upload continues where it was after a kill, and begins again if its session is lost or a week
/// old. It is retried for as long as it may succeed. A refusal is kept with its reason, and the app
/// decides: ``retry(_:)`` or ``discard(_:)``.
public actor FileOutbox {
    static let missing = FirestoreError(
        .failedPrecondition, "The client has no FileOutbox: make one at the app's start.")

    private struct Run {
        let task: Task<Void, Never>
        let control: RunControl
    }

    private let firestore: Firestore
    let settings: FileSettings
    private let client: StorageClient
    private let environment: FileEnvironment
    /// The session of the system that sends chunks; nil if this process sends them.
    nonisolated let background: BackgroundSession?
    /// The path of the folder of all users' copies.
    let base: String
    /// True if the copies end with this outbox, as a cache in memory does.
    private let isTemporary: Bool
    private var lanes: UploadLanes
    private var runs: [Int64: Run] = [:]
    /// The confirmed bytes of uploads that ran in this process.
    private(set) var progress: [Int64: Int64] = [:]
    private var user: [UInt8]?
    private var isSwept = false
    /// The names of copies that are being made or journalled.
    var staging: Set<String> = []
    /// The files as of the last turn.
    private var latest: QueuedFiles?
    private var loop: Task<Void, Never>?
    private var removal: Task<Void, Never>?
    /// The ends of sessions that the next removal waits for. A late chunk could else complete an
    /// object after its removal.
    private var cancels: [Task<Void, Never>] = []
    /// The objects that Storage has refused to delete since the start.
    private var refusedRemovals: Set<Int64> = []
    private var signal: AsyncStream<Void>.Continuation?
    var watchers: [UUID: AsyncStream<[WaitingFile]>.Continuation] = [:]

    /// Makes the outbox of a client. Nothing is sent before ``start()``.
    public init(_ firestore: Firestore, _ settings: FileSettings) {
        self.init(
            firestore, settings,
            environment: FileEnvironment(now: { Int64(Date().timeIntervalSince1970) }))
    }

    init(
        _ firestore: Firestore, _ settings: FileSettings, environment: FileEnvironment
    ) {
        precondition(
            firestore.fileOutbox.object == nil, "two outboxes would send the same files")
        self.firestore = firestore
        self.settings = settings
        self.environment = environment
        let providers = firestore.tokenProviders
        let address = settings.resolvedAddress(ProcessInfo.processInfo.environment)
        let base =
            firestore.filesFolder
            ?? FileManager.default.temporaryDirectory.path + "/tidemark-files-\(UUID().uuidString)"
        background = settings.backgroundSession.map {
            BackgroundSession($0, folder: base + "/chunks", clock: environment.clock)
        }
        client = StorageClient(
            wire: StorageWire(address: address, appID: settings.appID),
            tokens: StorageTokens(
                settings.tokenProvider ?? providers.user,
                appCheck: settings.appCheckProvider ?? providers.appCheck),
            background: background)
        isTemporary = firestore.filesFolder == nil
        self.base = base
        lanes = UploadLanes(
            smallBytes: settings.smallFileBytes, smallAtOnce: settings.smallFilesAtOnce)
        firestore.fileOutbox.object = self
    }

    deinit {
        loop?.cancel()
        removal?.cancel()
        for run in runs.values { run.task.cancel() }
        for watcher in watchers.values { watcher.finish() }
        if isTemporary { try? FileManager.default.removeItem(atPath: base) }
    }

    var session: UserSession { firestore.engine.session }
    nonisolated var network: NetworkReports { firestore.network }
    /// The rules that the present network breaks.
    var brokenRules: NetworkRules { NetworkRules(brokenBy: network.cost) }
    var running: Set<Int64> { Set(runs.keys) }

    func folder(of session: UserSession) -> FileFolder {
        FileFolder(base: base, user: session.user)
    }

    // MARK: - Life

    /// Begins to send the files that wait, and the files that are attached later.
    public func start() {
        guard loop == nil else { return }
        let (signals, signal) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.signal = signal
        refusedRemovals = []
        let handle = firestore.engine.observeFiles { signal.yield() }
        network.observe { [weak self] event in
            switch event {
            case .costChanged: signal.yield()
            case .mayBeBack: Task { await self?.networkMayBeBack() }
            }
        }
        loop = Task { [weak self, background] in
            await background?.begin { signal.yield() }
            for await _ in signals {
                guard let self, !Task.isCancelled else { break }
                await self.turn()
            }
            handle.cancel()
        }
    }

    /// Ends all uploads of this process. They continue after the next ``start()``, also in another
    /// process.
    public func stop() async {
        loop?.cancel()
        await loop?.value
        loop = nil
        signal = nil
        await endRuns()
        await endRemoval()
    }

    /// Looks at the journal again.
    func look() { signal?.yield() }

    /// Ends the waits for another attempt, because the network returned or changed, or the app
    /// became active. `Firestore.networkMayBeBack()` calls it too, and so does a `TidemarkStack`.
    public func networkMayBeBack() {
        for run in runs.values { run.control.wake() }
        look()
    }

    private func endRuns() async {
        let ended = runs
        for run in ended.values {
            run.task.cancel()
            run.control.wake()
        }
        for run in ended.values { await run.task.value }
    }

    // MARK: - A turn

    /// Compares the journal with what runs, and starts, ends and cleans up. Turns never overlap.
    private func turn() async {
        let session = self.session
        if user != session.user {
            await endRuns()
            await endRemoval()
            (user, isSwept, progress) = (session.user, false, [:])
        }
        guard let contents = try? await present(session) else { return await endRuns() }
        latest = contents
        // Another process holds the cache, and sends.
        if firestore.isReadOnly {
            await endRuns()
            return notify(contents)
        }
        await cleanUp(contents, session)
        await endUnwanted(contents)
        remove(contents.removals, session)
        await compareChunks(session)
        let waiting = contents.files.filter { $0.state == .waiting && !isHeld($0.id, session) }
        let broken = brokenRules
        let decision = lanes.decide(waiting.map { .init($0, broken) })
        for id in decision.yields { runs[id]?.control.yield() }
        // A file that waits for another attempt gives its place up at once.
        for file in waiting where !file.networkRules.isDisjoint(with: broken) {
            runs[file.id]?.control.wake()
        }
        for file in waiting where decision.starts.contains(file.id) { start(file, session) }
        notify(contents)
        await sweep(session)
    }

    /// Returns all files of the user. Costs a read of the queue's rows.
    func contents(_ session: UserSession) async throws(FirestoreError) -> QueuedFiles {
        try await answer { session.files(completion: $0) }
    }

    /// Returns the files that a turn looks at. Only an app that shows the list needs all of them.
    private func present(_ session: UserSession) async throws(FirestoreError) -> QueuedFiles {
        if !watchers.isEmpty { return try await contents(session) }
        let window = FileWindow(
            smallBytes: settings.smallFileBytes, limit: 2 * settings.smallFilesAtOnce + 2,
            running: Array(runs.keys), brokenRules: brokenRules.stored)
        return try await answer { session.filesToSend(window, completion: $0) }
    }

    /// Settles the copies that a kill left behind, once for each user. No upload waits for this: a
    /// part with a row is as good as a whole copy.
    private func sweep(_ session: UserSession) async {
        if isSwept { return }
        isSwept = true
        let folder = self.folder(of: session)
        let names = await DiskThread.run { folder.parts() }
        // A long queue is read only if a kill has left something.
        if names.isEmpty { return }
        guard let contents = try? await contents(session) else { return isSwept = false }
        let rows = Set(contents.files.compactMap { facts($0)?.copy }).union(staging)
        _ = await DiskThread.run { folder.sweep(names, rows: rows) }
    }

    /// Removes the copies of batches that are over.
    private func cleanUp(_ contents: QueuedFiles, _ session: UserSession) async {
        guard contents.files.contains(where: { $0.state == .over }) else { return }
        let folder = self.folder(of: session)
        for file in contents.files where file.state == .over {
            await end(file.id)
            // A file that was given up can have an open session.
            if let session = FileCoding.upload(file.upload).record.session {
                cancels.append(
                    Task { [client, user] in
                        await client.cancel(session.address, of: user ?? [])
                    })
            }
            if let copy = facts(file)?.copy {
                await DiskThread.run { folder.remove(copy) }
            }
            progress[file.id] = nil
            let _: Void? = try? await answer { session.forgetFile(file.id, completion: $0) }
        }
    }

    private func endUnwanted(_ contents: QueuedFiles) async {
        let wanted = Set(contents.files.filter { $0.state == .waiting }.map(\.id))
        for id in runs.keys where !wanted.contains(id) { await end(id) }
    }

    private func end(_ id: Int64) async {
        guard let run = runs[id] else { return }
        run.task.cancel()
        run.control.wake()
        await run.task.value
    }

    func facts(_ file: QueuedFile) -> FileFacts? {
        FileCoding.decode(FileFacts.self, file.file.facts)
    }

    // MARK: - Uploads

    private func start(_ file: QueuedFile, _ session: UserSession) {
        guard let facts = self.facts(file) else {
            // Facts that cannot be read are a damaged journal: nothing can be sent.
            lanes.end(file.id)
            return refuse(file, session)
        }
        let control = RunControl()
        let id = file.id
        let run = UploadRun(
            id: id, target: facts.target(file.file.object), facts: facts,
            folder: folder(of: session), session: session,
            client: client, environment: environment, control: control,
            onProgress: { [weak self] in await self?.progressed(id, $0) },
            onPause: { [weak self] in await self?.paused(id, isPaused: $0) })
        let task = Task { [weak self] in
            let end = await run.run()
            await self?.ended(id, end)
        }
        runs[id] = Run(task: task, control: control)
    }

    private func refuse(_ file: QueuedFile, _ session: UserSession) {
        let state = FileCoding.encode(UploadState(problem: .copyMissing))
        session.failFile(file.id, state) { [signal] _ in signal?.yield() }
    }

    private func progressed(_ id: Int64, _ bytes: Int64) {
        guard bytes > progress[id] ?? -1 else { return }
        progress[id] = bytes
        if let latest { notify(latest) }
    }

    private func paused(_ id: Int64, isPaused: Bool) {
        lanes.pause(id, isPaused: isPaused)
        look()
    }

    private func ended(_ id: Int64, _ end: UploadRun.End) {
        runs[id] = nil
        lanes.end(id)
        if end != .stopped { return look() }
        // The journal could not be written, for example because the disk is full.
        Task { [weak self, environment] in
            _ = try? await environment.clock.sleep(for: Self.storageRetry)
            await self?.look()
        }
    }

    /// The time after which an upload is tried again whose state could not be stored.
    private static let storageRetry = Duration.seconds(30)

    // MARK: - Objects to delete

    /// Deletes objects one after the other. An object that cannot be deleted stays in the journal,
    /// for the next start.
    private func remove(_ removals: [ObjectRemoval], _ session: UserSession) {
        let wanted = removals.filter { !refusedRemovals.contains($0.id) }
        guard removal == nil, !wanted.isEmpty else { return }
        removal = Task { [weak self, client, environment, cancels] in
            for cancel in cancels { await cancel.value }
            let remover = ObjectRemover(client: client, environment: environment)
            var refused: Set<Int64> = []
            for removal in wanted where !Task.isCancelled {
                if await !remover.remove(removal, session) { refused.insert(removal.id) }
            }
            await self?.removalsEnded(refused)
        }
        cancels = []
    }

    private func removalsEnded(_ refused: Set<Int64>) {
        removal = nil
        refusedRemovals.formUnion(refused)
        look()
    }

    private func endRemoval() async {
        removal?.cancel()
        await removal?.value
    }
}
