import TidemarkModel

extension RPCStatus {
    init(_ error: CodecError) {
        self = .invalidArgument(error.message)
        guard case .invalidReference(let name) = error else { return }
        self = NameKind(ofReference: name).fault(name)
    }

    /// The error for bytes that are not the expected message.
    static let malformed = RPCStatus.invalidArgument("The message is not well-formed.")
}

/// Runs a parser of the model. Its errors are the sender's fault.
func parsing<T>(_ body: () throws(CodecError) -> T) throws(RPCStatus) -> T {
    do throws(CodecError) { return try body() } catch { throw RPCStatus(error) }
}

func naming<T>(_ body: () throws(InvalidPath) -> T) throws(RPCStatus) -> T {
    do throws(InvalidPath) { return try body() } catch { throw RPCStatus(error) }
}
