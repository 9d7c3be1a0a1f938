import Testing
import TestSupport
import Tidemark
import TidemarkApp
import TidemarkServer
import TidemarkTesting

@Suite(.timeLimit(.minutes(2))) struct `A search for users` {
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

    @Test func `finds nothing for less than the shortest prefix, and asks nothing`() async throws {
        try await world { local, users, clock in
            var options = UserSearch.Options()
            options.minimumLength = 2
            let search = try UserSearch(users, options: options, clock: clock)
            #expect(try await search.results(for: "a").documents.isEmpty)
            #expect(reads(local) == 0)
            #expect(try await search.results(for: "an").documents.count == 4)
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

    @Test func `answers from the device without a server, and says so`() async throws {
        try await world { local, users, clock in
            let search = try UserSearch(users, clock: clock)
            _ = try await search.results(for: "an")
            await users.firestore.disableNetwork()
            clock.advance(by: .seconds(3_600))
            #expect(search.known("an") == nil)
            let old = try await search.results(for: "anna")
            #expect(old.documents.map(\.documentID) == ["Anna", "anna maria"])
            #expect(old.age == .seconds(3_600) && old.isComplete && old.isFromCache)
            #expect(old.error?.code == .unavailable)
            // This text was never searched for, but a document that matches is on the device.
            let other = try UserSearch(users, clock: clock)
            other.forget()
            let held = try await other.results(for: "anto")
            #expect(held.documents.map(\.documentID) == ["Anton"])
            #expect(held.age == nil && !held.isComplete && held.error != nil)
            await #expect(throws: FirestoreError.self) { try await other.results(for: "zo") }
            #expect(reads(local) == 4)
        }
    }

    @Test func `keeps its results over a relaunch`() async throws {
        try await world { local, users, clock in
            let first = try UserSearch(users, clock: clock)
            _ = try await first.results(for: "an")
            _ = try await first.results(for: "q")
            #expect(reads(local) == 5)
            local.advance(by: .seconds(100))
            let second = try UserSearch(users, clock: ManualClock())
            #expect(second.known("an") == nil, "it has not looked")
            await second.open()
            let known = second.known("ann")
            #expect(known?.documents.count == 3 && known?.age == .seconds(100))
            #expect(second.known("q")?.documents.isEmpty == true)
            #expect(reads(local) == 5)
            local.advance(by: .seconds(200))
            let third = try UserSearch(users, clock: ManualClock())
            #expect(try await third.results(for: "an").isFromCache == false, "too old by now")
            #expect(reads(local) == 9)
            third.forget()
            let fourth = try UserSearch(users, clock: ManualClock())
            await fourth.open()
            #expect(fourth.known("an") == nil)
        }
    }

    @Test func `goes by an app's own normalisation, accents and all`() async throws {
        try await world { local, users, clock in
            let writer = try local.firestore(label: "writer").collection("users")
            for name in ["Élodie", "Elodie", "ÉLIE"] {
                try await writer.document(name).setData(["user_name_lowercase": name.lowercased()])
            }
            let search = try UserSearch(users, field: "user_name_lowercase", clock: clock) {
                $0.lowercased()
            }
            let found = try await search.results(for: "ÉL")
            #expect(found.documents.map(\.documentID) == ["ÉLIE", "Élodie"])
            #expect(try await search.results(for: "Él").isFromCache)
            #expect(try await search.results(for: "el").documents.map(\.documentID) == ["Elodie"])
            // Firestore treats a text with another composition as a different text, and so does the
            // search.
            #expect(try await search.results(for: "e\u{301}l").documents.isEmpty)
        }
    }

    @Test func `saves most reads of what is typed`() async throws {
        try await world { local, users, clock in
            let search = try UserSearch(users, clock: clock)
            var before = 0
            // The user types letter by letter, deletes two letters, and continues with another
            // name.
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
            try await until("the search is over") { await !model.isSearching }
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
