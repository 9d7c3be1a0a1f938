import Foundation
import Testing
import TestSupport
import TidemarkModel

@testable import TidemarkREST

/// Damaged requests of both kinds: each is understood or refused with `INVALID_ARGUMENT`, and none
/// causes a trap.
///
/// Environment variables: `TIDEMARK_FUZZ_MESSAGES=1000000`, `TIDEMARK_FUZZ_SEED=17`.
@Suite(.ownThread) struct HTTPFuzzTests {
    private let environment = ProcessInfo.processInfo.environment
    private var count: Int { environment["TIDEMARK_FUZZ_MESSAGES"].flatMap { Int($0) } ?? 10_000 }
    private var seed: UInt64 {
        environment["TIDEMARK_FUZZ_SEED"].flatMap { UInt64($0) } ?? .random(in: 0..<1_000_000)
    }

    private static let root = "/v1/projects/p/databases/(default)/documents"

    private static let calls: [RESTRequest] = [
        .init(path: root + "/a/b", query: "mask.fieldPaths=a&readTime=2001-01-01T00:00:00Z"),
        .init(path: root + "/a", query: "pageSize=3&orderBy=n%20desc&showMissing=true&pageToken=x"),
        .init(
            method: "PATCH", path: root + "/a/b%20c", query: "updateMask.fieldPaths=%60a.b%60",
            body: Array(
                #"{"fields":{"a":{"mapValue":{"fields":{"b":{"doubleValue":"-0"}}}}}}"#.utf8)),
        .init(
            method: "POST", path: root + ":commit",
            body: Array(
                """
                {"writes":[{"update":{"name":"projects/p/databases/(default)/documents/a/b",\
                "fields":{"t":{"timestampValue":"2001-01-01T00:00:00.000000001Z"},\
                "b":{"bytesValue":"AP8="}}},"updateTransforms":[{"fieldPath":"n",\
                "increment":{"integerValue":"1"}}]},{"delete":"x"}],"transaction":"AA=="}
                """.utf8)),
        .init(
            method: "POST", path: root + "/a/b:runQuery",
            body: Array(
                """
                {"structuredQuery":{"from":[{"collectionId":"c","allDescendants":true}],"where":\
                {"compositeFilter":{"op":"AND","filters":[{"fieldFilter":{"field":{"fieldPath":"n"},\
                "op":"EQUAL","value":{"nullValue":null}}}]}},"limit":{"value":3},"offset":1}}
                """.utf8)),
    ]

    private static let channels: [RESTRequest] = [
        .init(
            method: "POST", path: "/google.firestore.v1.Firestore/Listen/channel",
            query: "VER=8&database=d&RID=12&CVER=22&zx=a&t=1",
            body: Array(
                "headers=Authorization%3ABearer%20x%0D%0A&count=1&ofs=0&req0___data__=%7B%7D"
                    .utf8)),
        .init(
            path: "/google.firestore.v1.Firestore/Write/channel",
            query: "VER=8&RID=rpc&SID=abc&AID=3&CI=0&TYPE=xmlhttp&TO=100"),
    ]

    private func damaged(_ bytes: [UInt8], _ dice: inout SeededDice) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<(1 + dice.number(3)) where !bytes.isEmpty {
            let index = dice.number(bytes.count)
            switch dice.number(5) {
            case 0: bytes[index] = UInt8(dice.number(256))
            case 1: bytes.remove(at: index)
            case 2: bytes.insert(Array("{}[],:\"%&=\\".utf8)[dice.number(11)], at: index)
            case 3: bytes.removeSubrange(index...)
            default: bytes.insert(contentsOf: bytes[..<index], at: index)
            }
        }
        return bytes
    }

    private func damaged(_ request: RESTRequest, _ dice: inout SeededDice) -> RESTRequest {
        var request = request
        switch dice.number(4) {
        case 0:
            request.path = String(decoding: damaged(Array(request.path.utf8), &dice), as: UTF8.self)
        case 1:
            let query = damaged(Array((request.query ?? "").utf8), &dice)
            request.query = String(decoding: query, as: UTF8.self)
        default: request.body = damaged(request.body, &dice)
        }
        return request
    }

    @Test func `of REST`() {
        var dice = SeededDice(seed)
        var taken = 0
        for number in 0..<count {
            let request = damaged(Self.calls[number % Self.calls.count], &dice)
            do throws(RESTRefusal) {
                _ = try RESTCall(request)
                taken += 1
            } catch {
                let isKnown = [.invalidArgument, .notFound].contains(error.status.code)
                #expect(isKnown && !error.status.message.isEmpty, "seed \(seed): \(request)")
            }
        }
        #expect(taken > 0 && taken < count)
    }

    @Test func `of WebChannel`() {
        var dice = SeededDice(seed)
        var taken = 0
        for number in 0..<count {
            let request = damaged(Self.channels[number % Self.channels.count], &dice)
            do throws(RPCStatus) {
                _ = try ChannelRequest(request)
                taken += 1
            } catch {
                let isKnown = [.invalidArgument, .notFound].contains(error.code)
                #expect(isKnown && !error.message.isEmpty, "seed \(seed): \(request)")
            }
        }
        #expect(taken > 0 && taken < count)
    }
}
