import TidemarkWire

extension FirebaseStore {
    /// Writes that are applied together or not at all, as FirebaseFirestore accepted them.
    public struct Batch: Hashable, Sendable {
        /// The id by Firebase Authentication; nil for a batch that was created while no user was
        /// signed in.
        public let user: String?
        /// The number of the batch; among a user's batches, lower numbers were made first.
        public let number: Int
        /// The time of creation, by this device's clock; nil if it cannot be read.
        public let time: Timestamp?
        /// The writes, in their order. Empty when the batch cannot be sent.
        public let mutations: [Mutation]
        /// The reason why the batch cannot be sent; nil if it can. ``FirestoreError/detail`` names
        /// the write.
        public let problem: FirestoreError?
        /// The database of all written documents.
        let database: DatabaseID?
        /// The batch's mark, computed from all its stored bytes. The mark records that the batch
        /// was queued.
        let mark: String

        /// - Parameter value: The stored bytes of the batch.
        init(user: String, number: Int32, _ value: [UInt8]) {
            self.user = user.isEmpty ? nil : user
            self.number = Int(number)
            mark = Self.mark(user, number: number, value: value)
            let (time, contents) = Self.contents(of: value, number)
            self.time = time
            switch contents {
            case .success(let writes):
                mutations = writes.map(\.mutation)
                database = writes.first?.database
                problem = nil
            case .failure(let status):
                (mutations, database, problem) = ([], nil, FirestoreError(status))
            }
        }

        /// Returns the mark. Numbers are reused after a queue was empty; two batches with the same
        /// number differ in their writes or in their time of creation.
        private static func mark(_ user: String, number: Int32, value: [UInt8]) -> String {
            let bytes = Array(user.utf8) + [0] + Array("\(number)".utf8) + [0] + value
            return MD5.digest(bytes).map { byte in
                String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
            }.joined()
        }
    }
}

extension FirebaseStore.Batch {
    /// A message in FirebaseFirestore's own form: 1 the number, 2 the writes, 3 the time, and 4
    /// earlier values, which it stores for increments and similar operations. The earlier values
    /// are not sent, because this client computes its own.
    private struct Message {
        var number: Int32 = 0
        var writes: [[UInt8]] = []
        var time: Timestamp?
        var hasUnknownParts = false

        init(_ reader: inout WireReader) throws(CodecError) {
            while !reader.isAtEnd {
                let tag = try reader.tag()
                switch tag {
                case 1 << 3 | 0: number = Int32(truncatingIfNeeded: try reader.varint())
                case 2 << 3 | 2: writes.append(Array(try reader.lengthDelimited()))
                case 3 << 3 | 2:
                    var inner = try reader.message()
                    time = try FieldsCodec.timestamp(&inner)
                case 4 << 3 | 2: _ = try reader.lengthDelimited()
                default:
                    hasUnknownParts = true
                    try reader.skip(tag)
                }
            }
        }
    }

    private static func contents(
        of value: [UInt8], _ number: Int32
    ) -> (time: Timestamp?, writes: Result<[StoredWrite], RPCStatus>) {
        let message: Message? = value.withUnsafeBufferPointer { buffer in
            var reader = WireReader(buffer)
            return try? Message(&reader)
        }
        guard let message, message.number == number else {
            return (nil, .failure(.invalidArgument("The batch cannot be read.")))
        }
        guard !message.hasUnknownParts else {
            let problem = RPCStatus.invalidArgument("The batch has unknown parts.")
            return (message.time, .failure(problem))
        }
        return (
            message.time, Result { () throws(RPCStatus) in try writes(message.writes) }
        )
    }

    private static func writes(_ stored: [[UInt8]]) throws(RPCStatus) -> [StoredWrite] {
        if stored.isEmpty { throw .invalidArgument("The batch has no writes.") }
        var writes: [StoredWrite] = []
        for (index, bytes) in stored.enumerated() {
            do throws(RPCStatus) { writes.append(try StoredWrite(bytes)) } catch {
                throw .invalidArgument("Write \(index + 1) cannot be sent: \(error.message)")
            }
            if writes[index].database != writes[0].database {
                throw .invalidArgument("The writes belong to several databases.")
            }
        }
        return writes
    }
}
