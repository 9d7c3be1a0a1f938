import CoreMetrics
import Logging
import MetricsTestKit
import Synchronization
import Testing
import TestSupport
import Tidemark
import TidemarkServer
import TidemarkTesting

@testable import TidemarkApp

/// Keeps the events that an observer receives.
private final class Noted: Sendable {
    private let state = Mutex<[ObservedEvent]>([])
    var events: [ObservedEvent] { state.withLock(\.self) }
    var observer: Observer {
        Observer { [weak self] event in self?.state.withLock { $0.append(event) } }
    }

    var syncs: [ObservedSync] {
        events.compactMap { if case .synced(let sync) = $0 { sync } else { nil } }
    }
    var marks: [ObservedMark] {
        events.compactMap { if case .markMoved(let mark) = $0 { mark } else { nil } }
    }
}

extension Feed {
    /// Calls ``sync()`` again while the first call waits: no result of a request is taken between
    /// two calls that begin immediately on the actor.
    fileprivate func syncTwice() async throws -> [FeedSync] {
        let first = Task.immediate { try await self.sync() }
        let second = Task.immediate { try await self.sync() }
        return [try await first.value, try await second.value]
    }
}

@Suite(.timeLimit(.minutes(2))) struct `An observer` {
    private let noted = Noted()

    private func feed(_ firestore: Firestore) throws -> Feed {
        try Feed(
            FeedDefinition(
                query: firestore.document("chats/c1").collection("messages"), itemTime: "at",
                way: .changeTime("updatedAt", deletedField: nil)))
    }

    private func write(_ local: LocalFirestore, _ names: String...) async throws {
        let author = try local.firestore(label: "author")
        for name in names {
            try await author.document("chats/c1/messages/\(name)").setData([
                "at": local.now, "updatedAt": FieldValue.serverTimestamp(),
            ])
        }
    }

    @Test func `hears the reads, the filter and the mark of each sync, once`() async throws {
        try await LocalFirestore.start().whileRunning { local in
            try await write(local, "a", "b", "c")
            let feed = try self.feed(try local.firestore(label: "device"))
            feed.observe(noted.observer)
            feed.observe(noted.observer, as: "one chat")
            // The second call joins the first.
            let both = try await feed.syncTwice()
            #expect(both.map(\.reads) == [3, 3])
            #expect(noted.syncs.map(\.reads) == [3, 3], "one sync, for two observers")
            let sync = try #require(noted.syncs.first)
            #expect(sync.context == "chats/*/messages" && noted.syncs[1].context == "one chat")
            #expect(sync.filter == .everything && sync.usedMark == nil && sync.failure == nil)
            #expect(sync.time > .zero)

            local.advance(by: .seconds(600))
            let mark = local.now
            try await feed.clear(through: mark)
            local.advance(by: .seconds(600))
            try await write(local, "d")
            try await feed.sync()
            let later = try #require(noted.syncs.last)
            #expect(later.filter == .changes && later.reads >= 1)
        }
    }

    @Test func `hears the mark that a new device's query uses`() async throws {
        try await LocalFirestore.start().whileRunning { local in
            try await write(local, "a", "b")
            local.advance(by: .seconds(600))
            let feed = try self.feed(try local.firestore(label: "device"))
            feed.observe(noted.observer)
            try await feed.clear(through: local.now.advanced(by: .seconds(-60)))
            try await feed.sync()
            #expect(noted.marks.contains { $0.mark == .action })
            #expect(noted.marks.allSatisfy { !$0.isOfOtherDevice })
            #expect(noted.syncs.first?.usedMark != nil)
        }
    }

    @Test func `hears why a sync failed`() async throws {
        try await LocalFirestore.start().whileRunning { local in
            let firestore = try local.firestore(label: "device")
            let feed = try self.feed(firestore)
            feed.observe(noted.observer)
            await firestore.disableNetwork()
            await #expect(throws: FirestoreError.self) { try await feed.sync() }
        }
        #expect(noted.syncs.count == 1 && noted.syncs.first?.failure != nil)
        #expect(noted.syncs.first?.reads == 0)
    }

    @Test func `hears of marks that another device has moved`() {
        var observers = FeedObservers()
        observers.add(noted.observer, "a")
        observers.hear(.received(.moved(to: Timestamp(seconds: 7, nanoseconds: 0))))
        observers.notifyMoved(.received(.moved(to: Timestamp(seconds: 7, nanoseconds: 0))))
        #expect(noted.marks.map(\.isOfOtherDevice) == [true])
    }

    @Test func `of a stack hears of feeds, stages and failed profiles`() async throws {
        let world = try await StackWorld()
        let isOffline = Mutex(true)
        let cut = CutLine(isOffline: { isOffline.withLock { $0 } })
        let stack = try world.stack { settings in
            settings.observers = [noted.observer]
            settings.profiles = { firestore in
                cut.base.withLock { $0 = FirestoreProfiles(firestore) }
                return cut
            }
        }
        await stack.identity.load()
        let launch = stack.launch(StackSettings.Stages(beginSignUp: { _, _, _ in }))
        launch.start()
        launch.contentShown()
        for await machine in launch.machines where machine.state == .signedOut(.nobody) { break }
        try await until("the stages are heard") {
            noted.events.contains {
                if case .launchStage("sessionUnknown", _) = $0 { true } else { false }
            }
        }
        try await stack.jobs.signUp(
            .password(email: "ada@b.c", "correct horse"), profile: ["name": .string("Ada")])
        try await until("the failure is heard") {
            noted.events.contains(.profileFailed(.unreachable))
        }
        _ = try await stack.feeds(of: stack.identity.user).first?.sync()
        #expect(noted.syncs.first?.context == "stamps")
        launch.close()
        await stack.close()
        await world.stop()
    }

    private static let all: [ObservedEvent] = [
        .synced(
            ObservedSync(
                context: String(repeating: "x/*/", count: 60), reads: 7, filter: .audit,
                usedMark: Timestamp(seconds: 1, nanoseconds: 0), time: .milliseconds(1_500),
                failure: .unavailable)),
        .markMoved(
            ObservedMark(context: "a", mark: .action, move: .reset, isOfOtherDevice: true)),
        .launchStage("cold", after: .seconds(2)), .profileFailed(.refused),
    ]

    /// Source: Firebase Analytics' rules for names and parameters.
    @Test func `has names and values that analytics accept`() {
        for event in Self.all {
            #expect(event.name.wholeMatch(of: /[a-z][a-z_]{0,39}/) != nil, "\(event.name)")
            for prefix in ["firebase_", "google_", "ga_"] {
                #expect(!event.name.hasPrefix(prefix))
            }
            #expect(event.parameters.count <= 25)
            for (name, value) in event.parameters {
                #expect(name.wholeMatch(of: /[a-z][a-z_]{0,39}/) != nil, "\(name)")
                #expect(value is Int || (value as? String).map { $0.count <= 100 } == true)
            }
        }
        #expect(Self.all[2].text == "launch_stage milliseconds=2000 stage=cold")
        #expect(
            Self.all[1].text
                == "mark_moved context=a mark=action other_device=1 outcome=reset")
    }

    @Test func `records reads and times by feed`() {
        let metrics = TestMetrics()
        withMetricsFactory(metrics) {
            for event in Self.all { Observer.metrics.receive(event) }
        }
        #expect(metrics.counterTotal(label: "tidemark_feed_reads") == 7)
        #expect(metrics.timers.count == 1)
    }

    /// The article's examples. `Analytics` stands for Firebase's type of this name.
    @Test func `is written as in the article`() throws {
        let logger = Logger(label: "tidemark.test") { _ in SwiftLogNoOpLogHandler() }
        var settings = StackSettings(
            folder: "/nowhere", projectID: "p", accounts: .local("127.0.0.1:1"))
        let analytics = Observer { event in
            Analytics.logEvent(event.name, parameters: event.parameters)
        }
        settings.observers = [.metrics, .log, analytics]
        let logged = Observer { event in
            logger.info("\(event.name)", metadata: event.parameters.mapValues { "\($0)" })
        }
        for event in Self.all { for observer in settings.observers { observer.receive(event) } }
        logged.receive(Self.all[0])
        #expect(Analytics.names.withLock(\.self) == Self.all.map(\.name))
    }
}

private enum Analytics {
    static let names = Mutex<[String]>([])
    static func logEvent(_ name: String, parameters: [String: Any]?) {
        names.withLock { $0.append(name) }
    }
}
