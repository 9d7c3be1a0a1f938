#if canImport(SwiftUI)
    public import SwiftUI

    extension EnvironmentValues {
        private struct FirestoreKey: EnvironmentKey {
            static var defaultValue: Firestore? { nil }
        }

        /// The client of the views below, for `@FirestoreQuery` and `@DocumentValue`. Nil for
        /// `Firestore.firestore()`.
        public var firestore: Firestore? {
            get { self[FirestoreKey.self] }
            set { self[FirestoreKey.self] = newValue }
        }
    }

    /// The rows of a query as values of an app's own type, first from the cache. They stay up to
    /// date while the view exists.
    ///
    /// The wrapper has the same form as FirebaseFirestore's. It uses the view's `\.firestore`.
    /// Costs one read for each row that the server sends.
    @MainActor @propertyWrapper
    public struct FirestoreQuery<Value>: DynamicProperty {
        @Environment(\.firestore) private var firestore
        @State private var model: FirestoreQueryModel<Value>
        @State private var animation: Animation?
        private let given: FirestoreQueryModel<Value>.Configuration

        /// - Parameters:
        ///   - collectionPath: The path of the collection.
        ///   - predicates: Conditions, orders and limits.
        ///   - decodingFailureStrategy: The behaviour if a document cannot be decoded.
        ///   - animation: The animation of changes of the rows; nil for none.
        public init<Item: Decodable>(
            collectionPath: String, predicates: [QueryPredicate] = [],
            decodingFailureStrategy: DecodingFailureStrategy = .raise, animation: Animation? = nil
        ) where Value == [Item] {
            self.init(
                FirestoreQueryModel<Value>(
                    path: collectionPath, predicates: predicates,
                    decodingFailureStrategy: decodingFailureStrategy),
                animation)
        }

        /// Creates a query whose value is a result: an error replaces the rows.
        public init<Item: Decodable>(
            collectionPath: String, predicates: [QueryPredicate] = [],
            decodingFailureStrategy: DecodingFailureStrategy = .raise, animation: Animation? = nil
        ) where Value == Result<[Item], any Error> {
            self.init(
                FirestoreQueryModel<Value>(
                    path: collectionPath, predicates: predicates,
                    decodingFailureStrategy: decodingFailureStrategy),
                animation)
        }

        /// The state keeps the first model that it gets. A model that is not kept has read nothing.
        private init(_ model: FirestoreQueryModel<Value>, _ animation: Animation?) {
            given = model.configuration
            _model = State(wrappedValue: model)
            _animation = State(wrappedValue: animation)
        }

        public var wrappedValue: Value { model.value }

        public var projectedValue: Configuration {
            get { Configuration(model, animation) }
            nonmutating set {
                animation = newValue.animation
                model.configuration = newValue.asked
            }
        }

        /// SwiftUI calls this function on the main actor, before each body.
        public nonisolated func update() {
            MainActor.assumeIsolated {
                let animation = animation
                model.change = { change in
                    if let animation { withAnimation(animation, change) } else { change() }
                }
                model.adopt(given, in: firestore ?? .firestore())
            }
        }

        /// The settings of the query, and its state.
        @MainActor public struct Configuration {
            fileprivate var asked: FirestoreQueryModel<Value>.Configuration
            private let model: FirestoreQueryModel<Value>
            /// The animation of changes of the rows; nil for none.
            public var animation: Animation?

            fileprivate init(_ model: FirestoreQueryModel<Value>, _ animation: Animation?) {
                self.model = model
                self.animation = animation
                asked = model.configuration
            }

            /// The path of the collection.
            public var path: String {
                get { asked.path }
                set { asked.path = newValue }
            }

            /// Conditions, orders and limits.
            public var predicates: [QueryPredicate] {
                get { asked.predicates }
                set { asked.predicates = newValue }
            }

            /// The behaviour if a document cannot be decoded.
            public var decodingFailureStrategy: DecodingFailureStrategy {
                get { asked.decodingFailureStrategy }
                set { asked.decodingFailureStrategy = newValue }
            }

            /// The reason why a document could not be decoded, or why no more rows arrive.
            public var error: (any Error)? { model.error }
            /// States whether the rows are the server's; nil before the first rows.
            public var freshness: Freshness? { model.freshness }
        }
    }
#endif
