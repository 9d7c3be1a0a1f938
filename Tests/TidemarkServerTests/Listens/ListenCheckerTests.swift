import Testing
import TidemarkModel

/// Random commits and targets, streams cut and resumed by token: after each quiet point what a client
/// holds must be what the query returns.
struct ListenCheckerTests {
    @Test(arguments: UInt64(0)..<200)
    func `a client's state is the query's, whatever was cut and resumed`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let server = try TestServer(history: .seconds(Int.random(in: 20...400, using: &random)))
        var clients = (0..<4).map { CheckedClient(server, query: Self.query($0, &random)) }
        for step in 0..<40 {
            server.machine.advance(.milliseconds(Int.random(in: -500...9_000, using: &random)))
            try server.commit(Self.mutations(&random))
            let index = Int.random(in: 0..<clients.count, using: &random)
            if Int.random(in: 0..<4, using: &random) == 0 { clients[index].cut() }
            for index in clients.indices {
                clients[index].listen(random.next().isMultiple(of: 3))
                clients[index].hear()
                let expected = try server.query(clients[index].query).compactMap(\.document)
                guard clients[index].isListening else { continue }
                #expect(
                    clients[index].held.values.sorted { $0.path < $1.path }
                        == expected.sorted { $0.path < $1.path },
                    "seed \(seed), step \(step), client \(index)")
            }
        }
    }

    private static let n = FieldPath(unchecked: ["n"])

    private static func query(_ kind: Int, _ random: inout SeededRandom) -> Query {
        var query = collection("c")
        switch kind {
        case 0: break
        case 1: query.filter = .field(n, .lessThan, .integer(5))
        case 2:
            query.orders = [Order(n, .descending)]
            query.limit = .first(Int.random(in: 1...4, using: &random))
        default:
            query.orders = [Order(n)]
            query.offset = Int.random(in: 0...2, using: &random)
            query.limit = .last(3)
            query.filter = .field(n, .greaterThan, .integer(1))
        }
        return query
    }

    private static func mutations(_ random: inout SeededRandom) -> [Mutation] {
        (0..<Int.random(in: 1...3, using: &random)).map { _ in
            let name = "c/d\(Int.random(in: 0..<8, using: &random))"
            switch Int.random(in: 0..<4, using: &random) {
            case 0: return delete(name)
            case 1: return set(name, [:])
            default: return set(name, ["n": .integer(.random(in: 0..<10, using: &random))])
            }
        }
    }
}

extension TestServer {
    fileprivate func commit(_ mutations: [Mutation]) throws {
        _ = try replies(.commit(CommitRequest(mutations: mutations)))
    }
}

/// A client that believes what it is told, and keeps what it holds when its stream is cut.
private struct CheckedClient {
    let server: TestServer
    let query: Query
    var held: [DocumentPath: Document] = [:]
    var token: [UInt8] = []
    private var pending: [DocumentPath: Document?] = [:]
    private var filterCount: Int?
    private var stream: TestListen?

    init(_ server: TestServer, query: Query) {
        self.server = server
        self.query = query
    }

    var isListening: Bool { stream != nil }

    mutating func cut() {
        stream?.cancel()
        stream = nil
        pending = [:]
    }

    mutating func listen(_ isWilling: Bool) {
        guard stream == nil, isWilling else { return }
        let new = server.listen()
        stream = new
        let resume = ListenTarget.Resume.token(token)
        take(
            new.add(
                target(1, query, from: resume, expecting: token.isEmpty ? nil : Int32(held.count))))
        guard let count = filterCount, count != held.count else { return }
        // As clients do: what the filter does not explain is fetched anew.
        filterCount = nil
        held = [:]
        take(new.remove(1) + new.add(target(1, query)))
    }

    mutating func hear() {
        if let stream { take(stream.take()) }
    }

    private mutating func take(_ responses: [ListenResponse]) {
        for response in responses {
            switch response {
            case .documentChange(let change):
                let document = change.document
                pending.updateValue(
                    change.targetIDs.isEmpty ? nil : document, forKey: document.path)
            case .documentDelete(let removal), .documentRemove(let removal):
                pending.updateValue(nil, forKey: removal.path)
            case .existenceFilter(let filter): filterCount = Int(filter.count)
            case .targetChange(let change) where change.targetIDs.isEmpty:
                for (path, document) in pending { held[path] = document }
                pending = [:]
                token = change.resumeToken
            case .targetChange: break
            }
        }
    }
}
