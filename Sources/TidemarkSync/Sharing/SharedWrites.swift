import TidemarkModel
import TidemarkStore

/// The writes that processes leave for the holder of the cache: the writes that this process
/// leaves, and the writes that it finds as the holder.
final class SharedWrites {
    typealias Observer = @Sendable (SyncEngine.WriteEvent) -> Void

    private let context: EngineContext
    private let storage: CacheStorage
    private lazy var names = SharedWriteNames(
        process: UInt64(context.environment.random() * 0x1p53))
    /// The writes of this process without a known result, by their names in the inbox.
    private var waiting: [String: Left] = [:]
    /// Messages of another user, for the queue of that user.
    private var foreign: Set<String> = []

    /// A batch in the inbox, and the observer that waits for its result.
    struct Left {
        let write: SharedWrite
        let observer: Observer
    }

    /// The maximum number of messages that are queued before the engine does other work. Each
    /// message waits for the disk once.
    static let mostAtOnce = 10

    init(_ context: EngineContext, _ storage: CacheStorage) {
        self.context = context
        self.storage = storage
    }

    // MARK: By a process that views the cache

    /// Puts a batch into the inbox, and shows it here until a newer copy contains it. This costs a
    /// sync of the disk.
    ///
    /// - Returns: The documents that the batch changes here.
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
        // The batch will be sent, even if the copy cannot show it.
        let shown = try? queue.enqueue(mutations, at: write.time, .process, noting: .shared(name))
        observer(.journalled(batch: shown?.batch.id ?? 0))
        return shown?.changed ?? []
    }

    // MARK: By the process that holds it

    /// Queues the writes in the inbox.
    ///
    /// - Parameter most: The maximum number of messages in one call.
    /// - Returns: The changed documents, and whether no more messages can be taken now.
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

    /// Reports the results of this process's writes, as far as the cache knows them.
    ///
    /// - Returns: The batches that wait in the queue of this process, which holds the cache.
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

    /// The writes of this process that a copy may lack, because the holder may have taken them out
    /// of the inbox since the copy was made.
    var own: [String: SharedWrite] { waiting.mapValues(\.write) }

    /// Removes and returns the present user's waiting writes, whose observers get no further events
    /// here.
    func takeWaiting() -> [String: Left] {
        defer { waiting = [:] }
        foreign = []
        return waiting
    }

    func adopt(_ waiting: [String: Left]) { self.waiting = waiting }

    func notifyObserversOfEnd(_ error: SyncError) {
        for name in waiting.keys.sorted() { waiting[name]?.observer(.failed(error)) }
        waiting = [:]
    }
}

extension BatchFate {
    /// The event for the observers of the batch; nil while the batch waits.
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
                        "Another process sent the write, and its result is no longer known."
                    )))
        }
    }
}
