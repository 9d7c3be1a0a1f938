import TidemarkModel
import TidemarkStore

/// Moves the writes of other processes from a cache's inbox to the cache's queue, each exactly
/// once.
struct InboxTaking {
    let inbox: StoreInbox
    let local: LocalStore
    /// The time of the device's clock.
    let now: Timestamp

    /// Messages of other users, for the queues of these users.
    private(set) var foreign: Set<String> = []
    /// The documents that the writes change, as they look now.
    private(set) var changed: [LocalDocument] = []

    init(_ inbox: StoreInbox, _ local: LocalStore, now: Timestamp) {
        (self.inbox, self.local, self.now) = (inbox, local, now)
    }

    /// The maximum number of messages that are queued before they are removed. It is smaller than
    /// the number of known batches, so a kill between the two steps does not queue a message twice.
    private static let mostInPart = SharedBatches.most / 2

    /// Moves messages to the queue. This costs a sync of the disk for each part, and one for each
    /// removed message. After a failure or a kill, the cache still knows which messages it has
    /// queued.
    ///
    /// - Parameters:
    ///   - most: The maximum number of messages.
    ///   - skipped: Messages that are known to belong to other users.
    /// - Returns: True if no message is left.
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

    /// - Returns: True if the message is or was in the queue.
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
