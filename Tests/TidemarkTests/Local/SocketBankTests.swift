import Testing
import Tidemark
import TidemarkTesting

/// Tests many clients in transactions on the same few documents, each client with its own
/// connection.
@Suite(.timeLimit(.minutes(2))) struct `A bank over sockets` {
    private static let clients = 32
    private static let transfers = 3
    private static let accounts = 64
    private static let opening = 100

    @Test func `keeps its sum under 32 clients`() async throws {
        let local = try LocalFirestore.start()
        let socket = try await local.serve()
        let bank = try local.firestore().collection("accounts")
        for number in 0..<Self.accounts {
            try await bank.document("\(number)").setData(["balance": Self.opening])
        }
        let figures = try await withThrowingTaskGroup(of: Figures.self) { group in
            for client in 0..<Self.clients {
                group.addTask {
                    let firestore = try Firestore(
                        projectID: local.projectID,
                        settings: FirestoreSettings(
                            host: socket.host, isSSLEnabled: false, cache: .memory,
                            readDeadline: nil))
                    let figures = try await Self.work(firestore, seed: client)
                    await firestore.terminate()
                    return figures
                }
            }
            return try await group.reduce(Figures()) { $0 + $1 }
        }
        #expect(figures.done + figures.givenUp == Self.clients * Self.transfers)
        #expect(figures.done > Self.clients)
        let all = try await bank.getDocuments(source: .server).documents
        let sum = all.reduce(0) { $0 + ($1["balance"] as? Int ?? 0) }
        let moves = all.reduce(0) { $0 + ($1["moves"] as? Int ?? 0) }
        #expect(sum == Self.accounts * Self.opening)
        #expect(moves == 2 * figures.done, "what a client was told is what was done, once")
        await socket.close()
        await local.stop()
    }

    private struct Figures {
        var done = 0
        /// The transactions that failed in five attempts: they were aborted, or another client
        /// changed the documents that they had read.
        var givenUp = 0

        static func + (one: Self, other: Self) -> Self {
            Figures(done: one.done + other.done, givenUp: one.givenUp + other.givenUp)
        }
    }

    private static func work(_ firestore: Firestore, seed: Int) async throws -> Figures {
        let accounts = firestore.collection("accounts")
        var figures = Figures()
        for round in 0..<transfers {
            let first = (seed * 7 + round * 13) % Self.accounts
            let second = (first + 1 + (seed + round) % (Self.accounts - 1)) % Self.accounts
            let (from, to) = (accounts.document("\(first)"), accounts.document("\(second)"))
            do {
                try await firestore.runTransaction { transaction in
                    let before = [
                        try await transaction.getDocument(from),
                        try await transaction.getDocument(to),
                    ]
                    for (account, amount) in zip(before, [-seed, seed]) {
                        let balance = account["balance"] as? Int ?? 0
                        let moves = account["moves"] as? Int ?? 0
                        transaction.updateData(
                            ["balance": balance + amount, "moves": moves + 1],
                            forDocument: account.reference)
                    }
                }
                figures.done += 1
            } catch let error as FirestoreError
                where [.aborted, .failedPrecondition].contains(error.code)
            {
                figures.givenUp += 1
            }
        }
        return figures
    }
}
