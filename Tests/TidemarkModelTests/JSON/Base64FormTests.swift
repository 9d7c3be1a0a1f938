import Foundation
import Testing
import TidemarkModel

/// Compares the results with Foundation's.
struct Base64FormTests {
    @Test func `texts are Foundation's, and give the bytes again`() {
        var dice = SystemRandomNumberGenerator()
        for count in 0..<200 {
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &dice) }
            let text = Data(bytes).base64EncodedString()
            #expect(Base64Form.text(of: bytes) == text)
            #expect(Base64Form.bytes(in: text) == bytes)
        }
    }

    @Test(arguments: [
        "A", "AA", "AAA", "A===", "====", "AA=A", "=AAA", "AAAA=", "AA==AAAA", "AA-_", "AA A",
        "AAA\n", "ÄÄ==", "AAAAA===",
    ])
    func `another letter and a wrong padding are refused`(text: String) {
        #expect(Base64Form.bytes(in: text) == nil)
    }

    /// Foundation on Linux also accepts padding in the middle of a group, and ignores letters after
    /// the padding.
    @Test func `of random letters, the groups that RFC 4648 defines give Foundation's bytes`() {
        let letters = Array("AZaz09+/==-\n ")
        let form = #/([AZaz09+\/]{4})*([AZaz09+\/]{2}==|[AZaz09+\/]{3}=)?/#
        var taken = 0
        for _ in 0..<20_000 {
            let text = String((0..<Int.random(in: 0...8)).map { _ in letters.randomElement()! })
            let isForm = text.wholeMatch(of: form) != nil
            let bytes = isForm ? Data(base64Encoded: text).map { [UInt8]($0) } : nil
            #expect(Base64Form.bytes(in: text) == bytes, "\(text)")
            if bytes != nil { taken += 1 }
        }
        #expect(taken > 1_000)
    }
}
