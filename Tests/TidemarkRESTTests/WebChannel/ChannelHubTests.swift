import Foundation
import Synchronization
import Testing
import TidemarkModel
import TidemarkServer

@testable import TidemarkREST

@Suite(.timeLimit(.minutes(2))) struct `A channel of a browser` {
    private static let database = "projects/p/databases/(default)"

    /// A page with a listen.
    private final class Page {
        private let hub: ChannelHub
        private let back: any HTTPParts
        private let sid: String
        private var sent = 0
        private(set) var heard = ""

        init(_ hub: ChannelHub, _ first: String, _ headers: [String: String] = [:]) async throws {
            self.hub = hub
            let answer = try #require(
                await hub.answer(Self.request("VER=8&RID=1", [first], 0, headers)))
            let text = try Self.text(answer)
            let part = try #require(text.split(separator: "\"").dropFirst(3).first)
            let sid = String(part)
            self.sid = sid
            let opened = try #require(
                await hub.answer(
                    RESTRequest(
                        path: Self.path, query: "VER=8&RID=rpc&SID=\(sid)&AID=0&TYPE=xmlhttp")))
            guard case .parts(let parts) = opened.body else {
                throw RPCStatus(.internal, "no back channel")
            }
            back = parts
            sent = 1
        }

        private static let path = "/google.firestore.v1.Firestore/Listen/channel"

        private static func request(
            _ query: String, _ maps: [String], _ first: Int, _ headers: [String: String]
        ) -> RESTRequest {
            var form = "count=\(maps.count)&ofs=\(first)"
            for (index, map) in maps.enumerated() {
                let text = map.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
                form += "&req\(index)___data__=\(text)"
            }
            return RESTRequest(
                method: "POST", path: path, query: query, headers: headers, body: Array(form.utf8))
        }

        private static func text(_ answer: HTTPAnswer) throws -> String {
            guard case .data(let data) = answer.body else {
                throw RPCStatus(.internal, "no text")
            }
            return String(decoding: data, as: UTF8.self)
        }

        func send(_ map: String) async {
            _ = await hub.answer(Self.request("VER=8&RID=9&SID=\(sid)&AID=0", [map], sent, [:]))
            sent += 1
        }

        /// Reads until `text` was received at least `times` times.
        func until(_ text: String, times: Int = 1) async {
            while heard.components(separatedBy: text).count <= times,
                let part = await back.next()
            {
                heard += String(decoding: part, as: UTF8.self).filter { !$0.isWhitespace }
            }
        }
    }

    private func add(_ target: String) -> String {
        #"{"database": "\#(Self.database)", "addTarget": \#(target)}"#
    }

    private func documents(_ id: Int, _ path: String) -> String {
        add(
            """
            {"targetId": \(id), "documents": {"documents": ["\(Self.database)/documents/\(path)"]}}
            """)
    }

    @Test(arguments: [
        #"{"targetId": 4, "pipelineQuery": {"structuredPipeline": {}}}"#,
        #"{"targetId": 4, "query": {"structuredQuery": {"from": 7}}}"#,
        #"{"targetId": 4, "query": {"structuredQuery": {"where": {"unaryFilter": {"op": "NO"}}}}}"#,
        #"{"targetId": 4}"#,
    ])
    func `a target of an unknown kind is refused alone`(target: String) async throws {
        let server = try FirestoreServer(FirestoreServer.Configuration())
        let hub = ChannelHub(HTTPService(server, access: nil))
        let page = try await Page(hub, documents(2, "c/a"))
        await page.until("CURRENT")
        await page.send(add(target))
        await page.until(#""cause""#)
        #expect(page.heard.contains(#""targetIds":[4]"#))
        #expect(page.heard.contains(#""code":3"#))
        await page.send(documents(6, "c/b"))
        await page.until("CURRENT", times: 2)
        #expect(page.heard.contains(#""targetIds":[6]"#), "the stream goes on")
        server.close()
    }

    /// Admits every caller until the test ends their admission.
    private final class Gate: CallerGate {
        let ends = Mutex<[@Sendable (RPCStatus) -> Void]>([])
        let isOver = Mutex(false)
        let left = Mutex(0)

        func caller(_ token: String?, method: String) async throws(RPCStatus) -> Caller { Caller() }

        func streamCaller(
            _ token: String?, method: String, end: @escaping @Sendable (RPCStatus) -> Void
        ) async throws(RPCStatus) -> StreamCaller {
            ends.withLock { $0.append(end) }
            return StreamCaller(
                Caller(), isOver: { [self] in isOver.withLock { $0 } },
                leave: { [self] in left.withLock { $0 += 1 } })
        }
    }

    @Test(arguments: [true, false])
    func `ends when its token is good no more`(isRevoked: Bool) async throws {
        let server = try FirestoreServer(FirestoreServer.Configuration())
        let gate = Gate()
        let hub = ChannelHub(HTTPService(server, access: gate))
        let page = try await Page(hub, documents(2, "c/a"))
        await page.until("CURRENT")
        if isRevoked {
            for end in gate.ends.withLock({ $0 }) { end(RPCStatus(.unauthenticated, "gone")) }
        } else {
            hub.tick()
            #expect(!page.heard.contains("UNAUTHENTICATED"))
            gate.isOver.withLock { $0 = true }
            hub.tick()
        }
        await page.until("UNAUTHENTICATED")
        #expect(page.heard.contains("UNAUTHENTICATED"))
        server.close()
    }
}
