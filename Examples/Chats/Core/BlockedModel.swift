public import Observation
import Tidemark
public import TidemarkApp

/// Whom the person has blocked. The list is read for its changes; details of people come in batches, and
/// are kept for a day.
@MainActor @Observable
public final class BlockedModel {
    /// The latest first.
    public private(set) var entries: [BlockedUsers.Entry] = []
    public private(set) var isLoaded = false
    /// Why it may be out of date, in a sentence.
    public private(set) var problem: String?

    @ObservationIgnored private let list: BlockedUsers
    @ObservationIgnored private let collection: CollectionReference

    init(_ app: ChatsApp) throws(FirestoreError) {
        collection = app.user.collection("blocked")
        list = try BlockedUsers(collection, users: app.firestore.collection("users"))
    }

    /// From the device, then what changed.
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

    /// Marks the entry: other devices hear of it as of any change.
    public func unblock(_ id: String) async {
        await write(id, ["deletedAt": FieldValue.serverTimestamp()])
    }

    private func write(_ id: String, _ fields: [String: Any]) async {
        let all = fields.merging(["updatedAt": FieldValue.serverTimestamp()]) { $1 }
        _ = try? await collection.document(id).enqueueSetData(all, merge: true)
        await load()
    }
}
