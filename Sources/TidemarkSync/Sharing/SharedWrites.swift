import TidemarkModel
import TidemarkStore

/// The writes that processes leave for the one that holds the cache: those of this process, and those that
/// it finds when it is the one.
final class SharedWrites {
    typealias Observer = @Sendable (SyncEngine.WriteEvent) -> Void

    private let context: EngineContext
    private let storage: CacheStorage
    private lazy var names = SharedWriteNames(
        process: UInt64(context.environment.random() * 0x1p53))
    /// What this process left and has not heard the end of, by the names in the inbox.
    private var waiting: [String: Left] = [:]
    /// Of another user, whose queue takes them.
    private var foreign: Set<String> = []

    /// A batch that was left, and who waits for it.
    struct Left {
        let write: SharedWrite
        let observer: Observer
    }

    /// How many are queued before the engine does other things: each waits for the disk once.
    static let mostAtOnce = 10

    init(_ context: EngineContext, _ storage: CacheStorage) {
        self.context = context
        self.storage = storage
    }

    // MARK: By a process that views the cache

    /// Leaves a batch in the inbox, and shows it here until a newer copy has it. Costs a sync of the disk.
    ///
    /// - Returns: What it changes here.
    func leave(
        _ mutations: [Mutation], in inbox: StoreInbox, _ observer: @escaping Observer
    ) -> [LocalDocument] {
        let queue = storage.local.queue
        let write = SharedWrite(
            time: context.environment.now(), user: queue.user, mutations: mutations)
        let name = names.next(at: write.time)
        do { try inbox.add(write.bytes, name) } catch {
            observer(.failed(SyncError(storing: error)))
            return []
        }
        waiting[name] = Left(write: write, observer: observer)
        // It will be sent, whatever becomes of the copy.
        let shown = try? queue.enqueue(mutations, at: write.time, .process, noting: .shared(name))
        observer(.journalled(batch: shown?.batch.id ?? 0))
        return shown?.changed ?? []
    }

    // MARK: By the process that holds it

    /// Queues what was left.
    ///
    /// - Parameter most: How many at once.
    /// - Returns: What it changes here, and whether no more can be taken now.
    func take(
        from inbox: StoreInbox, most: Int = mostAtOnce
    ) throws -> (changed: [LocalDocument], isAll: Bool) {
        let queue = storage.local.queue
        let room = context.configuration.maxPendingWrites - queue.pending.batches.count
        var taking = InboxTaking(inbox, storage.local, now: context.environment.now())
        defer { foreign.formUnion(taking.foreign) }
        let isAll = try taking.take(most: min(most, max(0, room)), skipping: foreign)
        return (taking.changed, isAll || room <= 0)
    }

    // MARK: Those who wait

    /// What became of the writes that this process left, as far as the cache says.
    ///
    /// - Returns: Those that wait in the queue of this process, which holds the cache.
    func settle() -> [(batch: Int64, observer: Observer)] {
        var queued: [(Int64, Observer)] = []
        let queue = storage.local.queue
        for (name, left) in waiting.sorted(by: { $0.key < $1.key }) {
            guard let found = try? queue.number(ofShared: name),
                let fate = try? queue.fate(of: found)
            else { continue }
            if let event = fate.event {
                waiting[name] = nil
                left.observer(event)
            } else if !context.gate.isReadOnly {
                waiting[name] = nil
                queued.append((found, left.observer))
            }
        }
        return queued
    }

    /// What this process left and a copy may lack: it may have been taken out of the inbox since that was
    /// made.
    var own: [String: SharedWrite] { waiting.mapValues(\.write) }

    /// Those who wait for the present user's, whom nobody tells any more.
    func takeWaiting() -> [String: Left] {
        defer { waiting = [:] }
        foreign = []
        return waiting
    }

    func adopt(_ waiting: [String: Left]) { self.waiting = waiting }

    func tellObserversOfEnd(_ error: SyncError) {
        for name in waiting.keys.sorted() { waiting[name]?.observer(.failed(error)) }
        waiting = [:]
    }
}

extension BatchFate {
    /// What those hear who wait for the batch; nil as long as it waits itself.
    var event: SyncEngine.WriteEvent? {
        switch self {
        case .pending: nil
        case .committed(let time): .acknowledged(commitTime: time)
        case .rejected(let reason): .failed(.server(reason))
        case .unknown:
            .failed(
                .server(
                    RPCStatus(
                        .unknown,
                        "Another process sent the write, and what became of it is not known any more."
                    )))
        }
    }
}
