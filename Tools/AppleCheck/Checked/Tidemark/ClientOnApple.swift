// A replacement of the client, because the check builds neither the engine nor the network. This
// file declares the parts that the linked files use. `make check-views` type-checks the same files,
// including their bodies, against the client itself.
import Foundation
import Synchronization

public struct Timestamp: Hashable, Comparable, Sendable {
    public var seconds: Int64
    public init(_ seconds: Int64) { self.seconds = seconds }
    public static func < (left: Self, right: Self) -> Bool { left.seconds < right.seconds }
}

public enum Freshness: Hashable, Sendable {
    case fresh(readTime: Timestamp)
    case stale
    public var isFresh: Bool { self != .stale }
}

public enum FirestoreErrorCode: Hashable, Sendable { case cancelled, invalidArgument, other }

public struct FirestoreError: Error, Hashable, Sendable {
    public let code: FirestoreErrorCode
    public init(_ code: FirestoreErrorCode) { self.code = code }
    public static func invalidArgument(_ detail: String) -> FirestoreError {
        FirestoreError(.invalidArgument)
    }
}

public struct LogLine: Sendable {
    public enum Level: Sendable { case debug, advice, fault }
    public let level: Level
    public let text: String
}

public struct LogSink: Sendable {
    public let stubWrite: @Sendable (LogLine) -> Void
    public init(_ write: @escaping @Sendable (LogLine) -> Void) { stubWrite = write }
    public func stubLog(_ level: LogLine.Level, _ text: String) {
        stubWrite(LogLine(level: level, text: text))
    }
}

/// A database with the contents that a test sets, by the text of the query or document.
public final class Firestore: Sendable {
    public final class Decoder: Sendable { public init() {} }

    public typealias Answer = Result<[String: String], FirestoreError>

    private struct State {
        var answers: [String: Answer] = [:]
        var listeners: [String: [Int: AsyncStream<Answer>.Continuation]] = [:]
        var last = 0
    }

    private static let shared = Firestore()
    private let state = Mutex(State())

    public init() {}

    public static func firestore() -> Firestore { shared }
    public func collection(_ path: String) -> CollectionReference {
        CollectionReference(self, path)
    }
    public func document(_ path: String) -> DocumentReference { DocumentReference(self, path) }

    /// Sets the answer for a query or document, now and later: JSON by document id.
    public func stubTell(_ asked: String, _ answer: Answer) {
        let listeners = state.withLock { state in
            state.answers[asked] = answer
            return state.listeners[asked].map { Array($0.values) } ?? []
        }
        for listener in listeners { listener.yield(answer) }
    }

    public func stubListeners(_ asked: String) -> Int {
        state.withLock { $0.listeners[asked]?.count ?? 0 }
    }

    fileprivate func listen(_ asked: String) -> AsyncStream<Answer> {
        AsyncStream { input in
            let number = state.withLock { state in
                state.last += 1
                state.listeners[asked, default: [:]][state.last] = input
                if let answer = state.answers[asked] { input.yield(answer) }
                return state.last
            }
            input.onTermination = { [weak self] _ in
                self?.state.withLock { _ = $0.listeners[asked]?.removeValue(forKey: number) }
            }
        }
    }
}

// `@unchecked`: for the same reasons as the client's; all properties are constants, and the only
// subclass is in its module.
public class Query: Hashable, SnapshotSource, @unchecked Sendable {
    fileprivate let firestore: Firestore
    fileprivate let text: String

    fileprivate init(_ firestore: Firestore, _ text: String) {
        self.firestore = firestore
        self.text = text
    }

    private func with(_ more: String) -> Query { Query(firestore, "\(text) \(more)") }

