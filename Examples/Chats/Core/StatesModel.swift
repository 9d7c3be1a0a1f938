public import Observation
import Tidemark
public import TidemarkApp

extension ChatsApp {
    /// Of what there is one document for each person.
    public enum Single: String, CaseIterable, Sendable {
        case report, settings, subscription, game, call
    }

    /// The person's report, settings, subscription, game and call.
    public func states() -> StatesModel { StatesModel(self) }
}

/// Documents that are listened to one by one: each costs a read when it begins, and one for each change.
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
    /// It changes when the value does, and not with each write.
    public func state(of single: ChatsApp.Single) -> DocumentState<SingleState> {
        documents[single]?.state ?? .unknown
    }
    /// Whether all of them are the server's.
    public var isFresh: Bool {
        documents.values.allSatisfy { $0.freshness?.isFresh ?? false }
    }
    /// Why nothing more comes, in a sentence.
    public var problem: String? {
        ChatsApp.Single.allCases.compactMap { documents[$0]?.error?.message }.first
    }

    /// The way out of a problem.
    public func retry() { for document in documents.values { document.retry() } }
}
