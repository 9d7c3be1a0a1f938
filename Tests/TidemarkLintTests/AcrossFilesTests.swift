import Testing

@testable import TidemarkLint

/// Checks a query that a wrapper in one file, builders in a second and a screen in a third build
/// together.
struct AcrossFilesTests {
    private static let service = """
        import FirebaseFirestore
        final class FirestoreService {
            static let shared = FirestoreService()
            let db = Firestore.firestore()
            func collection(_ path: String) -> CollectionReference { db.collection(path) }
            func listen(to query: Query, then: @escaping (QuerySnapshot?, Error?) -> Void) -> ListenerRegistration {
                query.addSnapshotListener { snapshot, error in then(snapshot, error) }
            }
        }
        enum Paths: String { case chats = "rooms"; static let limit = 50 }
        """
    private static let queries = """
        import FirebaseFirestore
        extension Query {
            func newest(_ count: Int) -> Query { order(by: "sentAt", descending: true).limit(to: count) }
        }
        struct ChatQueries {
            let service = FirestoreService.shared
            var all: CollectionReference { service.collection(Paths.chats.rawValue) }
            var page: Query { all.newest(Paths.limit) }
            func mine(_ uid: String, onlyOpen: Bool) -> Query {
                var query = all.whereField("owner", isEqualTo: uid)
                if onlyOpen { query = query.whereField("isOpen", isEqualTo: true) }
                query = query.limit(to: Paths.limit)
                return query
            }
        }
        """

    private static func report(listeningTo query: String, through call: String) -> Report {
        let listen = call.isEmpty ? "\(query).addSnapshotListener" : "\(call)(to: \(query))"
        let screen = """
            import FirebaseFirestore
            final class Screen {
                let queries = ChatQueries()
                var token: ListenerRegistration?
                func show(_ query: Query) {
                    token = \(listen) { snapshot, error in draw(snapshot, error) }
                }
                func hide() { token?.remove() }
            }
            """
        return Linter().report(on: [
            ("Screen.swift", screen), ("Queries.swift", queries), ("Service.swift", service),
        ])
    }

    private func places(_ report: Report) -> [String] {
        report.findings.filter { $0.id == .unboundedListener }.map {
            "\($0.place.path):\($0.place.line) \($0.message.contains("`rooms`"))"
        }
    }

    @Test func `a query without a limit is found where it is listened to`() {
        #expect(
            places(Self.report(listeningTo: "queries.all", through: "")) == ["Screen.swift:6 true"])
    }

    @Test func `and inside of the wrapper that listens for its only caller`() {
        let report = Self.report(
            listeningTo: "queries.all", through: "FirestoreService.shared.listen")
        #expect(places(report) == ["Service.swift:7 true"])
    }

    @Test(arguments: ["queries.page", "queries.mine(\"ada\", onlyOpen: true)"])
    func `a limit is seen however far away it is set`(query: String) {
        for call in ["", "FirestoreService.shared.listen"] {
            let report = Self.report(listeningTo: query, through: call)
            #expect(places(report) == [])
            #expect(report.operations > 0 && report.untold.count == (call.isEmpty ? 1 : 0))
        }
    }

    @Test func `a query that nobody in the files makes is counted, and not judged`() {
        let report = Self.report(listeningTo: "query", through: "")
        #expect(places(report) == [])
        #expect(report.untold.map(\.place.path) == ["Screen.swift", "Service.swift"])
    }
}
