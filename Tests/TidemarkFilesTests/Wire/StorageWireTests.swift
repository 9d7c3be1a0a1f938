import Foundation
import Testing
import TidemarkHTTPClient

@testable import TidemarkFiles

struct StorageWireTests {
    private let wire = StorageWire(address: "https://storage.test/", appID: "1:2:ios:3")
    private let target = UploadTarget(
        bucket: "my-app.appspot.com", name: "chats/blue/a+b %#?é.jpg", size: 300, md5: "x",
        contentType: "image/jpeg")
    private let tokens = StorageWire.Tokens(user: "T", appCheck: "A")

    private func field(_ name: String, of request: HTTPRequest) -> String? {
        request.fields.first { $0.name == name }?.value
    }

    @Test func `a start names the object, its size and its type`() throws {
        let start = wire.request(.start, target, with: tokens)
        #expect(start.method == "POST")
        #expect(
            start.address
                == "https://storage.test/v0/b/my-app.appspot.com/o"
                + "?name=chats%2Fblue%2Fa%2Bb%20%25%23%3F%C3%A9.jpg&uploadType=resumable")
        #expect(field("x-goog-upload-protocol", of: start) == "resumable")
        #expect(field("x-goog-upload-command", of: start) == "start")
        #expect(field("x-goog-upload-header-content-length", of: start) == "300")
        #expect(field("x-goog-upload-header-content-type", of: start) == "image/jpeg")
        #expect(field("authorization", of: start) == "Firebase T")
        #expect(field("x-firebase-appcheck", of: start) == "A")
        #expect(field("x-firebase-gmpid", of: start) == "1:2:ios:3")
        let body = try #require(start.body)
        #expect(
            String(decoding: body, as: UTF8.self)
                == #"{"contentType":"image/jpeg","name":"chats/blue/a+b %#?é.jpg"}"#)
    }

    @Test func `a chunk says where it belongs, and the last one that it is the last`() {
        let session = "https://storage.test/s?upload_id=1"
        let chunk = wire.request(
            .chunk(address: session, offset: 262_144, length: 3, isLast: false), target,
            with: tokens,
            chunk: Data([1, 2, 3]))
        #expect(chunk.address == session && chunk.method == "POST")
        #expect(field("x-goog-upload-command", of: chunk) == "upload")
        #expect(field("x-goog-upload-offset", of: chunk) == "262144")
        #expect(chunk.body == Data([1, 2, 3]))
        let last = wire.request(
            .chunk(address: session, offset: 0, length: 0, isLast: true), target, with: tokens)
        #expect(field("x-goog-upload-command", of: last) == "upload, finalize")
        #expect(last.body == Data())
    }

    @Test func `a session on another host gets no tokens`() {
        for session in [
            "https://elsewhere.test/s", "http://storage.test/s", "https://storage.test:444/s",
        ] {
            let query = wire.request(.query(address: session), target, with: tokens)
            #expect(field("authorization", of: query) == nil)
            #expect(field("x-firebase-appcheck", of: query) == nil)
        }
        let own = wire.request(.query(address: "https://STORAGE.test/s"), target, with: tokens)
        #expect(field("authorization", of: own) == "Firebase T")
    }

    @Test func `an object's name is one segment`() {
        let look = wire.request(.look, target, with: tokens)
        #expect(look.method == "GET")
        #expect(
            look.address
                == "https://storage.test/v0/b/my-app.appspot.com/o/"
                + "chats%2Fblue%2Fa%2Bb%20%25%23%3F%C3%A9.jpg")
        #expect(wire.request(.remove, target, with: tokens).method == "DELETE")
    }

    @Test func `an answer is read without regard to case, and nonsense counts as absent`() {
        let answer = UploadAnswer(
            status: 200,
            fields: [
                ("X-Goog-Upload-Status", "Active"), ("X-GOOG-UPLOAD-SIZE-RECEIVED", "17"),
                ("x-goog-upload-url", "u"), ("Retry-After", "3"),
            ],
            body: Array(#"{"size":"5","md5Hash":"m","generation":"9"}"#.utf8))
        #expect(answer.state == .active && answer.received == 17 && answer.address == "u")
        #expect(answer.retryAfter == .seconds(3))
        #expect(answer.object == UploadedObject(size: 5, md5: "m", generation: "9"))
        let odd = UploadAnswer(
            status: 200,
            fields: [
                ("x-goog-upload-status", "what"), ("x-goog-upload-size-received", "-1"),
                ("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT"),
            ], body: Array("OK".utf8))
        #expect(odd == UploadAnswer(200))
        let refused = UploadAnswer(status: 403, fields: [], body: Array(#"{"size":"5"}"#.utf8))
        #expect(refused.object == nil)
    }

    @Test func `the owner of a token is known, and other tokens have none`() {
        func token(_ claims: String) -> String {
            let middle = Data(claims.utf8).base64EncodedString()
                .replacingOccurrences(of: "=", with: "")
            return "e30.\(middle).x"
        }
        #expect(StorageTokens.owner(of: token(#"{"sub":"ann"}"#)) == "ann")
        #expect(StorageTokens.owner(of: token(#"{"user_id":"bob","sub":"x"}"#)) == "bob")
        #expect(StorageTokens.owner(of: "owner") == nil)
        #expect(StorageTokens.owner(of: "a.b.c") == nil)
    }
}
