import Foundation
import Synchronization
import Testing
import TidemarkModel
import TidemarkServer

/// Many tasks use a server with its own queue and a file concurrently.
struct BankTests {
    @Test(.timeLimit(.minutes(2)))
    func `a bank of accounts under 32 clients keeps its sum`() async throws {
        let folder = try TemporaryFolder()
        let bank = try Bank(folder.path)
        try await bank.open()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for client in 0..<Bank.clients {
                group.addTask { try await bank.work(seed: UInt64(client)) }
            }
            try await group.waitForAll()
        }
        let total = bank.figures.withLock { $0 }
        #expect(total.commits == Bank.clients * Bank.transfers)
        #expect(total.waitedTooLong == 0)
        try await bank.checkSum()
        bank.server.close()
    }

    @Test(.timeLimit(.minutes(2)))
    func `two writers of one document, and two creates, have one winner`() async throws {
        let folder = try TemporaryFolder()
        let server = try FirestoreServer(.init(dataDirectory: folder.path))
        let context = CallContext(database: try DatabaseID(project: "test"))
        for round in 0..<5 {
            let creates = await both { index in
                let create = set("c/\(round)", ["by": .integer(Int64(index))], .exists(false))
                _ = try await server.commit([create], context)
            }
            #expect(Set(creates) == [.ok, .alreadyExists])
            // Both transactions read before either commits.
            let begin = Request.beginTransaction(.readWrite(retrying: nil))
            var ids: [TransactionID] = []
            for _ in 0..<2 {
                let replies = try await server.replies(to: begin, context)
                if case .beginTransaction(let id)? = replies.first {
                    let get = GetDocumentRequest(
                        path: path("c/\(round)"), consistency: .transaction(id))
                    _ = try await server.replies(to: .getDocument(get), context)
                    ids.append(id)
                }
            }
            let transactions = ids
            let writers = await both { index in
                let commit = CommitRequest(
                    mutations: [set("c/\(round)", ["by": .integer(Int64(10 + index))])],
                    transaction: transactions[index])
                _ = try await server.replies(to: .commit(commit), context)
            }
            #expect(writers == [.ok, .aborted], "the older wins")
        }
        server.close()
    }

    private func both(
        _ body: @escaping @Sendable (Int) async throws -> Void
    ) async -> [RPCStatus.Code] {
        await withTaskGroup(of: (Int, RPCStatus.Code).self) { group in
            for index in 0..<2 {
                group.addTask {
                    do {
                        try await body(index)
                        return (index, .ok)
                    } catch {
                        return (index, (error as? RPCStatus)?.code ?? .unknown)
                    }
                }
            }
            return await group.reduce(into: [RPCStatus.Code.ok, .ok]) { $0[$1.0] = $1.1 }
        }
    }
}

private final class Bank: Sendable {
    static let clients = 32
    private static let accounts = 40
    static let transfers = 10

    struct Figures {
        var commits = 0
        var waitedTooLong = 0
    }

    let server: FirestoreServer
    let context: CallContext
    let figures = Mutex(Figures())

    init(_ folder: String) throws {
        server = try FirestoreServer(.init(dataDirectory: folder))
        context = CallContext(database: try DatabaseID(project: "test"))
    }

    func open() async throws {
        let opening = (0..<Self.accounts).map { set("bank/\($0)", ["n": .integer(100)]) }
        _ = try await server.commit(opening, context)
    }

    func work(seed: UInt64) async throws {
        var random = SeededRandom(seed: seed)
        for _ in 0..<Self.transfers {
            let pair = Array((0..<Self.accounts).shuffled(using: &random).prefix(2))
            let amount = Int64.random(in: 1...20, using: &random)
            var retrying: TransactionID?
            while true {
                let (id, status) = try await transfer(amount, pair, retrying)
                figures.withLock { figures in
                    if status == nil { figures.commits += 1 }
                    if status?.message.contains("Too much") == true { figures.waitedTooLong += 1 }
                }
                guard let status else { break }
                guard status.code == .aborted else { throw status }
                retrying = retrying ?? id
            }
            // The sum is the same at every time, whatever other clients do.
            try await checkSum()
        }
    }

    /// - Returns: The transaction, and the reason if it was not committed.
    private func transfer(
        _ amount: Int64, _ pair: [Int], _ retrying: TransactionID?
    ) async throws -> (TransactionID, RPCStatus?) {
        let begin = Request.beginTransaction(.readWrite(retrying: retrying))
        guard case .beginTransaction(let id)? = try await server.replies(to: begin, context).first
        else { throw RPCStatus(.internal, "no transaction") }
        do throws(RPCStatus) {
            var balances: [Int64] = []
            // The reads run one after the other, so circles of waits over two accounts can form.
            for account in pair {
                let get = GetDocumentRequest(
                    path: path("bank/\(account)"), consistency: .transaction(id))
                let replies = try await server.replies(to: .getDocument(get), context)
                if case .document(let document)? = replies.first,
                    case .integer(let n)? = document.fields["n"]
                {
                    balances.append(n)
                }
            }
            let writes = [
                set("bank/\(pair[0])", ["n": .integer(balances[0] - amount)]),
                set("bank/\(pair[1])", ["n": .integer(balances[1] + amount)]),
            ]
            let commit = CommitRequest(mutations: writes, transaction: id)
            _ = try await server.replies(to: .commit(commit), context)
            return (id, nil)
        } catch {
            return (id, error)
        }
    }

    func checkSum() async throws {
        let rows = try await server.documents(of: collection("bank"), context).documents
        let sum = rows.reduce(Int64(0)) { sum, document in
            if case .integer(let n)? = document.fields["n"] { sum + n } else { sum }
        }
        #expect(sum == Int64(Self.accounts) * 100)
    }
}
