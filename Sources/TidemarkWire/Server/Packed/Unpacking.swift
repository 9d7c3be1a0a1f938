import CTidemarkZlib
import GRPCNIOTransportHTTP2Posix
import Synchronization
import TidemarkModel

/// Decompresses gzip requests within two bounds: the size of one request, and the size of all
/// requests in progress. Compressed data can expand a thousandfold, so small requests could
/// otherwise fill the memory.
final class Unpacking: Sendable {
    private let perRequest: Int
    private let limit: Int
    /// The budget of the bytes of requests, and of what is decoded from them.
    let budget: BodyBudget
    private let held = Atomic(0)
    /// The length below which a request is not counted against the budget of all requests.
    private static let leastCounted = 1 << 16

    init(
        perRequest: Int = GRPCServer.maxRequestBytes, limit: Int = GRPCServer.maxUnpackedBytes,
        budget: BodyBudget = .process
    ) {
        precondition(perRequest > 0 && perRequest <= limit)
        self.perRequest = perRequest
        self.limit = limit
        self.budget = budget
    }

    /// The bytes of a request. They count against the bound until the object is released.
    final class Request: Sendable {
        let bytes: [UInt8]
        private let unpacking: Unpacking?
        private let share: BodyBudget.Share?

        fileprivate init(
            bytes: [UInt8], unpacking: Unpacking?, share: BodyBudget.Share? = nil
        ) {
            self.bytes = bytes
            self.unpacking = unpacking
            self.share = share
        }

        deinit { unpacking?.release(bytes.count) }
    }

    /// - Parameter isPacked: True if the call announced gzip. A message of such a call may still be
    ///   uncompressed: no message begins with gzip's two magic bytes, because the first is not a
    ///   valid protobuf tag.
    /// - Throws: ``RPCStatus`` if the request is too large, is not valid gzip, or exceeds the bound
    ///   together with other requests.
    func request(
        _ bytes: GRPCNIOTransportBytes, isPacked: Bool
    ) throws(RPCStatus) -> Request {
        if bytes.count > perRequest { throw .requestTooLarge(perRequest) }
        var share: BodyBudget.Share?
        if bytes.count >= Self.leastCounted {
            // The library's copy is counted by ``UnfinishedMessages``.
            share = budget.share()
            guard share?.grow(by: bytes.count) ?? true else { throw .bodiesHeld }
        }
        let received = bytes.withUnsafeBytes { [UInt8]($0) }
        guard isPacked, received.starts(with: [0x1F, 0x8B]) else {
            return Request(bytes: received, unpacking: nil, share: share)
        }
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
        return Request(bytes: output, unpacking: self)
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
            // Counts the bytes before they are stored, so `output.count` is the number to release
            // after an error.
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

    /// The number of decompressed bytes that are not released.
    var heldBytes: Int { held.load(ordering: .relaxed) }

    private static let step = 1 << 16
}

/// zlib's decompression of gzip.
private struct Inflater: ~Copyable {
    private let state: UnsafeMutableRawPointer

    init() {
        guard let state = tidemark_gunzip_begin() else { preconditionFailure("no memory") }
        self.state = state
    }

    deinit { tidemark_gunzip_end(state) }

    /// Returns nil if the data is damaged.
    mutating func step(
        _ input: UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer
    ) -> (taken: Int, made: Int, isEnd: Bool)? {
        var (taken, made) = (UInt32(input.count), UInt32(output.count))
        let code = tidemark_gunzip_step(
            state, input.baseAddress, &taken, output.baseAddress, &made)
        return code < 0 ? nil : (Int(taken), Int(made), code == 1)
    }
}
