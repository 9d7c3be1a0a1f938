import Testing

@testable import TidemarkHTTPClient

struct `Requests to this machine` {
    @Test(
        arguments: [
            ([:], "127.0.0.1,localhost,::1"),
            (["no_proxy": "a.com, localhost"], "a.com,localhost,127.0.0.1,::1"),
            (["NO_PROXY": "a.com"], "a.com,127.0.0.1,localhost,::1"),
            (["no_proxy": "", "NO_PROXY": "a.com"], "a.com,127.0.0.1,localhost,::1"),
            (["no_proxy": "b.com", "NO_PROXY": "a.com"], "b.com,127.0.0.1,localhost,::1"),
            (["no_proxy": "*"], nil),
        ] as [([String: String], String?)])
    func `use no proxy, and others as before`(variables: [String: String], expected: String?) {
        #expect(LoopbackProxies.exemptions(variables) == expected)
    }
}
