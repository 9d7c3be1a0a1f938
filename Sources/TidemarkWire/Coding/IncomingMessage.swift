import TidemarkModel

/// A message of a stream. Its names can be decoded only when the stream's database is known.
struct IncomingMessage<Message> {
    let database: String
    let decode: (Names) throws(RPCStatus) -> Message
}

extension IncomingMessage<ListenRequest> {
    static func listen(_ bytes: [UInt8]) throws(RPCStatus) -> Self {
        try RequestParts.check(.listen, bytes)
        let wire = try ListenRequestMessage(wire: bytes)
        return Self(database: wire.database) { names throws(RPCStatus) in
            try ListenCoder(names).request(wire)
        }
    }
}

extension IncomingMessage<WriteRequest> {
    static func write(_ bytes: [UInt8]) throws(RPCStatus) -> Self {
        try RequestParts.check(.write, bytes)
        let wire = try WriteRequestMessage(wire: bytes)
        return Self(database: wire.database) { names throws(RPCStatus) in
            try WriteCoder(names).request(wire)
        }
    }
}
