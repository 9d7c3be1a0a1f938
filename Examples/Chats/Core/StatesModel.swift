public import Observation
import Tidemark
public import TidemarkApp

extension ChatsApp {
    /// The documents that exist once per user.
    public enum Single: String, CaseIterable, Sendable {
        case report, settings, subscription, game, call
    }

    /// Returns the user's report, settings, subscription, game and call.
    public func states() -> StatesModel { StatesModel(self) }
}

/// Listens to single documents. Each listener costs a read at its start, and one for each change.
@MainActor @Observable
public final class StatesModel {
    public struct Row: Identifiable, Equatable, Sendable {
        public let id: ChatsApp.Single
        public let state: DocumentState<SingleState>
    }

    private let documents: [ChatsApp.Single: SingleDocumentModel<SingleState>]

    init(_ app: ChatsApp) {
        let collection = app.user.collection("state")
        let documents = ChatsApp.Single.allCases.map {
            ($0, SingleDocumentModel<SingleState>(collection.document($0.rawValue)))
        }
        self.documents = Dictionary(uniqueKeysWithValues: documents)
    }

    public var rows: [Row] { ChatsApp.Single.allCases.map { Row(id: $0, state: state(of: $0)) } }
    /// Returns the state of a document. It changes when the value does, and not with each write.
    public func state(of single: ChatsApp.Single) -> DocumentState<SingleState> {
        documents[single]?.state ?? .unknown
    }
    /// True if all values are confirmed by the server.
    public var isFresh: Bool {
        documents.values.allSatisfy { $0.freshness?.isFresh ?? false }
    }
    /// The reason why no further changes arrive, as a sentence for the user.
    public var problem: String? {
        ChatsApp.Single.allCases.compactMap { documents[$0]?.error?.message }.first
    }

    /// Listens again after a problem.
    public func retry() { for document in documents.values { document.retry() } }
}
