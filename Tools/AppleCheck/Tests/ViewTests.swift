import Foundation
import SwiftUI
import Testing
import Tidemark
import TidemarkImages

@testable import TidemarkApp

struct Fruit: Codable, Hashable, Identifiable, Sendable {
    var id: String { name }
    var name: String
}

struct Pantry: Codable, Equatable, Sendable {
    var title: String
    var picture: URL?
}

struct FruitList: View {
    @FirestoreQuery(collectionPath: "fruits", predicates: [.order(by: "name")])
    var fruits: [Fruit]
    @DocumentValue<Pantry> var pantry: Pantry?
    @FeedItems var news: [TypedItem<Fruit>]

    init(pantry: String, news: Feed) {
        _pantry = DocumentValue(pantry)
        _news = FeedItems(news)
    }

    var body: some View {
        Text(pantry?.title ?? "A pantry")
        if $fruits.freshness?.isFresh != true { Text("Not up to date") }
        Text(fruits.map(\.name).joined(separator: ", "))
        Text(news.map(\.value.name).joined(separator: ", "))
        TidemarkImage(url: pantry?.picture, label: Text("The pantry")) { error in
            Text(error?.message ?? "")
        }
    }
}

struct RootView: View {
    let firestore: Firestore
    let pipeline: (any PictureSource)?
    let news: Feed

    var body: some View {
        FruitList(pantry: "pantries/ada", news: news)
            .environment(\.firestore, firestore)
            .environment(\.pictures, pipeline)
    }
}

