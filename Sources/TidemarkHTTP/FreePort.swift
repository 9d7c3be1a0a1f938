import TidemarkSystem

enum FreePort {
    /// Returns a loopback port on which no program listened a moment ago; nil if the system
    /// supplies none.
    static func find() -> Int? {
        let descriptor = socket(AF_INET, SystemCalls.streamSocket, 0)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        // Both calls accept any address family behind a single pointer type.
        let named = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(descriptor, pointer, length) == 0
                    && getsockname(descriptor, pointer, &length) == 0
            }
        }
        return named ? Int(UInt16(bigEndian: address.sin_port)) : nil
    }
}
