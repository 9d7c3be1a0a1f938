import Testing
import TidemarkModel

@testable import TidemarkObjects

/// Bodies in two parts, in pieces of every size.
struct MultipartReaderTests {
    private let boundary = "ab-c"

    private func body(_ metadata: String, _ data: String, type: String = "image/png") -> String {
        "--\(boundary)\r\nContent-Type: application/json; charset=utf-8\r\n\r\n\(metadata)\r\n"
            + "--\(boundary)\r\nCONTENT-TYPE: \(type)\r\nX-Other: 1\r\n\r\n\(data)\r\n"
            + "--\(boundary)--"
    }

    private func read(
        _ text: String, pieces: Int
    ) throws -> (reader: MultipartReader, data: [UInt8]) {
        var reader = try #require(
            MultipartReader(contentType: "multipart/related; boundary=\"\(boundary)\""))
        var data: [UInt8] = []
        let bytes = Array(text.utf8)
        for start in stride(from: 0, to: bytes.count, by: pieces) {
            let piece = Array(bytes[start..<min(start + pieces, bytes.count)])
            data += try piece.withUnsafeBytes { try reader.feed($0) }
        }
        return (reader, data)
    }

    @Test(
        arguments: [1, 2, 3, 5, 8, 17, 1_000],
        [
            "", "x", "\r\n", "--ab-c", "\r\n--ab-", "text\r\n --ab-c\r\nmore", "\r\r\n-\r\n--ab",
        ])
    func `are split exactly`(pieces: Int, data: String) throws {
        let (reader, found) = try read(body("{\"name\":\"a\"}", data), pieces: pieces)
        #expect(reader.isComplete)
        #expect(reader.metadata == Array("{\"name\":\"a\"}".utf8))
        #expect(reader.dataType == "image/png")
        #expect(found == Array(data.utf8))
    }

    @Test func `that end early are not complete`() throws {
        let bytes = Array(body("{}", "data").utf8)
        for length in 1..<(bytes.count - 2) {
            let text = String(decoding: bytes[..<length], as: UTF8.self)
            let (reader, _) = try read(text, pieces: 100)
            #expect(!reader.isComplete, "after \(length) bytes")
        }
    }

    @Test func `with a third part or endless metadata are refused`() throws {
        let third = body("{}", "data").dropLast(2) + "\r\n\r\nmore\r\n--\(boundary)--"
        #expect(throws: ObjectRefusal.self) { try read(String(third), pieces: 50) }
        let long = String(repeating: "x", count: MultipartReader.maxMetadataBytes + 1)
        #expect(throws: ObjectRefusal.self) { try read(body(long, ""), pieces: 4_096) }
        #expect(throws: ObjectRefusal.self) {
            try read("--\(boundary)\r\nA: " + long + long, pieces: 4_096)
        }
    }

    @Test(arguments: [
        "", "text/plain", "multipart/related", "multipart/related; boundary=",
        "multipart/mixed; boundary=a",
    ])
    func `need a content type with a boundary`(type: String) {
        #expect(MultipartReader(contentType: type) == nil)
    }
}
