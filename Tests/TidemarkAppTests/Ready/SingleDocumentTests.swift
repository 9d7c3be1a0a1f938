import Testing
import TestSupport
import Tidemark
import TidemarkApp
import TidemarkServer
import TidemarkTesting

@Suite(.timeLimit(.minutes(2))) struct `A single document` {
    private struct Settings: Codable, Equatable {
        var theme: String
        var size: Int
    }

    private func world(
        _ body: (LocalFirestore, DocumentReference, DocumentReference) async throws -> Void
    ) async throws {
        let local = try LocalFirestore.start()
        let writer = try local.firestore(label: "writer").document("settings/me")
        let reader = try local.firestore(label: "reader").document("settings/me")
        do { try await body(local, writer, reader) } catch {
            await local.stop()
            throw error
        }
        await local.stop()
    }

    @Test func `is told when its value is another one, and not before`() async throws {
        try await world { local, writer, reader in
            var values = reader.values(as: Settings.self).makeAsyncIterator()
            var first = try await values.next()
            if first == .unknown { first = try await values.next() }
            #expect(first == .missing)
            try await writer.setData(["theme": "dark", "size": 12])
            #expect(try await values.next() == .value(Settings(theme: "dark", size: 12)))
            // The first two updates do not change the value: one is equal, and one has a field that
            // the type lacks.
            try await writer.updateData(["theme": "dark"])
            try await writer.updateData(["lastOpened": 7])
            try await writer.updateData(["size": 14])
            #expect(try await values.next() == .value(Settings(theme: "dark", size: 14)))
            try await writer.delete()
            #expect(try await values.next() == .missing)
            #expect(local.meter().first { $0.label == "reader" }?.reads ?? 0 <= 6)
        }
    }

    @Test func `that cannot be decoded is an error and not a crash`() async throws {
        try await world { _, writer, reader in
            try await writer.setData(["theme": 5])
            await #expect(throws: FirestoreError.self) {
                for try await _ in reader.values(as: Settings.self) {}
            }
        }
    }

    @Test func `that the device cannot decode may be another one on the server`() async throws {
        try await world { _, writer, reader in
            try await writer.setData(["theme": 5])
            _ = try await reader.getDocument()
            try await writer.setData(["theme": "light", "size": 1])
            var told: [DocumentState<Settings>] = []
            for try await state in reader.values(as: Settings.self) {
                told.append(state)
                if state.value != nil { break }
            }
            #expect(told.last == .value(Settings(theme: "light", size: 1)))
            #expect(told.dropLast().allSatisfy { $0 == .unknown }, "\(told)")
        }
    }

    @Test func `is bound to by a view, and can be tried again`() async throws {
        try await world { _, writer, reader in
            try await writer.setData(["theme": 5])
            let model = await SingleDocumentModel<Settings>(reader)
            try await until("the model has an error") { await model.error != nil }
            try await writer.setData(["theme": "light", "size": 1])
            while await model.value == nil {
                // A retry can read before the server has sent the change to this device, so the
                // test retries again.
                await model.retry()
                await Task.yield()
            }
            #expect(await model.value == Settings(theme: "light", size: 1))
            #expect(await model.error == nil)
            try await until("the model is fresh") { await model.freshness?.isFresh == true }
        }
    }

    @Test func `tells a view how old it is`() async throws {
        try await world { _, writer, reader in
            try await writer.setData(["theme": "light", "size": 1])
            let model = await SingleDocumentModel<Settings>(reader)
            #expect(await model.freshness == nil)
            try await until("the model is fresh") { await model.freshness?.isFresh == true }
            await reader.firestore.disableNetwork()
            try await until("the model is stale") { await model.freshness?.isFresh == false }
            #expect(await model.value == Settings(theme: "light", size: 1))
        }
    }
}
