import ArgumentParser
import Foundation
import MessagesCore
import Tidemark

/// The app that pages, in a separate process, so that no other work uses its memory.
struct PageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "page", abstract: "Page a conversation to its end, and print the cost.",
        shouldDisplay: false)

    @Option var side: Side
    @Option var passes: Int
    @Option var conversation: String
    @OptionGroup var place: PlaceOptions

    func run() async throws {
        let client = try await DeviceClient(side, place.place, label: place.label)
        let firestore = client.firestore
        var shown: [String] = []
        for _ in 0..<passes {
            let pass =
                switch side {
                case .before, .filtered: try await pageBesideListener(firestore)
                case .after: try await page(firestore)
                }
            print("pass \(pass.first) \(PeakMemory.mebibytes)")
            shown = pass.shown
        }
        for id in shown { print("shown \(id)") }
        await client.close()
    }

    @MainActor
    private func page(_ firestore: Firestore) async throws -> (first: Double, shown: [String]) {
        let model = try MessagesApp(firestore, me: place.user).conversation(conversation)
        defer { model.close() }
        try await untilShown { !model.shown.isEmpty && model.messages.isUpToDate }
        let first = PeakMemory.mebibytes
        print("page \(first)")
        while model.messages.hasMore {
            try await model.messages.showOlder()
            print("page \(PeakMemory.mebibytes)")
        }
        return (first, model.shown.compactMap(\.id))
    }

    /// Pages as the app as it was did.
    private func pageBesideListener(
        _ firestore: Firestore
    ) async throws -> (first: Double, shown: [String]) {
        let query = Conversation.newestFirst(of: conversation, firestore)
        // tidemark:ignore unbounded-listener,listener-error-ignored the app as it was
        let registration = query.addSnapshotListener { _, _ in }
        defer { registration.remove() }
        var pages: [QueryDocumentSnapshot] = []
        var first = 0.0
        var isLast = false
        while !isLast {
            let page = query.limit(to: Conversation.pageSize)
            let next = pages.last.map { page.start(afterDocument: $0) } ?? page
            let documents: [QueryDocumentSnapshot]
            do throws(FirestoreError) {
                documents = try await next.getDocuments(source: .server, within: .seconds(30))
                    .documents
            } catch {
                if error.code != .unavailable { throw error }
                continue
            }
            if pages.isEmpty { first = PeakMemory.mebibytes }
            pages += documents
            print("page \(PeakMemory.mebibytes)")
            isLast = documents.count < Conversation.pageSize
        }
        return (first, pages.map(\.documentID))
    }
}
