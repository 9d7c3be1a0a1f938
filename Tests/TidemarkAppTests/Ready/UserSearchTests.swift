import Testing
import Tidemark
import TidemarkApp
import TidemarkServer
import TidemarkTesting

@Suite(.timeLimit(.minutes(5))) struct `A search for users` {
    private let names = ["Anna", "Anton", "Ännchen", "Bert", "anna maria", "Zoë"]

    private func world(
        _ body: (LocalFirestore, CollectionReference, ManualClock) async throws -> Void
    ) async throws {
        let local = try LocalFirestore.start()
        let writer = try local.firestore(label: "writer").collection("users")
        for name in names {
            try await writer.document(name).setData([
                "name": name, "searchName": SearchText.normalized(name),
            ])
        }
        let reader = try local.firestore(label: "reader").collection("users")
        do { try await body(local, reader, ManualClock()) } catch {
            await local.stop()
            throw error
        }
        await local.stop()
    }

    private func reads(_ local: LocalFirestore) -> Int {
        local.meter().first { $0.label == "reader" }?.reads ?? 0
    }

    @Test func `costs its rows once in five minutes, however it is written`() async throws {
        try await world { local, users, clock in
            let search = try UserSearch(users, clock: clock)
            let found = try await search.results(for: "an")
            #expect(
                found.documents.map(\.documentID) == ["Anna", "anna maria", "Ännchen", "Anton"])
            #expect(found.isComplete && !found.isFromCache)
            #expect(reads(local) == 4)
            for text in ["AN", " Än", "ａｎ"] {
                #expect(try await search.results(for: text).documents.count == 4, "\(text)")
            }
            #expect(try await search.results(for: "anna").documents.count == 2)
            #expect(try await search.results(for: "anx").documents.isEmpty)
            #expect(try await search.results(for: "").documents.isEmpty)
            #expect(reads(local) == 4, "a longer prefix is answered from the shorter one")
            clock.advance(by: .seconds(300))
            #expect(try await search.results(for: "anna").documents.count == 2)
            #expect(reads(local) == 6)
        }
    }

    @Test func `asks again for a longer prefix where not all were there`() async throws {
        try await world { local, users, clock in
            var options = UserSearch.Options()
            options.limit = 2
            let search = try UserSearch(users, options: options, clock: clock)
            let found = try await search.results(for: "an")
            #expect(found.documents.count == 2 && !found.isComplete)
            #expect(try await search.results(for: "ant").documents.map(\.documentID) == ["Anton"])
            #expect(reads(local) == 3)
        }
    }

    @Test func `asks once for those who ask at the same time`() async throws {
        try await world { local, users, clock in
            let search = try UserSearch(users, clock: clock)
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<20 {
                    group.addTask { try await search.results(for: "b").documents.count }
                }
                for try await count in group { #expect(count == 1) }
            }
            #expect(reads(local) == 1)
        }
    }

    @Test func `saves most reads of what is typed`() async throws {
        try await world { local, users, clock in
            let search = try UserSearch(users, clock: clock)
            var before = 0
            // Typed letter by letter, with a word taken back, as people do.
            let typed = ["a", "an", "ann", "anna", "ann", "an", "ant", "anto", "anton"]
            for text in typed {
                before += max(
                    1, names.count { SearchText.normalized($0).hasPrefix(text) })
                _ = try await search.results(for: text)
            }
            #expect(Double(reads(local)) <= Double(before) * 0.4, "60 % fewer at the least")
        }
    }

    @Test func `waits for a pause in typing, and shows no late answer`() async throws {
        try await world { local, users, clock in
            let search = try UserSearch(users, clock: clock)
            let model = await UserSearchModel(search, clock: clock)
            for text in ["z", "zo", "b"] {
                await MainActor.run { model.text = text }
                await clock.sleepers()
            }
            #expect(await model.isSearching)
            #expect(reads(local) == 0)
            clock.advance(by: .milliseconds(250))
            while await model.isSearching { await Task.yield() }
            #expect(await model.documents.map(\.documentID) == ["Bert"])
            #expect(reads(local) == 1, "what was typed in between is asked for by nobody")
            await MainActor.run { model.text = "be" }
            #expect(await !model.isSearching, "known at once, without a pause")
            #expect(await model.documents.map(\.documentID) == ["Bert"])
            await MainActor.run { model.text = "bex" }
            #expect(await model.documents.isEmpty)
            #expect(reads(local) == 1)
        }
    }
}
