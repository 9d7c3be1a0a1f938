#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A client that requests a whole collection, allows the server to send without limit, and then
/// reads nothing from its socket. It uses no library, because a library reads ahead.
final class SilentReader {
    private let socket: Int32

    struct Failure: Error { let step: String }

    init(port: Int, collection: String) throws {
        #if canImport(Glibc)
            socket = Self.system(AF_INET, Int32(SOCK_STREAM.rawValue))
        #else
            socket = Self.system(AF_INET, SOCK_STREAM)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port).bigEndian)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else { throw Failure(step: "connect") }
        try send(Self.request(for: collection))
    }

    private static func system(_ domain: Int32, _ kind: Int32) -> Int32 {
        #if canImport(Darwin)
            Darwin.socket(domain, kind, 0)
        #elseif canImport(Glibc)
            Glibc.socket(domain, kind, 0)
        #else
            Musl.socket(domain, kind, 0)
        #endif
    }

    func close() {
        #if canImport(Darwin)
            _ = Darwin.close(socket)
        #elseif canImport(Glibc)
            _ = Glibc.close(socket)
        #else
            _ = Musl.close(socket)
        #endif
    }

    private func send(_ bytes: [UInt8]) throws {
        guard write(socket, bytes, bytes.count) == bytes.count else { throw Failure(step: "send") }
    }

    // MARK: - The bytes of HTTP/2, RFC 9113

    private static let root = "projects/benchmark/databases/(default)/documents"

    private static func request(for collection: String) -> [UInt8] {
        var bytes = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
        // INITIAL_WINDOW_SIZE and the connection's window have their maximum values.
        bytes += frame(4, [0, 4, 0x7F, 0xFF, 0xFF, 0xFF])
        bytes += frame(8, [0x7F, 0xFE, 0xFF, 0xFF])
        var headers: [UInt8] = []
        for (name, value) in [
            (":method", "POST"), (":scheme", "http"), (":authority", "localhost"),
            (":path", "/google.firestore.v1.Firestore/RunQuery"),
            ("content-type", "application/grpc"), ("te", "trailers"),
        ] {
            // This is a literal without indexing, RFC 7541 6.2.2. All texts are shorter than 127
            // bytes.
            headers += [0, UInt8(name.utf8.count)] + name.utf8
            headers += [UInt8(value.utf8.count)] + value.utf8
        }
        bytes += frame(1, flags: 4, stream: 1, headers)
        // RunQueryRequest: parent = 1, structured_query = 2 { from = 2 { collection_id = 2 } }
        let from = field(2, Array(collection.utf8))
        let message = field(1, Array(root.utf8)) + field(2, field(2, from))
        bytes += frame(0, flags: 1, stream: 1, [0, 0, 0, 0, UInt8(message.count)] + message)
        return bytes
    }

    private static func field(_ number: UInt8, _ contents: [UInt8]) -> [UInt8] {
        [number << 3 | 2, UInt8(contents.count)] + contents
    }

    private static func frame(
        _ kind: UInt8, flags: UInt8 = 0, stream: UInt8 = 0, _ payload: [UInt8]
    ) -> [UInt8] {
        let count = payload.count
        return [UInt8(count >> 16), UInt8(count >> 8 & 255), UInt8(count & 255), kind, flags]
            + [0, 0, 0, stream] + payload
    }
}
