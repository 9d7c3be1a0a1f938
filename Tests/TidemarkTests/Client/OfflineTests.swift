import Testing
import TidemarkServer

@testable import Tidemark

@Suite(.timeLimit(.minutes(2))) struct `A client without a network` {
    @Test func `shows its own writes, says how stale it is, and never waits for them`() async throws
    {
        let firestore = try Firestore.testing(Unconnected())
        let document = firestore.document("rooms/blue")
        let receipt = try await document.enqueueSetData(["n": 1])
        let snapshot = try await document.getDocument(within: .seconds(2))
        #expect(snapshot["n"] as? Int == 1)
        #expect(snapshot.metadata.isFromCache)
        #expect(snapshot.metadata.hasPendingWrites)
        guard case .stale = snapshot.freshness else {
            Issue.record("\(snapshot.freshness)")
            return
        }
        let waiting = Task { try await receipt.acknowledged() }
        waiting.cancel()
        await #expect(throws: FirestoreError.self) { try await waiting.value }
        await firestore.terminate()
    }

    @Test func `keeps its writes over a kill, and sends them in order`() async throws {
        let folder = try TemporaryFolder()
        let offline = try Firestore.testing(Unconnected(), cache: .directory(folder.path))
        let document = offline.document("rooms/blue")
        _ = try await document.enqueueSetData(["n": 1])
        _ = try await document.enqueueUpdateData(["n": FieldValue.increment(Int64(1))])
        await offline.terminate()

        let server = try FirestoreServer(FirestoreServer.Configuration())
        let online = try Firestore.testing(server, cache: .directory(folder.path))
        try await online.waitForPendingWrites()
        let snapshot = try await online.document("rooms/blue").getDocument(source: .server)
        #expect(snapshot["n"] as? Int == 2)
        #expect(!snapshot.metadata.hasPendingWrites)
        await online.terminate()
        server.close()
    }

    @Test func `says what it lacks, and ends for good`() async throws {
        let firestore = try Firestore.testing(Unconnected())
        do throws(FirestoreError) {
            _ = try await firestore.document("rooms/blue").getDocument(source: .server)
            Issue.record("there is no server")
        } catch { #expect(error.recovery == .waitForNetwork) }
        await #expect(throws: FirestoreError.self) { try await firestore.clearPersistence() }
        await firestore.terminate()
        await firestore.terminate()
        do throws(FirestoreError) {
            _ = try await firestore.document("rooms/blue").getDocument()
            Issue.record("it was terminated")
        } catch { #expect(error.code == .failedPrecondition) }
    }

    @Test func `reads its settings, and refuses hosts that are none`() throws {
        typealias Server = FirestoreSettings.Server
        let none: [String: String] = [:]
        let emulator = ["FIRESTORE_EMULATOR_HOST": "127.0.0.1:8081"]
        #expect(
            try FirestoreSettings().values.server(environment: none)
                == Server(host: "firestore.googleapis.com", port: 443, usesTLS: true))
        #expect(
            try FirestoreSettings().values.server(environment: emulator)
                == Server(host: "127.0.0.1", port: 8081, usesTLS: false))
        #expect(
            try FirestoreSettings(host: "[::1]:80", isSSLEnabled: false).values.server(
                environment: emulator) == Server(host: "::1", port: 80, usesTLS: false))
        #expect(
            try FirestoreSettings(host: "example.com").values.server(environment: none)
                == Server(host: "example.com", port: 443, usesTLS: true))
        for host in ["", ":80", "a:b", "a:0", "a:99999", "http://a"] {
            #expect(throws: FirestoreError.self, "\(host)") {
                try FirestoreSettings(host: host).values.server(environment: none)
            }
        }
    }
}
