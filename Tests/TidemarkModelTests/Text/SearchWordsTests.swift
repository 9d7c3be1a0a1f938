import Foundation
import Testing
import TidemarkModel

struct `The words of a text` {
    @Test func `are runs of letters and digits, in lower case, without accents`() {
        let cases: [(String, [String])] = [
            ("", []), (" ,;- ", []), ("Blue tea-house 24h", ["blue", "tea", "house", "24h"]),
            ("CAFÉ Cafe\u{301} naïve", ["cafe", "cafe", "naive"]),
            ("Ťažký ŘEKA Ấm", ["tazky", "reka", "am"]),
            ("İstanbul ISTANBUL", ["istanbul", "istanbul"]),
            ("ΟΔΟΣ οδος", ["οδοσ", "οδοσ"]), ("Ёлка ёлка", ["елка", "елка"]),
            ("straße Æther", ["straße", "æther"]), ("東京 タワー", ["東京", "タワー"]),
            ("हिन्दी भाषा", ["हिन्दी", "भाषा"]), ("a😀b", ["a", "b"]), ("x\u{0}y", ["x", "y"]),
            ("don't 1.5", ["don", "t", "1", "5"]),
        ]
        for (text, words) in cases {
            let found = SearchWords.words(of: text)
            #expect(found.map { Array($0.utf8) } == words.map { Array($0.utf8) }, "\(text)")
        }
    }

    /// Foundation decomposes letters by Unicode's tables.
    @Test func `lose the accents that Unicode's decomposition separates`() {
        for value in [0xC0...0x24F, 0x370...0x52F, 0x1E00...0x1FFF].joined() {
            guard let scalar = Unicode.Scalar(UInt32(value)), scalar.properties.isAlphabetic else {
                continue
            }
            let lower = String(scalar).lowercased()
            let parts = lower.decomposedStringWithCanonicalMapping.unicodeScalars
            let marks = 0x300...0x36F
            guard parts.count > 1 || lower.unicodeScalars.elementsEqual(parts),
                parts.dropFirst().allSatisfy({ marks.contains(Int($0.value)) })
            else { continue }
            let bare = parts.filter { !marks.contains(Int($0.value)) && $0.properties.isAlphabetic }
            var wanted = String(String.UnicodeScalarView(bare))
            if wanted == "ς" { wanted = "σ" }
            let found = SearchWords.words(of: String(scalar)).joined()
            #expect(Array(found.utf8) == Array(wanted.utf8), "\(String(value, radix: 16))")
        }
    }
}
