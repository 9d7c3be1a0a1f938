import SwiftProtobuf
import TidemarkModel

extension RPCStatus {
    init(_ error: CodecError) {
        self = .invalidArgument(error.message)
        guard case .invalidReference(let name) = error else { return }
        self = NameKind(ofReference: name).fault(name)
    }

    /// Bytes that are not the message they should be.
    static let malformed = RPCStatus.invalidArgument("The message is not well-formed.")
}

/// Runs the model's parsing, whose errors are the sender's fault.
func parsing<T>(_ body: () throws(CodecError) -> T) throws(RPCStatus) -> T {
    do throws(CodecError) { return try body() } catch { throw RPCStatus(error) }
}

func naming<T>(_ body: () throws(InvalidPath) -> T) throws(RPCStatus) -> T {
    do throws(InvalidPath) { return try body() } catch { throw RPCStatus(error) }
}

extension Message {
    /// - Throws: `INVALID_ARGUMENT` for bytes that are no such message.
    init(wire bytes: [UInt8]) throws(RPCStatus) {
        do { try self.init(serializedBytes: bytes) } catch { throw .malformed }
    }

    /// Cannot fail: the messages have no required fields and no `Any` that is packed late.
    var wireBytes: [UInt8] {
        guard let bytes: [UInt8] = try? serializedBytes() else {
            preconditionFailure("a message of our own making could not be written")
        }
        return bytes
    }
}
