import Testing

@testable import TidemarkConsole

struct HTMLTests {
    @Test func `text and attributes are escaped`() {
        let html = Tag.p(.title("\"><script>'")) { "<script>alert(1)</script> & more" }
        let expected =
            "<p title=\"&quot;&gt;&lt;script&gt;&#39;\">"
            + "&lt;script&gt;alert(1)&lt;/script&gt; &amp; more</p>"
        #expect(html.rendered == expected)
    }

    @Test func `every character comes out as text`() {
        for scalar in (0..<0x300).compactMap({ Unicode.Scalar($0) }) {
            let rendered = HTML(String(Character(scalar))).rendered
            #expect(!rendered.contains("<") && !rendered.contains("\""), "U+\(scalar.value)")
        }
    }

    @Test func `an address is encoded segment by segment`() {
        let path = PagePath(["data", "a/b", "..", "<x>", "ä"], [("q", "n >= 3&x=\"")])
        #expect(path.text == "/data/a%2Fb/../%3Cx%3E/%C3%A4?q=n%20%3E%3D%203%26x%3D%22")
    }

    @Test func `elements without contents have no end`() {
        #expect(Tag.input(.type(.text), .hidden).rendered == "<input type=\"text\" hidden>")
    }

    @Test(arguments: [(0, "0"), (999, "999"), (1_000, "1\u{202F}000"), (-12_345, "-12\u{202F}345")])
    func `numbers are grouped`(number: Int, text: String) { #expect(number.grouped == text) }
}
