public import Observation
import Tidemark
public import TidemarkApp

/// The people whom the user has blocked. Each load reads only the changes of the list. Details of
/// people are fetched in batches and kept for a day.
@MainActor @Observable
public final class BlockedModel {
    /// The blocked people, most recently blocked first.
    public private(set) var entries: [BlockedUsers.Entry] = []
    public private(set) var isLoaded = false
    /// The reason why the list may be out of date, as a sentence for the user.
    public private(set) var problem: String?

    @ObservationIgnored private let list: BlockedUsers
    @ObservationIgnored private let collection: CollectionReference

    init(_ app: ChatsApp) throws(FirestoreError) {
        collection = app.user.collection("blocked")
        list = try BlockedUsers(collection, users: app.firestore.collection("users"))
    }

    /// Shows the device's data, then reads the changes.
    public func load() async {
        do throws(FirestoreError) {
            entries = try await list.open().entries
            let state = try await list.sync()
            entries = state.entries
            problem = state.detailsError?.message
            isLoaded = true
        } catch { problem = error.message }
    }

    public func block(_ id: String) async {
        await write(
            id, ["blockedAt": FieldValue.serverTimestamp(), "deletedAt": FieldValue.delete()])
    }

    /// Marks the entry as deleted. Other devices receive the mark as an ordinary change.
    public func unblock(_ id: String) async {
        await write(id, ["deletedAt": FieldValue.serverTimestamp()])
    }

    private func write(_ id: String, _ fields: [String: Any]) async {
        let all = fields.merging(["updatedAt": FieldValue.serverTimestamp()]) { $1 }
        _ = try? await collection.document(id).enqueueSetData(all, merge: true)
        await load()
    }
}
