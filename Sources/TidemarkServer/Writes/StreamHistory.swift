import TidemarkModel

/// The applied batches of a write stream, over all connections that resumed it: a count, and the
/// newest answers, because the client may not have received them.
struct StreamHistory: Equatable {
    /// The prefix shows a client that this stream can be resumed. No other server's ids begin with
    /// it.
    static let prefix = "tidemark-"
    /// The number of kept answers: the maximum that a client has under way.
    static let kept = 10

    let id: String
    /// The number of applied batches. Refused batches do not count.
    private(set) var position: Int64 = 0
    /// The answers to the newest batches, encoded, in order.
    private var newest: [[UInt8]] = []

    /// - Parameter caller: The only caller that can resume the stream.
    init(of caller: CallerMark, randomBits: () -> UInt64) {
        id = Self.prefix + DocumentNaming.makeID(randomBits) + "-" + caller.text
    }

    /// Returns true if an id is one that the caller was given, as far as its text says.
    static func isID(_ id: String, of caller: CallerMark) -> Bool {
        id.hasSuffix("-" + caller.text)
    }

    mutating func append(_ reply: CommitReply) {
        position += 1
        newest.append(Self.encode(reply))
        if newest.count > Self.kept { newest.removeFirst() }
    }

    // MARK: Tokens

    var token: [UInt8] { Self.token(position) }

    private static func token(_ position: Int64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: position >> (56 - 8 * $0)) }
    }

    private func position(_ token: [UInt8]) -> Int64? {
        guard token.count == 8 else { return nil }
        let number = token.reduce(0) { $0 << 8 | Int64($1) }
        return 0...position ~= number ? number : nil
    }

    /// Returns true if this stream issued the token. Clients with several messages under way return
    /// older tokens, and some return none.
    func knows(_ token: [UInt8]) -> Bool { token.isEmpty || position(token) != nil }

    // MARK: Responses

    /// The answer that opens or resumes the stream.
    var opening: WriteResponse { WriteResponse(streamID: id, streamToken: token) }

    /// Returns the answer to the newest batch.
    func response(_ reply: CommitReply) -> WriteResponse { response(reply, at: position) }

    private func response(_ reply: CommitReply, at position: Int64) -> WriteResponse {
        WriteResponse(
            streamID: id, streamToken: Self.token(position), results: reply.results,
            commitTime: reply.commitTime)
    }

    /// Returns the answers that a client with this token has missed; nil if they are no longer
    /// known.
    func responses(after token: [UInt8]) -> [WriteResponse]? {
        guard let heard = position(token), position - heard <= newest.count else { return nil }
        let missed = newest.suffix(Int(position - heard)).compactMap(Self.decode)
        guard missed.count == position - heard else { return nil }
        return zip(missed, heard + 1...position + 1).map { response($0, at: $1) }
    }
}

// MARK: - The stored form

extension StreamHistory {
    /// Reads the encoded answers; nil for invalid bytes.
    init?(id: String, position: Int64, newest bytes: [UInt8]) {
        guard case .array(let values)? = try? FieldsCodec.decodeValue(bytes) else { return nil }
        self.id = id
        self.position = position
        for case .bytes(let answer) in values { newest.append(answer) }
        guard newest.count == min(position, Int64(Self.kept)) else { return nil }
    }

    var encodedNewest: [UInt8] { FieldsCodec.encode(Value.array(newest.map(Value.bytes))) }

    /// Encodes the commit time, and for each result its time and the results of the transforms.
    private static func encode(_ reply: CommitReply) -> [UInt8] {
        let results = reply.results.map { result in
            Value.array([
                result.updateTime.map(Value.timestamp) ?? .null, .array(result.transformResults),
            ])
        }
        return FieldsCodec.encode(Value.array([.timestamp(reply.commitTime), .array(results)]))
    }

    private static func decode(_ bytes: [UInt8]) -> CommitReply? {
        guard case .array(let parts)? = try? FieldsCodec.decodeValue(bytes), parts.count == 2,
            case .timestamp(let time) = parts[0], case .array(let values) = parts[1]
        else { return nil }
        let results = values.compactMap(result)
        return results.count == values.count
            ? CommitReply(results: results, commitTime: time) : nil
    }

    private static func result(_ value: Value) -> MutationResult? {
        guard case .array(let parts) = value, parts.count == 2,
            case .array(let transforms) = parts[1]
        else { return nil }
        switch parts[0] {
        case .null: return MutationResult(updateTime: nil, transformResults: transforms)
        case .timestamp(let time):
            return MutationResult(updateTime: time, transformResults: transforms)
        default: return nil
        }
    }
}