/// Shows the real property wrappers in views, in a window of the test.
@MainActor @Suite(.timeLimit(.minutes(1))) struct `Properties of views` {
    private let host = StubHost()
    private let firestore = Firestore()

    init() { host.environment.firestore = firestore }

    /// Waits until the screen shows the texts. Nothing else reports that a view was drawn again.
    private func until(_ drawn: String...) async {
        while host.drawn != drawn { await Task.yield() }
    }

    private struct FruitsView: View {
        @FirestoreQuery var fruits: [Fruit]
        let more: (FirestoreQuery<[Fruit]>) -> Void

        init(
            _ path: String, _ predicates: [QueryPredicate] = [], animation: Animation? = nil,
            more: @escaping (FirestoreQuery<[Fruit]>) -> Void = { _ in }
        ) {
            _fruits = FirestoreQuery(
                collectionPath: path, predicates: predicates, animation: animation)
            self.more = more
        }

        var body: some View {
            let _ = more(_fruits)
            Text($fruits.path)
            if $fruits.error != nil { Text("error") }
            if $fruits.freshness != nil { Text("known") }
            Text(fruits.map(\.name).joined(separator: " "))
        }
    }

    private func rows(_ names: String...) -> Firestore.Answer {
        .success(
            Dictionary(uniqueKeysWithValues: names.map { ($0, #"{"name":"\#($0)"}"#) }))
    }

    @Test func `shows a query's rows, and what changes`() async {
        host.show(FruitsView("fruits"))
        #expect(host.drawn == ["fruits", ""], "nothing waits for an answer")
        firestore.stubTell("fruits", rows("apple"))
        await until("fruits", "known", "apple")
        firestore.stubTell("fruits", rows("apple", "pear"))
        await until("fruits", "known", "apple pear")
        host.show(FruitsView("fruits"))
        #expect(host.drawn == ["fruits", "known", "apple pear"], "a view that is made anew")
        #expect(firestore.stubListeners("fruits") == 1)
        host.show(nil)
        while firestore.stubListeners("fruits") > 0 { await Task.yield() }
    }

    @Test func `asks for what the view is given, and for what it sets`() async {
        firestore.stubTell("fruits first 1", rows("apple"))
        firestore.stubTell("fruits first 2", rows("apple", "pear"))
        firestore.stubTell("nuts", rows("cashew"))
        var kept: FirestoreQuery<[Fruit]>?
        func show(_ count: Int) {
            host.show(FruitsView("fruits", [.limit(to: count)]) { kept = $0 })
        }
        show(1)
        await until("fruits", "known", "apple")
        show(2)
        await until("fruits", "known", "apple pear")
        let list = kept!
        list.projectedValue.path = "nuts"
        list.projectedValue.predicates = []
        await until("nuts", "known", "cashew")
        show(2)
        #expect(host.drawn == ["nuts", "known", "cashew"], "the same again is no new wish")
        #expect(firestore.stubListeners("fruits first 2") == 0)
    }

    @Test func `tells what cannot be decoded, and why a listener ended`() async {
        let mixed = Firestore.Answer.success([
            "a": #"{"name":"apple"}"#, "b": #"{"nom":"poire"}"#,
        ])
        firestore.stubTell("fruits", mixed)
        var kept: FirestoreQuery<[Fruit]>?
        host.show(FruitsView("fruits") { kept = $0 })
        await until("fruits", "error", "known", "")
        kept!.projectedValue.decodingFailureStrategy = .ignore
        await until("fruits", "error", "known", "apple")
        firestore.stubTell("fruits", rows("apple"))
        await until("fruits", "known", "apple")
        firestore.stubTell("fruits", .failure(FirestoreError(.other)))
        await until("fruits", "error", "known", "apple")
    }

    @Test func `animates what it is asked to`() async {
        let before = StubHost.animations
        firestore.stubTell("fruits", rows("apple"))
        host.show(FruitsView("fruits"))
        await until("fruits", "known", "apple")
        #expect(StubHost.animations == before)
        var kept: FirestoreQuery<[Fruit]>?
        host.show(nil)
        host.show(FruitsView("fruits", animation: .default) { kept = $0 })
        await until("fruits", "known", "apple")
        #expect(StubHost.animations == before + 1)
        #expect(kept?.projectedValue.animation == .default)
    }

    private struct ResultView: View {
        @FirestoreQuery(collectionPath: "fruits", predicates: [.where("ripe", isEqualTo: true)])
        var fruits: Result<[Fruit], any Error>

        var body: some View {
            switch fruits {
            case .success(let fruits): Text(fruits.map(\.name).joined())
            case .failure: Text("failed")
            }
        }
    }

    @Test func `shows an error in the place of rows`() async {
        firestore.stubTell("fruits ripe=true", rows("apple"))
        host.show(ResultView())
        await until("apple")
        firestore.stubTell("fruits ripe=true", .failure(FirestoreError(.other)))
        await until("failed")
    }

    private struct SettingsView: View {
        @DocumentValue<Fruit> private var favourite: Fruit?

        init(_ path: String) { _favourite = DocumentValue(path) }

        var body: some View {
            Text(favourite?.name ?? "\($favourite.state)")
            if $favourite.error != nil { Text("error") }
            if $favourite.freshness != nil { Text("known") }
        }
    }

    @Test func `shows one document, and another one`() async {
        firestore.stubTell("settings/a", .success(["": #"{"name":"apple"}"#]))
        firestore.stubTell("settings/b", .success([:]))
        host.show(SettingsView("settings/a"))
        #expect(host.drawn == ["unknown"])
        await until("apple", "known")
        host.show(SettingsView("settings/b"))
        await until("missing", "known")
        #expect(firestore.stubListeners("settings/a") == 0)
        firestore.stubTell("settings/b", .failure(FirestoreError(.other)))
        await until("missing", "error", "known")
        host.show(nil)
        while firestore.stubListeners("settings/b") > 0 { await Task.yield() }
    }

    @Test func `stand side by side in a view`() async {
        let news = Feed()
        firestore.stubTell("fruits by name", rows("apple", "pear"))
        firestore.stubTell("pantries/ada", .success(["": #"{"title":"Ada's"}"#]))
        news.stubShow(shown("plum"))
        host.show(RootView(firestore: firestore, pipeline: nil, news: news))
        #expect(host.drawn == ["A pantry", "Not up to date", "", "", ""])
        await until("Ada's", "apple, pear", "plum", "")
    }

    private struct FeedView: View {
        @FeedItems var items: [TypedItem<Fruit>]

        init(_ feed: Feed) { _items = FeedItems(feed) }

        var body: some View {
            if $items.phase == .loading { Text("loading") }
            Text(items.map(\.value.name).joined(separator: " "))
        }
    }

    private func shown(_ names: String...) -> TypedFeedState<Fruit> {
        var state = TypedFeedState<Fruit>()
        state.items = names.map { TypedItem(stub: $0, Fruit(name: $0), Timestamp(1)) }
        state.phase = .fresh(readTime: Timestamp(1))
        return state
    }

    @Test func `shows a feed, and another one`() async {
        let (first, second) = (Feed(), Feed())
        host.show(FeedView(first))
        #expect(host.drawn == ["loading", ""])
        first.stubShow(shown("apple", "pear"))
        await until("apple pear")
        while !first.stubIsListening { await Task.yield() }
        second.stubShow(shown("plum"))
        host.show(FeedView(second))
        await until("plum")
        while first.stubIsListening { await Task.yield() }
        host.show(nil)
        while second.stubIsListening { await Task.yield() }
    }
}
