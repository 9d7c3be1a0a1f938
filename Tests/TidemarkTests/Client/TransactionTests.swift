import Foundation
import Synchronization
import Testing
import TidemarkServer

@testable import Tidemark

/// Tests transactions of clients with a server in the same process.
@Suite(.timeLimit(.minutes(2))) struct `A transaction` {
    @Test func `reads, writes, and returns what it made`() async throws {
        try await Firestore.withServer { firestore in
            let (a, b) = (firestore.document("rooms/a"), firestore.document("rooms/b"))
            try await a.setData(["n": 5])
            let sum = try await firestore.runTransaction { transaction in
                let n = try await transaction.getDocument(a)["n"] as? Int ?? 0
                let isThere = try await transaction.getDocument(b).exists
                transaction.updateData(["n": n - 2], forDocument: a)
                transaction.setData(["n": 2, "was": isThere], forDocument: b)
                return n
            }
            #expect(sum == 5)
            #expect(try await a.getDocument(source: .server)["n"] as? Int == 3)
            #expect(try await b.getDocument(source: .server)["was"] as? Bool == false)
        }
    }

    @Test func `that counts, in many clients' hands at once, loses none`() async throws {
        try await Firestore.withServer { firestore in
            let counter = firestore.document("rooms/counter")
            try await counter.setData(["n": 0])
            let done = try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        do {
                            try await firestore.runTransaction { transaction in
                                let n = try await transaction.getDocument(counter)["n"] as? Int
                                transaction.updateData(["n": n! + 1], forDocument: counter)
                            }
                            return true
                        } catch let error as FirestoreError {
                            #expect([.aborted, .failedPrecondition].contains(error.code))
                            return false
                        }
                    }
                }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(done > 0)
            #expect(try await counter.getDocument(source: .server)["n"] as? Int == done)
        }
    }

    @Test func `is tried again when what it read has changed, five times at most`() async throws {
        try await Firestore.withServer { firestore in
            let document = firestore.document("rooms/a")
            let other = firestore.document("rooms/b")
            try await document.setData(["n": 0])
            let attempts = Mutex(0)
            try await firestore.runTransaction { transaction in
                let n = try await transaction.getDocument(document)["n"] as? Int ?? 0
                // Another write comes first, in the first attempt. The commit checks documents that
                // were only read, too.
                if attempts.withLock({
                    $0 += 1; return $0
                }) == 1 {
                    try await document.setData(["n": 10])
                }
                transaction.setData(["n": n + 1], forDocument: other)
            }
            #expect(attempts.withLock { $0 } == 2)
            #expect(try await other.getDocument(source: .server)["n"] as? Int == 11)
            attempts.withLock { $0 = 0 }
            await #expect(throws: FirestoreError.self) {
                try await firestore.runTransaction(maxAttempts: 2) { transaction in
                    _ = try await transaction.getDocument(document)
                    attempts.withLock { $0 += 1 }
                    try await document.setData(["n": attempts.withLock { $0 }])
                    transaction.updateData(["n": -1], forDocument: document)
                }
            }
            #expect(attempts.withLock { $0 } == 2)
            #expect(try await document.getDocument(source: .server)["n"] as? Int == 2)
        }
    }

    @Test func `whose commit has no answer is not made twice`() async throws {
        let server = try FirestoreServer(FirestoreServer.Configuration())
        let faulty = FaultyTransport(server)
        let firestore = try Firestore.testing(faulty)
        let counter = firestore.document("rooms/counter")
        try await counter.setData(["n": 0])
        try faulty.order([FaultRule("rpc=Commit,times=1,lose-response")])
        let error = await #expect(throws: FirestoreError.self) {
            try await firestore.runTransaction { transaction in
                let n = try await transaction.getDocument(counter)["n"] as? Int
                transaction.updateData(["n": n! + 1], forDocument: counter)
            }
        }
        #expect(error?.code == .unavailable)
        #expect(error?.detail.contains("The answer to the commit was lost") == true)
        #expect(try await counter.getDocument(source: .server)["n"] as? Int == 1)
        await firestore.terminate()
        server.close()
    }

    @Test func `is of one user`() async throws {
        try await Firestore.withServer { firestore in
            let document = firestore.document("rooms/a")
            let error = await #expect(throws: FirestoreError.self) {
                try await firestore.runTransaction { transaction in
                    let there = try await transaction.getDocument(document).exists
                    transaction.setData(["there": there], forDocument: document)
                    try await firestore.changeUser(to: "ben")
                }
            }
            #expect(error?.code == .cancelled)
            let untouched = try await document.getDocument(source: .server)
            #expect(!untouched.exists)
        }
    }

    @Test func `that makes no sense commits nothing`() async throws {
        struct Mine: Error {}
        try await Firestore.withServer { firestore in
            let (a, b) = (firestore.document("rooms/a"), firestore.document("rooms/b"))
            let bad: [@Sendable (Transaction) async throws -> Void] = [
                { _ = try await $0.setData([:], forDocument: a).getDocument(b) },
                {
                    _ = try await $0.getDocument(b)
                    $0.setData([:], forDocument: a).updateData(["n": 1], forDocument: b)
                },
                { $0.setData(["": 1], forDocument: a) },
                {
                    $0.setData([:], forDocument: a); throw Mine()
                },
            ]
            for body in bad {
                await #expect(throws: (any Error).self) { try await firestore.runTransaction(body) }
            }
            let untouched = try await a.getDocument(source: .server)
            #expect(!untouched.exists)
            await #expect(throws: Mine.self) {
                try await firestore.runTransaction { _ in throw Mine() }
            }
        }
    }
}
