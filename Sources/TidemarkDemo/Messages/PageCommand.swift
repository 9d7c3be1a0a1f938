import ArgumentParser
import Foundation
import Tidemark
import TidemarkApp

/// The app that pages: a process of its own, so that its memory is nobody else's.
struct PageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "page", abstract: "Page a conversation to its end, and say what it takes.",
        shouldDisplay: false)

    @Option var side: Side
    @Option var passes: Int
    @Option var conversation: String
    @Option(help: "Who is signed in.") var user: String
    @Option var port: Int
    @Option var label: String
    @Option(help: "The folder of the cache.") var cache: String

    func run() async throws {
        let place = DemoPlace(port: port, folder: URL(fileURLWithPath: cache), user: user)
        let firestore = try place.firestore(label: label)
        var shown: [String] = []
        for _ in 0..<passes {
            let pass =
                switch side {
                case .before: try await pageBesideListener(firestore)
                case .after: try await page(firestore)
                }
            print("pass \(pass.first) \(PeakMemory.mebibytes)")
            shown = pass.shown
        }
        for id in shown { print("shown \(id)") }
        await firestore.terminate()
    }

    private func page(_ firestore: Firestore) async throws -> (first: Double, shown: [String]) {
        let pager = try Pager(
            Conversation.messages(of: conversation, firestore), orderedBy: Conversation.time,
            pageSize: Conversation.pageSize)
        defer { pager.close() }
        var state = try await pager.first { !$0.isFromCache && !$0.isLoadingMore }
        let first = PeakMemory.mebibytes
        print("page \(first)")
        while state.hasMore {
            let count = state.items.count
            pager.loadMore()
            state = try await pager.first {
                !$0.isLoadingMore && ($0.items.count > count || !$0.hasMore)
            }
            print("page \(PeakMemory.mebibytes)")
        }
        return (first, state.items.map(\.documentID))
    }

    /// The app as it was.
    private func pageBesideListener(
        _ firestore: Firestore
    ) async throws -> (first: Double, shown: [String]) {
        let query = Conversation.messages(of: conversation, firestore)
            .order(by: Conversation.time, descending: true)
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
