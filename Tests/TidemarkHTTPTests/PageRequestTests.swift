import Testing

@testable import TidemarkHTTP

struct PageRequestTests {
    @Test func `parameters are read as a browser's form writes them`() {
        let read = PageRequest.parameters(
            in: "q=a+b%2Bc%20d&column=x&column=%C3%A9&flag&empty=&e=a=b")
        #expect(
            read == [
                .init("q", "a b+c d"), .init("column", "x"), .init("column", "é"),
                .init("flag", ""), .init("empty", ""), .init("e", "a=b"),
            ])
        #expect(PageRequest.parameters(in: "") == [])
        #expect(PageRequest.parameters(in: "a=%zz") == [.init("a", "%zz")])
        let many = Array(repeating: "a=1", count: 1_000).joined(separator: "&")
        #expect(PageRequest.parameters(in: many).count == 100)
    }
}
