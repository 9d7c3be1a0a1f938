import Testing

@testable import TidemarkHTTPClient

struct `Requests to this machine` {
    @Test(
        arguments: [
            (nil, "127.0.0.1,localhost,::1"), ("", "127.0.0.1,localhost,::1"),
            ("example.com, localhost", "example.com,localhost,127.0.0.1,::1"), ("*", nil),
        ] as [(String?, String?)])
    func `use no proxy`(value: String?, expected: String?) {
        #expect(LoopbackProxies.exempting(value) == expected)
    }
}
