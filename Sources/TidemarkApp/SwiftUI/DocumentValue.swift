#if canImport(SwiftUI)
    public import SwiftUI
    public import Tidemark

    /// A document as a value of an app's own type, from the cache first, and kept up to date while
    /// the view exists. Nil while the document is unknown, and if it does not exist: `$value.state`
    /// distinguishes the two.
    ///
    /// The projected value is a ``SingleDocumentModel``, with the freshness and the error. Costs
    /// one read at its begin and one for each change.
    @MainActor @propertyWrapper
    public struct DocumentValue<Value: Decodable & Equatable & Sendable>: DynamicProperty {
        @Environment(\.firestore) private var firestore
        @State private var kept = KeptModel<DocumentReference, SingleDocumentModel<Value>>()
        private let place: Place

        private enum Place {
            case path(String)
            case reference(DocumentReference)
        }

        /// - Parameter path: The path of a document in the view's `\.firestore`. A new path shows
        ///   another document.
        public init(_ path: String) { place = .path(path) }

        /// - Parameter reference: The document.
        public init(_ reference: DocumentReference) { place = .reference(reference) }

        public var wrappedValue: Value? { projectedValue.value }

        public var projectedValue: SingleDocumentModel<Value> {
            let reference =
                switch place {
                case .path(let path): (firestore ?? .firestore()).document(path)
                case .reference(let reference): reference
                }
            return kept.model(of: reference) { SingleDocumentModel(reference) }
        }
    }
#endif