    public func whereField(_ field: String, isEqualTo value: Any) -> Query {
        with("\(field)=\(value)")
    }
    public func whereField(_ field: String, in values: [Any]) -> Query {
        with("\(field) in \(values)")
    }
    public func whereField(_ field: String, notIn values: [Any]) -> Query {
        with("\(field) not in \(values)")
    }
    public func whereField(_ field: String, arrayContains value: Any) -> Query {
        with("\(field) has \(value)")
    }
    public func whereField(_ field: String, arrayContainsAny values: [Any]) -> Query {
        with("\(field) has any of \(values)")
    }
    public func whereField(_ field: String, isLessThan value: Any) -> Query {
        with("\(field)<\(value)")
    }
    public func whereField(_ field: String, isGreaterThan value: Any) -> Query {
        with("\(field)>\(value)")
    }
    public func whereField(_ field: String, isLessThanOrEqualTo value: Any) -> Query {
        with("\(field)<=\(value)")
    }
    public func whereField(_ field: String, isGreaterThanOrEqualTo value: Any) -> Query {
        with("\(field)>=\(value)")
    }
    public func order(by field: String, descending: Bool = false) -> Query {
        with("by \(descending ? "-" : "")\(field)")
    }
    public func limit(to count: Int) -> Query { with("first \(count)") }
    public func limit(toLast count: Int) -> Query { with("last \(count)") }

    public func snapshots(includeMetadataChanges: Bool) -> Snapshots<QuerySnapshot> {
        Snapshots(firestore, asked: text) { [firestore, text] rows in
            QuerySnapshot(
                documents: rows.sorted { $0.key < $1.key }.map {
                    QueryDocumentSnapshot(firestore, "\(text)/\($0.key)", json: $0.value)
                })
        }
    }

    public static func == (left: Query, right: Query) -> Bool {
        left.firestore === right.firestore && left.text == right.text
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

public final class CollectionReference: Query, @unchecked Sendable {}  // as its superclass

public final class DocumentReference: Hashable, SnapshotSource {
    fileprivate let firestore: Firestore
    public let path: String

    fileprivate init(_ firestore: Firestore, _ path: String) {
        self.firestore = firestore
        self.path = path
    }

    public func snapshots(includeMetadataChanges: Bool) -> DocumentSnapshotsSequence {
        Snapshots(firestore, asked: path) { [firestore, path] rows in
            DocumentSnapshot(firestore, path, json: rows[""])
        }
    }

    public static func == (left: DocumentReference, right: DocumentReference) -> Bool {
        left.firestore === right.firestore && left.path == right.path
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(path) }
}

public struct QuerySnapshot: Sendable {
    public let documents: [QueryDocumentSnapshot]
    public let freshness = Freshness.fresh(readTime: Timestamp(1))
}

public struct SnapshotMetadata: Sendable {
    public let isFromCache: Bool
    public let hasPendingWrites = false
}

// `@unchecked`: for the same reasons as ``Query``.
public class DocumentSnapshot: @unchecked Sendable {
    public let reference: DocumentReference
    public let metadata = SnapshotMetadata(isFromCache: false)
    public let freshness = Freshness.fresh(readTime: Timestamp(1))
    public let readTime: Timestamp? = Timestamp(1)
    private let json: String?

    fileprivate init(_ firestore: Firestore, _ path: String, json: String?) {
        reference = DocumentReference(firestore, path)
        self.json = json
    }

    public var exists: Bool { json != nil }

    public func data<T: Decodable>(
        as type: T.Type, decoder: Firestore.Decoder = Firestore.Decoder()
    ) throws -> T { try JSONDecoder().decode(type, from: Data((json ?? "").utf8)) }

    func hasVersion(of other: DocumentSnapshot) -> Bool {
        reference == other.reference && json == other.json
    }
}

// `@unchecked`: for the same reasons as its superclass.
public final class QueryDocumentSnapshot: DocumentSnapshot, @unchecked Sendable {}

public typealias DocumentSnapshotsSequence = Snapshots<DocumentSnapshot>

public struct Snapshots<Element: Sendable>: AsyncSequence, Sendable {
    private let firestore: Firestore
    private let asked: String
    private let element: @Sendable ([String: String]) -> Element

    fileprivate init(
        _ firestore: Firestore, asked: String,
        _ element: @escaping @Sendable ([String: String]) -> Element
    ) {
        self.firestore = firestore
        self.asked = asked
        self.element = element
    }

    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var answers: AsyncStream<Firestore.Answer>.Iterator
        fileprivate let element: @Sendable ([String: String]) -> Element

        public mutating func next(
            isolation: isolated (any Actor)? = #isolation
        ) async throws(FirestoreError) -> Element? {
            guard let answer = await answers.next(isolation: isolation) else { return nil }
            return element(try answer.get())
        }
    }

    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(answers: firestore.listen(asked).makeAsyncIterator(), element: element)
    }
}
