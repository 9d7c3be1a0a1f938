import TidemarkStore

/// A key that signs tokens.
package struct SigningKeyRecord: Hashable, Sendable {
    package let id: String
    /// The private key, in the encoding of its library.
    package let key: [UInt8]
    /// The creation time, in milliseconds since 1970.
    package let createdAt: Int64

    package init(id: String, key: [UInt8], createdAt: Int64) {
        self.id = id
        self.key = key
        self.createdAt = createdAt
    }
}

extension SigningKeyRecord: CustomStringConvertible, CustomReflectable {
    package var description: String { "SigningKeyRecord(\(id))" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

struct SigningKeyTable {
    let transaction: StoreTransaction

    /// Returns all keys, newest first.
    func all() throws(StoreError) -> [SigningKeyRecord] {
        try transaction.rows(
            "SELECT id, key, createdAt FROM signingKey ORDER BY createdAt DESC, id"
        )
        .map { row throws(StoreError) in
            try SigningKeyRecord(id: row.text(0), key: row.blob(1), createdAt: row.integer(2))
        }
    }

    func insert(_ key: SigningKeyRecord) throws(StoreError) {
        try transaction.execute(
            "INSERT INTO signingKey (id, key, createdAt) VALUES (?, ?, ?)",
            [.text(key.id), .blob(key.key), .integer(key.createdAt)])
    }
}
