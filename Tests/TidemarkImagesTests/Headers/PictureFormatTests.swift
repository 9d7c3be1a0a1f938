import Testing

@testable import TidemarkImages

struct PictureFormatTests {
    @Test func `the first bytes notify the format`() {
        #expect(PictureFormat(firstBytes: [0xFF, 0xD8, 0xFF, 0xE0]) == .jpeg)
        #expect(PictureFormat(firstBytes: [0x89] + Array("PNG\r\n\u{1A}\n".utf8)) == .png)
        #expect(PictureFormat(firstBytes: Array("RIFF....WEBPVP8 ".utf8)) == .webP)
    }

    @Test func `nothing else is a picture`() {
        #expect(PictureFormat(firstBytes: []) == nil)
        #expect(PictureFormat(firstBytes: Array("<html>".utf8)) == nil)
        #expect(PictureFormat(firstBytes: Array("RIFF....WEB".utf8)) == nil)
        #expect(PictureFormat(firstBytes: Array("RIFF....AVI LIST".utf8)) == nil)
    }
}
