/// A resumable upload as it was started. All later requests only name it.
package struct UploadSession: Hashable, Sendable {
    /// The digest of the upload's id. The id itself is the permission to upload, and is not stored.
    package var key: [UInt8]
    package var dialect: UploadDialect
    package var blob: BlobID
    /// The size that the client declared; nil if it declared none.
    package var declared: Int64?
    package var startedAt: Int64
    package var plan: UploadPlan

    package var path: ObjectPath { plan.path }

    /// Returns the upload with other expected digests.
    package func expecting(_ digests: ExpectedDigests) -> UploadSession {
        var session = self
        session.plan.expected = digests
        return session
    }
}

/// The object that an upload makes, and under which conditions.
package struct UploadPlan: Hashable, Sendable, Codable {
    package var path: ObjectPath
    package var fields: ObjectFields
    package var tokens: [String]
    package var conditions: ObjectConditions
    package var expected: ExpectedDigests
    /// The caller who started the upload. Its rights decide at the end too.
    package var caller: ObjectCaller

    package init(
        path: ObjectPath, fields: ObjectFields = ObjectFields(), tokens: [String] = [],
        conditions: ObjectConditions = ObjectConditions(),
        expected: ExpectedDigests = ExpectedDigests(), caller: ObjectCaller = .administrator
    ) {
        self.path = path
        self.fields = fields
        self.tokens = tokens
        self.conditions = conditions
        self.expected = expected
        self.caller = caller
    }
}

/// An open upload, for a list of them. Its id is not part of it.
package struct OpenUpload: Hashable, Sendable {
    package var path: ObjectPath
    package var received: Int64
    package var declared: Int64?
    package var startedAt: Int64
    package var updatedAt: Int64
    package var userID: String?
}
