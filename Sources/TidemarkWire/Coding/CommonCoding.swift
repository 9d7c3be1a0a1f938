import Foundation
import SwiftProtobuf
import TidemarkModel

extension Timestamp {
    var wire: Google_Protobuf_Timestamp {
        Google_Protobuf_Timestamp(seconds: seconds, nanos: nanoseconds)
    }

    init(wire: Google_Protobuf_Timestamp) throws(RPCStatus) {
        guard Self.isValid(seconds: wire.seconds, nanoseconds: wire.nanos) else {
            throw .invalidArgument("A time is outside the years 1 to 9999.")
        }
        self.init(seconds: wire.seconds, nanoseconds: wire.nanos)
    }
}

extension Data {
    var array: [UInt8] { [UInt8](self) }
    /// The bytes; nil if empty, because the wire form of a missing token is empty.
    var nonEmptyArray: [UInt8]? { isEmpty ? nil : [UInt8](self) }
}

extension PBDocumentMask {
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

extension PBPrecondition {
    /// Returns nil for no precondition; the field is then omitted.
    init?(_ precondition: Precondition) {
        self.init()
        switch precondition {
        case .none: return nil
        case .exists(let exists): self.exists = exists
        case .updateTime(let time): updateTime = time.wire
        }
    }

    func decoded() throws(RPCStatus) -> Precondition {
        switch conditionType {
        case nil: .none
        case .exists(let exists): .exists(exists)
        case .updateTime(let time): .updateTime(try Timestamp(wire: time))
        }
    }
}

extension PBTransactionOptions {
    init(_ options: TransactionOptions) {
        self.init()
        switch options {
        case .readWrite(let retrying, let concurrency):
            readWrite = .with {
                $0.retryTransaction = Data(retrying ?? [])
                switch concurrency {
                case .standard: break
                case .optimistic: $0.concurrencyMode = .optimistic
                case .pessimistic: $0.concurrencyMode = .pessimistic
                }
            }
        case .readOnly(let time):
            readOnly = .with { if let time { $0.readTime = time.wire } }
        }
    }

    /// A transaction without a mode reads and writes.
    func decoded() throws(RPCStatus) -> TransactionOptions {
        switch mode {
        case nil: return .readWrite(retrying: nil)
        case .readWrite(let options):
            let concurrency: TransactionOptions.ConcurrencyMode =
                switch options.concurrencyMode {
                case .unspecified, .UNRECOGNIZED: .standard
                case .optimistic: .optimistic
                case .pessimistic: .pessimistic
                }
            return .readWrite(
                retrying: options.retryTransaction.nonEmptyArray, concurrency: concurrency)
        case .readOnly(let options):
            guard case .readTime(let time)? = options.consistencySelector else {
                return .readOnly(at: nil)
            }
            return .readOnly(at: try Timestamp(wire: time))
        }
    }
}

/// The time or transaction of a read. Unites the three forms that requests have for it.
enum WireConsistency {
    case latest
    case transaction(Data)
    case newTransaction(PBTransactionOptions)
    case readTime(Google_Protobuf_Timestamp)

    func decoded() throws(RPCStatus) -> ReadConsistency {
        switch self {
        case .latest: .latest
        case .transaction(let id): .transaction(id.array)
        case .newTransaction(let options): .newTransaction(try options.decoded())
        case .readTime(let time): .at(try Timestamp(wire: time))
        }
    }
}

extension ReadConsistency {
    var wire: WireConsistency {
        switch self {
        case .latest: .latest
        case .at(let time): .readTime(time.wire)
        case .transaction(let id): .transaction(Data(id))
        case .newTransaction(let options): .newTransaction(PBTransactionOptions(options))
        }
    }
}

extension PBCursor {
    init(_ cursor: Cursor) {
        self.init()
        values = cursor.values.map { Data(FieldsCodec.encode($0)) }
        before = cursor.before
    }

    func decoded() throws(RPCStatus) -> Cursor {
        var decoded: [Value] = []
        decoded.reserveCapacity(values.count)
        for value in values { decoded.append(try Value(wire: value)) }
        return Cursor(values: decoded, before: before)
    }
}

extension Value {
    init(wire data: Data) throws(RPCStatus) {
        self = try parsing { () throws(CodecError) in try FieldsCodec.decodeValue(data.array) }
    }
}
