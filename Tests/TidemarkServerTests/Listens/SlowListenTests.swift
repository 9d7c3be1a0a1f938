import Synchronization
import Testing
import TidemarkModel
import TidemarkServer

/// Streams whose first answer is long, or whose reader has no room.
struct SlowListenTests {
    let server: TestServer

    init() throws { server = try TestServer(history: .seconds(60)) }

    private static let count = 1_600

    private func id(_ number: Int) -> String { String(number + 10_000) }

    private func fill() throws {
        for start in stride(from: 0, to: Self.count, by: 400) {
            let writes = (start..<(start + 400)).map {
                set("c/\(id($0))", ["n": .integer(Int64($0))])
            }
            _ = try server.replies(.commit(CommitRequest(mutations: writes)))
        }
    }

    @Test func `a long first answer is all of it, and then current`() throws {
        try fill()
        let listen = server.listen(label: "reader")
        let heard = brief(listen.add(target(1, collection("c"))))
        #expect(heard == ["ADD 1"] + (0..<Self.count).map { "\(id($0))+1" } + ["CURRENT 1", "|"])
        #expect(server.reads("reader") == Self.count)
        try server.commit(delete("c/\(id(3))"))
        #expect(brief(listen.take()) == ["\(id(3)) deleted-1", "|"])
    }

    @Test func `what is committed between the parts is told before the target is current`() throws {
        try fill()
        let listen = SlowListen(server)
        #expect(brief(listen.add(target(1, collection("other")))) == ["ADD 1", "CURRENT 1", "|"])
        listen.pause()
        let first = brief(listen.add(target(2, collection("c"))))
        #expect(first.first == "ADD 2")
        #expect((2...1_001).contains(first.count))
        #expect(!first.contains("|"))
        try server.commit(
            set("c/\(id(2))", ["n": .integer(-1)]), delete("c/\(id(1_500))"),
            set("c/\(id(9_000))", [:]), set("other/a", [:]))
        // The server sends no changes of the first target until the second target is complete.
        #expect(brief(listen.take()).isEmpty)
        let rest = brief(listen.resume())
        let wanted = first.dropFirst() + rest
        #expect(wanted.filter { $0 == "|" }.count == 1)
        #expect(
            rest.suffix(6) == [
                "a+1", "\(id(2))+2", "\(id(1_500)) deleted-2", "\(id(9_000))+2", "CURRENT 2", "|",
            ])
        #expect(wanted.prefix(Self.count).elementsEqual((0..<Self.count).map { "\(id($0))+2" }))
        try server.commit(set("other/b", [:]), delete("c/\(id(9_000))"))
        #expect(brief(listen.take()) == ["b+1", "\(id(9_000)) deleted-2", "|"])
    }

    @Test func `a stream without room is told later, and all at once`() throws {
        let listen = SlowListen(server)
        try server.commit(set("c/a", ["n": .integer(0)]), set("c/b", ["n": .integer(0)]))
        _ = listen.add(target(1, collection("c")))
        var newest = collection("c")
        newest.orders = [Order(FieldPath(unchecked: ["n"]), .descending)]
        newest.limit = .first(1)
        #expect(brief(listen.add(target(2, newest))) == ["ADD 2", "b+2", "CURRENT 2", "|"])
        listen.pause()
        for number in 1...3 { try server.commit(set("c/a", ["n": .integer(Int64(number))])) }
        try server.commit(delete("c/b"))
        #expect(brief(listen.take()).isEmpty)
        let told = listen.resume()
        #expect(brief(told) == ["a+1", "b deleted-1", "b deleted-2", "a+2", "|"])
        // The token covers all sent changes.
        let other = server.listen()
        #expect(
            brief(other.add(target(1, collection("c"), from: .token(token(told))))) == [
                "ADD 1", "|", "CURRENT 1", "|",
            ])
        try server.commit(set("c/d", ["n": .integer(9)]))
        #expect(brief(listen.take()) == ["d+1+2", "a removed-2", "|"])
    }

    @Test func `targets that are added meanwhile wait, and can be taken back`() throws {
        try fill()
        let listen = SlowListen(server)
        listen.pause()
        _ = listen.add(target(1, collection("c")))
        #expect(brief(listen.add(target(2, collection("other")))).isEmpty)
        #expect(brief(listen.add(target(3, collection("third")))).isEmpty)
        #expect(brief(listen.remove(2)) == ["REMOVE 2"])
        #expect(brief(listen.remove(1)) == ["REMOVE 1"])
        #expect(brief(listen.resume()) == ["ADD 3", "CURRENT 3", "|"])
        try server.commit(set("c/x", [:]), set("other/x", [:]), set("third/x", [:]))
        #expect(brief(listen.take()) == ["x+3", "|"])
    }

    @Test func `a stream ends when what it has missed is no longer kept`() throws {
        let listen = SlowListen(server)
        _ = listen.add(target(1, collection("c")))
        listen.pause()
        for _ in 0..<3 {
            for number in 0..<5 { try server.commit(set("c/\(number)", ["t": .serverNow(server)])) }
            server.machine.advance(.seconds(3_600))
        }
        _ = listen.resume()
        #expect(listen.heard.status?.code == .resourceExhausted)
    }
}

extension Value {
    /// Returns a value that differs from commit to commit.
    fileprivate static func serverNow(_ server: TestServer) -> Value {
        .timestamp(server.machine.now)
    }
}

/// A listen stream whose reader can stop reading.
private final class SlowListen: Sendable {
    let heard = Heard<ListenResponse>()
    private let server: TestServer
    private let stream: any RequestStream<ListenRequest>

    init(_ server: TestServer) {
        self.server = server
        let heard = heard
        stream = server.server.listen(server.context()) { heard.receive($0) }
        server.machine.run()
    }

    func pause() {
        stream.pause()
        server.machine.run()
    }

    func resume() -> [ListenResponse] {
        stream.resume()
        return take()
    }

    func add(_ target: ListenTarget) -> [ListenResponse] {
        stream.send(.add(target, labels: [:]))
        return take()
    }

    func remove(_ id: Int32) -> [ListenResponse] {
        stream.send(.remove(targetID: id))
        return take()
    }

    func take() -> [ListenResponse] {
        server.machine.run()
        return heard.take()
    }
}
