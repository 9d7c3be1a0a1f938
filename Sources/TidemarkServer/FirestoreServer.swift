public import TidemarkModel
public import TidemarkStore

/// A Firestore: commits, queries, listens and a read meter over one store. It has no sockets; it is a
/// ``Transport`` itself.
public final class FirestoreServer: Sendable {
    public struct Configuration: Hashable, Sendable {
        /// The folder of the database file; nil for memory.
        public var dataDirectory: String?

        public init(dataDirectory: String? = nil) { self.dataDirectory = dataDirectory }
    }

    /// - Throws: ``StoreError`` when the data cannot be opened.
    public init(_ configuration: Configuration) throws(StoreError) {
        fatalError("not written yet")
    }

    /// Reads billed so far, by the caller's label.
    public func meter() -> [MeterRow] { fatalError("not written yet") }

    /// Makes the server's clock stand at `time` and go on from there, or follow the machine's again.
    /// Commit times never go back: an earlier time is refused.
    public func setClock(_ time: Timestamp?) throws(RPCStatus) { fatalError("not written yet") }

    /// Finishes what is under way, ends every stream with `unavailable` and closes the store.
    public func close() { fatalError("not written yet") }
}

/// What one caller, by label, was billed for and was sent.
public struct MeterRow: Hashable, Sendable, Codable {
    public var label: String
    /// Documents, at least one a query, one per 1,000 index entries of an aggregation.
    public var reads: Int
    public var writes: Int
    public var deletes: Int
    /// By RPC, the same reads again.
    public var readsByMethod: [String: Int]

    public init(
        label: String, reads: Int, writes: Int, deletes: Int, readsByMethod: [String: Int]
    ) {
        self.label = label
        self.reads = reads
        self.writes = writes
        self.deletes = deletes
        self.readsByMethod = readsByMethod
    }
}

extension FirestoreServer: Transport {
    public func call(
        _ request: Request, _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<Reply>) -> Void
    ) -> any CancellableCall { fatalError("not written yet") }

    public func listen(
        _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<ListenResponse>) -> Void
    ) -> any RequestStream<ListenRequest> { fatalError("not written yet") }

    public func write(
        _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<WriteResponse>) -> Void
    ) -> any RequestStream<WriteRequest> { fatalError("not written yet") }
}
