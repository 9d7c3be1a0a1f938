import TidemarkModel

extension Timestamp {
    var wire: TimestampMessage { TimestampMessage(seconds: seconds, nanos: nanoseconds) }

    /// A missing time is the epoch.
    init(wire: TimestampMessage?) throws(RPCStatus) {
        let wire = wire ?? TimestampMessage()
        guard Self.isValid(seconds: wire.seconds, nanoseconds: wire.nanos) else {
            throw .invalidArgument("A time is outside the years 1 to 9999.")
        }
        self.init(seconds: wire.seconds, nanoseconds: wire.nanos)
    }
}

extension TimestampMessage? {
    /// The time; nil if it was not sent.
    func decoded() throws(RPCStatus) -> Timestamp? {
        guard let self else { return nil }
        return try Timestamp(wire: self)
    }
}

extension Duration {
    var wire: DurationMessage {
        let (seconds, attoseconds) = components
        return DurationMessage(seconds: seconds, nanos: Int32(attoseconds / 1_000_000_000))
    }

    init(wire: DurationMessage) {
        self = .seconds(wire.seconds) + .nanoseconds(Int64(wire.nanos))
    }
}

extension DocumentMaskMessage {
    init(_ paths: [FieldPath]) {
        self.init()
        fieldPaths = paths.map(\.encoded)
    }

    func paths() throws(RPCStatus) -> [FieldPath] {
        var result: [FieldPath] = []
        result.reserveCapacity(fieldPaths.count)
        for text in fieldPaths { result.append(try FieldPath(wire: text)) }
        return result
    }
}

extension DocumentMaskMessage? {
    /// The paths; nil if there is no mask.
    func paths() throws(RPCStatus) -> [FieldPath]? {
        guard let self else { return nil }
        return try self.paths()
    }
}

extension PreconditionMessage {
    /// Returns nil for no precondition; the field is then omitted.
    init?(_ precondition: Precondition) {
        self.init()
        switch precondition {
        case .none: return nil
        case .exists(let exists): self.exists = exists
        case .updateTime(let time): updateTime = time.wire
        }
    }
}

extension PreconditionMessage? {
    func decoded() throws(RPCStatus) -> Precondition {
        if let exists = self?.exists { return .exists(exists) }
        if let time = self?.updateTime { return .updateTime(try Timestamp(wire: time)) }
        return .none
    }
}

extension TransactionOptionsMessage {
    private static let optimistic: Int32 = 1
    private static let pessimistic: Int32 = 2

    init(_ options: TransactionOptions) {
        self.init()
        switch options {
        case .readWrite(let retrying, let concurrency):
            let mode: Int32 =
                switch concurrency {
                case .standard: 0
                case .optimistic: Self.optimistic
                case .pessimistic: Self.pessimistic
                }
            readWrite = ReadWrite(
                retryTransaction: MessageBytes(retrying ?? []), concurrencyMode: mode)
        case .readOnly(let time): readOnly = ReadOnly(readTime: time?.wire)
        }
    }

    /// A transaction without a mode reads and writes.
    func decoded() throws(RPCStatus) -> TransactionOptions {
        if let readOnly { return .readOnly(at: try readOnly.readTime.decoded()) }
        guard let readWrite else { return .readWrite(retrying: nil) }
        let concurrency: TransactionOptions.ConcurrencyMode =
            switch readWrite.concurrencyMode {
            case Self.optimistic: .optimistic
            case Self.pessimistic: .pessimistic
            default: .standard
            }
        return .readWrite(
            retrying: readWrite.retryTransaction.nonEmptyArray, concurrency: concurrency)
    }
}

extension ConsistencyFields {
    init(_ consistency: ReadConsistency) {
        switch consistency {
        case .latest: break
        case .at(let time): readTime = time.wire
        case .transaction(let id): transaction = MessageBytes(id)
        case .newTransaction(let options):
            newTransaction = TransactionOptionsMessage(options)
        }
    }

    func decoded() throws(RPCStatus) -> ReadConsistency {
        if let transaction { return .transaction(transaction.array) }
        if let newTransaction { return .newTransaction(try newTransaction.decoded()) }
        if let readTime { return .at(try Timestamp(wire: readTime)) }
        return .latest
    }
}

extension CursorMessage {
    init(_ cursor: Cursor) {
        self.init()
        values = cursor.values.map { MessageBytes(FieldsCodec.encode($0)) }
        before = cursor.before
    }

    func decoded() throws(RPCStatus) -> Cursor {
        Cursor(values: try Value.decoded(values), before: before)
    }
}

extension Value {
    init(wire bytes: MessageBytes) throws(RPCStatus) {
        self = try parsing { () throws(CodecError) in try FieldsCodec.decodeValue(bytes.array) }
    }

    static func decoded(_ values: [MessageBytes]) throws(RPCStatus) -> [Value] {
        var decoded: [Value] = []
        decoded.reserveCapacity(values.count)
        for value in values { decoded.append(try Value(wire: value)) }
        return decoded
    }
}
