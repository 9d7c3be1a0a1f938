import TidemarkModel
import TidemarkStore

/// Takes writes that other processes left out of a cache's inbox and into the cache's queue, each once.
struct InboxTaking {
    let inbox: StoreInbox
    let local: LocalStore
    /// By the device's clock.
    let now: Timestamp

    /// Messages of other users, whose queues take them.
    private(set) var foreign: Set<String> = []
    /// How the documents look that the writes change.
    private(set) var changed: [LocalDocument] = []

    init(_ inbox: StoreInbox, _ local: LocalStore, now: Timestamp) {
        (self.inbox, self.local, self.now) = (inbox, local, now)
    }

    /// How many are queued before they are removed: fewer than are known to be queued, so that a kill in
    /// between leaves none that is forgotten.
    private static let mostInPart = SharedBatches.most / 2

    /// Costs a sync of the disk for each part, and one for each message that is removed. What it queued
    /// before it fails, or is killed, is known to be queued.
    ///
    /// - Parameters:
    ///   - most: How many it takes.
    ///   - skipped: Messages that are known to be of other users.
    /// - Returns: Whether none is left.
    mutating func take(most: Int, skipping skipped: Set<String> = []) throws -> Bool {
        let names = inbox.contents().names.filter { !skipped.contains($0) }
        var left = names.prefix(most)
        while !left.isEmpty {
            try take(left.prefix(Self.mostInPart))
            left = left.dropFirst(Self.mostInPart)
        }
        return names.count <= most
    }

    private mutating func take(_ part: ArraySlice<String>) throws {
        var taken: [String] = []
        for name in part {
            do { if try take(name) { taken.append(name) } } catch {
                guard case .damaged? = StorageFault(error) else { throw error }
                try local.queue.refuse(unreadable: name, at: now)
                try inbox.setAside(name)
            }
        }
        if !taken.isEmpty { try local.probe() }
        for name in taken { try inbox.remove(name) }
    }

    /// - Returns: Whether it is in the queue, or was.
    private mutating func take(_ name: String) throws -> Bool {
        if try local.queue.number(ofShared: name) != nil { return true }
        guard let message = try inbox.message(name) else { return false }
        let write = try SharedWrite(message)
        guard UserKey(write.user) == UserKey(local.queue.user) else {
            foreign.insert(name)
            return false
        }
        changed += try local.queue.enqueue(
            write.mutations, at: write.time, .process, noting: .shared(name)
        ).changed
        return true
    }
}
