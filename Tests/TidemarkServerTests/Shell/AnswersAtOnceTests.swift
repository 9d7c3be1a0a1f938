import Dispatch
import Foundation
import Synchronization
import Testing
import TidemarkModel

@testable import TidemarkServer

/// The server answers a short read on the caller's thread if the caller allows it.
@Suite(.timeLimit(.minutes(2))) struct AnswersAtOnceTests {
    private let server: FirestoreServer
    private let database: DatabaseID

    init() throws {
        server = try FirestoreServer(FirestoreServer.Configuration())
        database = try DatabaseID(project: "test")
        let commit = CommitRequest(mutations: [set("c/a", ["n": .integer(1)])])
        #expect(try ask(.commit(commit), atOnce: true).status.code == .ok)
    }

    private struct Answer {
        let replies: [Reply]
        let status: RPCStatus
        /// True if the answer came before the call returned.
        let wasInside: Bool
    }

    private func ask(
        _ request: Request, atOnce: Bool, over transport: (any Transport)? = nil
    ) throws -> Answer {
        let heard = Heard<Reply>()
        let done = DispatchSemaphore(value: 0)
        var context = CallContext(database: database)
        context.mayAnswerAtOnce = atOnce
        let caller = ObjectIdentifier(Thread.current)
        let isHere = Atomic(false)
        _ = (transport ?? server).call(request, context) { event in
            heard.receive(event)
            if case .ended = event {
                isHere.store(ObjectIdentifier(Thread.current) == caller, ordering: .relaxed)
                done.signal()
            }
        }
        done.wait()
        let wasInside = isHere.load(ordering: .relaxed)
        return Answer(
            replies: heard.messages, status: try #require(heard.status), wasInside: wasInside)
    }

    private static let get = Request.getDocument(GetDocumentRequest(path: path("c/a")))

    @Test func `a document is read on the caller's thread, if it may`() throws {
        // The executor can still be at the end of the commit's turn.
        var answer = try ask(Self.get, atOnce: true)
        while !answer.wasInside { answer = try ask(Self.get, atOnce: true) }
        guard case .document(let document)? = answer.replies.first else {
            Issue.record("no document but \(answer)")
            return
        }
        #expect(document.path == path("c/a"))
        #expect(try ask(Self.get, atOnce: false).wasInside == false)
    }

    @Test func `a call that may take longer is not`() throws {
        let list = Request.runQuery(RunQueryRequest(query: collection("c")))
        for _ in 0..<20 {
            #expect(try ask(list, atOnce: true).wasInside == false)
            let commit = CommitRequest(mutations: [set("c/b", ["n": .integer(2)])])
            #expect(try ask(.commit(commit), atOnce: true).wasInside == false)
        }
    }

    /// The answer can come before the fault's link knows the call.
    @Test func `what a fault does to an answer, it does to one at once`() throws {
        let faulty = FaultyTransport(server, .live())
        try faulty.order([FaultRule("rpc=GetDocument,latency=1ms")])
        #expect(try ask(Self.get, atOnce: true, over: faulty).replies.count == 1)
        try faulty.order([FaultRule("rpc=GetDocument,lose-response")])
        for _ in 0..<20 {
            let answer = try ask(Self.get, atOnce: true, over: faulty)
            #expect(answer.replies.isEmpty && answer.status.code == .unavailable)
        }
    }

    @Test func `reads on many threads beside commits are all answered, each with what was there`()
        throws
    {
        let (threads, each) = (4, 500)
        let inside = Atomic(0)
        let last = Mutex<[Int64]>(Array(repeating: 0, count: threads))
        DispatchQueue.concurrentPerform(iterations: threads + 1) { thread in
            for number in 1...each {
                do {
                    if thread == threads {
                        let commit = CommitRequest(
                            mutations: [set("c/a", ["n": .integer(Int64(number) + 1)])])
                        #expect(try ask(.commit(commit), atOnce: true).status.code == .ok)
                        continue
                    }
                    let answer = try ask(Self.get, atOnce: true)
                    guard case .document(let document)? = answer.replies.first,
                        case .integer(let value)? = document.fields["n"]
                    else {
                        Issue.record("no document but \(answer)")
                        return
                    }
                    if answer.wasInside { inside.add(1, ordering: .relaxed) }
                    last.withLock { last in
                        #expect(value >= last[thread], "a later read finds an earlier version")
                        last[thread] = value
                    }
                } catch { Issue.record(error) }
            }
        }
        let insideCount = inside.load(ordering: .relaxed)
        #expect(insideCount > 0)
        server.close()
    }
}
