public import ExampleKit
public import Foundation
public import Observation
import Tidemark
public import TidemarkApp
public import TidemarkFiles

/// A chat. The model shows the newest messages from disk, reads the changes, and then listens.
@MainActor @Observable
public final class ChatModel {
    public let messages: FeedModel<ChatMessage>
    /// True while older messages are being loaded.
    public private(set) var isLoadingEarlier = false
    /// The messages sent here that the feed does not contain yet, oldest first.
    public var outgoing: [ChatMessage] {
        let known = Set(messages.items.compactMap(\.value.id))
        return sent.filter { !known.contains($0.id ?? "") }
    }
    private var sent: [ChatMessage] = []
    /// The photos of this chat that are not sent yet, in the order in which they were chosen.
    public private(set) var uploads: [WaitingFile] = []
    /// The reason why the last action failed, as a sentence for the user; nil after a success.
    public private(set) var problem: String?

    /// True if the chat has opened at its last position.
    @ObservationIgnored private var hasOpened = false
    @ObservationIgnored private let app: ChatsApp
    @ObservationIgnored private let chat: DocumentReference
    @ObservationIgnored private let feed: Feed

    init(_ id: String, in app: ChatsApp) throws(FirestoreError) {
        self.app = app
        chat = app.firestore.collection("chats").document(id)
        feed = try Feed(app.messages(of: id))
        messages = FeedModel(TypedFeed(of: ChatMessage.self, feed))
    }

    /// Moves the chat's marks to those that the old app has kept on this phone: the times up to
    /// which the user has cleared the chat, and has read it. Later calls change nothing.
    public func adoptOldMarks(from defaults: UserDefaults = .standard) async {
        let id = chat.documentID
        await act { [feed] in
            try await Marks.adopt(
                cleared: defaults.object(forKey: "cleared_" + id),
                seen: defaults.object(forKey: "seen_" + id), into: feed)
        }
    }

    /// Keeps the position of the chat for the next time, also after a kill. Does nothing before the
    /// chat has opened at its last position.
    ///
    /// - Parameters:
    ///   - row: The id of the newest row on the screen. With the newest message, the chat opens at
    ///     its end.
    ///   - defaults: The place of the position.
    public func leave(at row: String?, in defaults: UserDefaults = .standard) {
        guard hasOpened else { return }
        let isAtEnd = row == nil || row == messages.items.first?.id
        ChatPositions(of: app.me, in: defaults)[chat.documentID] =
            isAtEnd ? nil : row.flatMap { messages.position(of: $0) }
    }

    /// Loads messages to the position at which the user has left the chat.
    ///
    /// - Parameter defaults: The place of the position.
    /// - Returns: The id of the row to scroll to; nil for the newest message.
    public func rowLeft(in defaults: UserDefaults = .standard) async -> String? {
        defer { hasOpened = true }
        let position = ChatPositions(of: app.me, in: defaults)[chat.documentID]
        return try? await messages.loadMore(to: position)
    }

    /// Sends a message. Returns when the message is on disk, also without a network. The same batch
    /// changes the chat's last message and its message count.
    ///
    /// - Parameters:
    ///   - text: The text; it can be empty if there is a photo.
    ///   - photo: The photo, which is on disk together with the message. The message is sent when
    ///     the photo is in Storage.
    public func send(_ text: String, photo: FileUpload? = nil) async {
        let document = chat.collection("messages").document()
        var message = ChatMessage(author: app.me, text: text, sentAt: app.now())
        message.id = document.documentID
        sent = outgoing + [message]
        await act { [chat] in
            let batch = chat.firestore.batch()
            try batch.setData(from: message, forDocument: document)
            batch.updateData(
                [
                    "lastText": text.isEmpty ? "Photo" : text,
                    "messageCount": FieldValue.increment(Int64(1)),
                    "lastMessageAt": FieldValue.serverTimestamp(),
                    "updatedAt": FieldValue.serverTimestamp(),
                ], forDocument: chat)
            if let photo { batch.attach(photo, to: document, field: "photo") }
            follow(try await batch.enqueue(), of: message)
        }
        if problem != nil { sent.removeAll { $0.id == message.id } }
    }

    /// Removes the message and shows the reason if the server refuses the write.
    private func follow(_ receipt: WriteReceipt?, of message: ChatMessage) {
        Task { [weak self] in
            do throws(FirestoreError) { try await receipt?.acknowledged() } catch {
                self?.sent.removeAll { $0.id == message.id }
                // The user has given up the message with its photo.
                if error.code != .cancelled { self?.problem = error.message }
            }
        }
    }

    // MARK: Photos

    /// Returns the place of a message's photo: the copy on this phone until the message is sent,
    /// and then the object in Storage. Returns nil without a photo.
    ///
    /// Costs no read of a document, and sends nothing.
    public func photo(of message: ChatMessage) async -> AppPhotos.Place? {
        guard let photos = app.photos, let id = message.id else { return nil }
        return await photos.place(
            of: "photo", in: messageDocument(id), path: message.photo?.path)
    }

    /// Updates ``uploads`` until the task is cancelled.
    public func followUploads() async {
        guard let outbox = app.photos?.outbox else { return }
        for await files in await outbox.updates() {
            let folder = chat.path + "/"
            uploads = files.filter { $0.document.text.hasPrefix(folder) }
        }
    }

    /// Returns the upload of a message's photo; nil if there is none that waits.
    public func upload(of message: ChatMessage) -> WaitingFile? {
        message.id.flatMap { id in
            uploads.first { $0.document.text == messageDocument(id).path }
        }
    }

    /// Tries a photo again that Storage has refused.
    public func retry(_ upload: WaitingFile) async {
        await act { [app] in try await app.photos?.outbox.retry(upload.id) }
    }

    /// Gives up a photo that is not sent yet, and its message.
    public func discard(_ upload: WaitingFile) async {
        await act { [app] in try await app.photos?.outbox.discard(upload.id) }
    }

    private func messageDocument(_ id: String) -> DocumentReference {
        chat.collection("messages").document(id)
    }

    // MARK: The feed

    /// Hides all shown messages permanently; works offline. The user's other devices hide them too
    /// if `ChatsApp.sharesClears` is true.
    public func clear() async { await act { [messages] in try await messages.clear() } }

    /// Loads fifty older messages from the device or the server. Each is read from the server only
    /// once. A call during another load does nothing.
    public func loadEarlier() async {
        if isLoadingEarlier { return }
        isLoadingEarlier = true
        await act { [messages] in try await messages.loadMore() }
        isLoadingEarlier = false
    }

    private func act(_ body: () async throws -> Void) async {
        do {
            try await body()
            problem = nil
        } catch {
            problem = (error as? FirestoreError)?.message ?? "Something went wrong in the app."
        }
    }
}
