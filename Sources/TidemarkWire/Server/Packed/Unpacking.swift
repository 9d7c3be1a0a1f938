import CTidemarkZlib
import GRPCNIOTransportHTTP2Posix
import Synchronization
import TidemarkModel

/// Unpacks requests that came in gzip: each up to a request's limit, and all that are under way up to
/// a bound, because a thousandth of a request's size is enough to send one.
final class Unpacking: Sendable {
    private let perRequest: Int
    private let limit: Int
    private let held = Atomic(0)

    init(perRequest: Int = GRPCServer.maxRequestBytes, limit: Int = GRPCServer.maxUnpackedBytes) {
        precondition(perRequest > 0 && perRequest <= limit)
        self.perRequest = perRequest
        self.limit = limit
    }

    /// A request's bytes, which count against the bound until this is let go.
    final class Request: Sendable {
        let bytes: [UInt8]
        private let unpacking: Unpacking?

        fileprivate init(_ bytes: [UInt8], _ unpacking: Unpacking?) {
            self.bytes = bytes
            self.unpacking = unpacking
        }

        deinit { unpacking?.release(bytes.count) }
    }

    /// - Parameter isPacked: Whether the call said gzip. Of such a call a message may still come as it is:
    ///   no message begins with gzip's two bytes, the first of which is no field of protobuf.
    /// - Throws: ``RPCStatus`` for what is too large, is no gzip, or is too much beside what others send.
    func request(
        _ bytes: GRPCNIOTransportBytes, isPacked: Bool
    ) throws(RPCStatus) -> Request {
        if bytes.count > perRequest { throw .requestTooLarge }
        let received = bytes.withUnsafeBytes { [UInt8]($0) }
        guard isPacked, received.starts(with: [0x1F, 0x8B]) else { return Request(received, nil) }
        return try unpack(received)
    }

    func unpack(_ packed: [UInt8]) throws(RPCStatus) -> Request {
        var output: [UInt8] = []
        do throws(RPCStatus) {
            try unpack(packed, into: &output)
        } catch {
            release(output.count)
            throw error
        }
        return Request(output, self)
    }

    private func unpack(_ packed: [UInt8], into output: inout [UInt8]) throws(RPCStatus) {
        var inflater = Inflater()
        var place = 0
        var isEnd = false
        var part = [UInt8](repeating: 0, count: Self.step)
        while !isEnd {
            let step = packed[place...].withUnsafeBytes { input in
                part.withUnsafeMutableBytes { inflater.step(input, $0) }
            }
            guard let step, step.made > 0 || step.isEnd else { throw .notGzip }
            if output.count + step.made > perRequest { throw .unpacksTooLarge(perRequest) }
            // Counted before they are kept: `output` says what to give back.
            if held.add(step.made, ordering: .relaxed).newValue > limit {
                release(step.made)
                throw .unpacksTooMuch
            }
            output += part[..<step.made]
            place += step.taken
            isEnd = step.isEnd
        }
        if place < packed.count { throw .notGzip }
    }

    private func release(_ bytes: Int) { held.subtract(bytes, ordering: .relaxed) }

    /// Bytes that are unpacked and not let go.
    var heldBytes: Int { held.load(ordering: .relaxed) }

    private static let step = 1 << 16
}

/// zlib's inflating of gzip.
private struct Inflater: ~Copyable {
    private let state: UnsafeMutableRawPointer

    init() {
        guard let state = tidemark_gunzip_begin() else { preconditionFailure("no memory") }
        self.state = state
    }

    deinit { tidemark_gunzip_end(state) }

    /// Nil when the data is damaged.
    mutating func step(
        _ input: UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer
    ) -> (taken: Int, made: Int, isEnd: Bool)? {
        var (taken, made) = (UInt32(input.count), UInt32(output.count))
        let code = tidemark_gunzip_step(
            state, input.baseAddress, &taken, output.baseAddress, &made)
        return code < 0 ? nil : (Int(taken), Int(made), code == 1)
    }
}
