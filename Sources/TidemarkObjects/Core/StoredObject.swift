/// An object as it is stored. Times are in microseconds since 1970.
package struct StoredObject: Hashable, Sendable {
    package var path: ObjectPath
    package var version: ObjectVersion
    /// The file with the contents. Copies of an object share the file.
    package var blob: BlobID
    package var contents: ObjectContents
    package var createdAt: Int64
    package var updatedAt: Int64
    package var fields: ObjectFields
    /// The tokens with which anybody may download the object.
    package var tokens: [String]
    /// The account that uploaded the object; nil for an administrator or an unknown caller.
    package var uploader: String?

    package init(
        path: ObjectPath, version: ObjectVersion, blob: BlobID, contents: ObjectContents,
        createdAt: Int64, updatedAt: Int64, fields: ObjectFields, tokens: [String],
        uploader: String?
    ) {
        self.path = path
        self.version = version
        self.blob = blob
        self.contents = contents
        self.createdAt = createdAt
        self.updatedAt = updatedAt
        self.fields = fields
        self.tokens = tokens
        self.uploader = uploader
    }

    /// The tag that identifies a version, without quotation marks.
    package var etag: String { "\(version.generation)-\(version.metageneration)" }

    /// Returns the object as it is after a change.
    package func applying(_ patch: ObjectPatch) -> StoredObject {
        var object = self
        patch.apply(to: &object.fields)
        return object
    }
}

/// The times of an object that comes from elsewhere, in microseconds since 1970.
package struct ObjectTimes: Hashable, Sendable {
    /// The time of creation in microseconds since 1970; nil for the present time.
    package var created: Int64?
    /// The time of the last change in microseconds since 1970; nil for the present time.
    package var updated: Int64?

    package init(created: Int64? = nil, updated: Int64? = nil) {
        self.created = created
        self.updated = updated
    }
}

/// The numbers of an object's version.
package struct ObjectVersion: Hashable, Sendable, Codable {
    /// The time of the upload in microseconds since 1970. It rises with each upload to the server.
    package var generation: Int64
    /// Counts the changes of the metadata of one generation, from 1.
    package var metageneration: Int64

    package init(generation: Int64, metageneration: Int64) {
        self.generation = generation
        self.metageneration = metageneration
    }
}

/// The size and digests of an object's bytes.
package struct ObjectContents: Hashable, Sendable, Codable {
    package var size: Int64
    /// The MD5 digest; nil for an object that was composed of others.
    package var md5: [UInt8]?
    package var crc32c: UInt32
    /// The number of parts of a composed object; nil for other objects.
    package var components: Int64?

    package init(size: Int64, md5: [UInt8]?, crc32c: UInt32, components: Int64? = nil) {
        self.size = size
        self.md5 = md5
        self.crc32c = crc32c
        self.components = components
    }

    /// The checksum in the form of the protocol: four bytes, the most significant first.
    package var crcBytes: [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: crc32c >> (24 - $0 * 8)) }
    }
}

/// The digests that a caller expects of the uploaded bytes.
package struct ExpectedDigests: Hashable, Sendable, Codable {
    package var md5: [UInt8]?
    package var crc32c: [UInt8]?

    package init(md5: [UInt8]? = nil, crc32c: [UInt8]? = nil) {
        self.md5 = md5
        self.crc32c = crc32c
    }

    /// - Throws: ``ObjectRefusal`` with status 400 if the bytes are not the expected ones.
    package func check(_ contents: ObjectContents) throws(ObjectRefusal) {
        if let md5, let found = contents.md5, md5 != found {
            throw .invalid("The MD5 of the uploaded bytes is not the expected MD5.")
        }
        if let crc32c, crc32c != contents.crcBytes {
            throw .invalid("The CRC32C of the uploaded bytes is not the expected CRC32C.")
        }
    }
}

/// The caller of a request, as its credentials identify it.
package struct ObjectCaller: Hashable, Sendable, Codable {
    package var isAdministrator: Bool
    /// The account; nil for an administrator and for a caller who is not signed in.
    package var userID: String?
    /// The claims of the caller's token, as JSON text; nil without a token.
    package var claims: String?

    package init(isAdministrator: Bool = false, userID: String? = nil, claims: String? = nil) {
        self.isAdministrator = isAdministrator
        self.userID = userID
        self.claims = claims
    }

    package static let administrator = ObjectCaller(isAdministrator: true)
}
