import Testing
import TidemarkModel

@testable import TidemarkServer

/// A transaction or a write stream belongs to its caller, even if another caller knows its id.
struct OtherCallersTests {
    private let server: TestServer
    private let ann = `A server with rules`.token("ann")
    private let bob = `A server with rules`.token("bob")

    init() throws {
        server = try TestServer()
        try server.commit(set("c/a", ["n": .integer(1)]))
    }

    private func ask(_ request: Request, _ token: String?) -> (replies: [Reply], status: RPCStatus?)
    {
        let heard = Heard<Reply>()
        let context = CallContext(database: server.database, token: token)
        _ = server.server.call(request, context) { heard.receive($0) }
        server.machine.run()
        return (heard.messages, heard.status)
    }

    private func begin(
        _ token: String?, _ options: TransactionOptions = .readWrite(retrying: nil)
    ) throws -> TransactionID {
        guard case .beginTransaction(let id)? = ask(.beginTransaction(options), token).replies.first
        else { throw RPCStatus(.internal, "no reply") }
        return id
    }

    private func get(_ id: TransactionID) -> Request {
        .getDocument(GetDocumentRequest(path: path("c/a"), consistency: .transaction(id)))
    }

    private func write(_ id: TransactionID) -> Request {
        .commit(CommitRequest(mutations: [set("c/a", ["n": .integer(2)])], transaction: id))
    }

    @Test func `a transaction of another caller is none`() throws {
        for options in [TransactionOptions.readWrite(retrying: nil), .readOnly(at: nil)] {
            let id = try begin(ann, options)
            #expect(ask(get(id), ann).status == .ok)
            for other in [bob, nil, "owner", "a-token"] {
                #expect(ask(get(id), other).status == TransactionTable.expired)
                #expect(ask(write(id), other).status == TransactionTable.expired)
                #expect(ask(.rollback(id), other).status == TransactionTable.expired)
            }
            // A new token of the same account can continue the transaction.
            #expect(ask(get(id), ann + "another-signature").status == .ok)
            #expect(ask(.rollback(id), ann).status == .ok)
            #expect(ask(.rollback(id), bob).status == TransactionTable.expired)
        }
        #expect(try server.get("c/a").fields["n"] == .integer(1))
    }

    @Test func `nobody takes another's place in the queue by retrying their transaction`() throws {
        let old = try begin(ann)
        let young = try begin(bob)
        let taken = try begin(bob, .readWrite(retrying: old))
        for id in [young, taken] { #expect(ask(get(id), bob).status == .ok) }
        // Both transactions wait for each other, and the younger ends. If `taken` had the age of
        // `old`, the younger would be `young`.
        let heard = Heard<Reply>()
        let context = CallContext(database: server.database, token: bob)
        _ = server.server.call(write(young), context) { heard.receive($0) }
        server.machine.run()
        #expect(ask(write(taken), bob).status?.code == .aborted)
        #expect(heard.status == .ok)
    }

    @Test func `a write stream of another caller is not resumed, and goes on`() throws {
        func connect(_ token: String?, _ last: WriteResponse? = nil) -> (
            heard: Heard<WriteResponse>, stream: any RequestStream<WriteRequest>
        ) {
            let heard = Heard<WriteResponse>()
            let stream = server.server.write(
                CallContext(database: server.database, token: token)
            ) { heard.receive($0) }
            stream.send(
                WriteRequest(streamID: last?.streamID ?? "", streamToken: last?.streamToken ?? []))
            server.machine.run()
            return (heard, stream)
        }
        let first = connect(ann)
        first.stream.send(WriteRequest(mutations: [set("c/b", ["n": .integer(1)])]))
        server.machine.run()
        let opening = try #require(first.heard.messages.first)
        for other in [bob, nil] {
            let second = connect(other, opening)
            let answers = second.heard.messages
            #expect(answers.count == 1, "no answer to the other's batch")
            #expect(answers.first.map { $0.streamID != opening.streamID } == true)
            second.stream.finish()
        }
        #expect(first.heard.status == nil, "it was ended by somebody else")
        first.stream.send(WriteRequest(mutations: [set("c/d", ["n": .integer(2)])]))
        server.machine.run()
        #expect(first.heard.messages.count == 3)
        // The stream's own caller can resume it.
        let again = connect(ann, opening)
        #expect(again.heard.messages.count == 3)
        #expect(again.heard.messages.last?.streamID == opening.streamID)
    }

    @Test func `a token of another project is refused with the option that names projects`() throws
    {
        let caller = Caller(userID: "ann", project: "demo")
        try caller.checkReach(of: DatabaseID(project: "demo"))
        let status = refusal { try caller.checkReach(of: DatabaseID(project: "my-app")) }
        #expect(status?.code == .unauthenticated)
        for part in ["demo", "my-app", "--accounts-project", "API key"] {
            #expect(status?.message.contains(part) == true, "\(part)")
        }
    }

    @Test func `a mark names no token`() {
        func mark(_ token: String?) -> String {
            CallerMark(CallContext(database: server.database, token: token)).text
        }
        #expect(mark(nil) == mark("") && mark("owner") == mark("ya29.x"))
        let all = Set([mark(nil), mark("owner"), mark(ann), mark(bob), mark("a-secret-token")])
        #expect(all.count == 5)
        for text in all {
            #expect(text.utf8.count <= 14 && !text.contains("secret") && !text.contains("-"))
        }
    }
}
