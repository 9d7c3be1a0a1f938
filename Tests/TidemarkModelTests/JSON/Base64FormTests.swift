import Foundation
import Testing
import TidemarkModel

/// Compared with Foundation's.
@Suite struct Base64FormTests {
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
    func `what Foundation refuses is refused`(text: String) {
        #expect(Data(base64Encoded: text) == nil)
        #expect(Base64Form.bytes(in: text) == nil)
    }

    @Test func `of random letters, what Foundation takes is taken`() {
        let letters = Array("AZaz09+/==-\n ")
        var taken = 0
        for _ in 0..<20_000 {
            let text = String((0..<Int.random(in: 0...8)).map { _ in letters.randomElement()! })
            let bytes = Data(base64Encoded: text).map { [UInt8]($0) }
            #expect(Base64Form.bytes(in: text) == bytes, "\(text)")
            if bytes != nil { taken += 1 }
        }
        #expect(taken > 1_000)
    }
}
