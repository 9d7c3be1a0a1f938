package import TidemarkObjects

// The functions that the console's pages use.
extension ObjectsServer {
    /// Returns the buckets that have objects or were made, and the default buckets.
    package func bucketNames() async throws(ObjectRefusal) -> [String] {
        let made = try await onCore { (core) throws(ObjectRefusal) -> [String] in
            try core.buckets().map(\.name)
        }
        return made + defaultBuckets.filter { !made.contains($0) }
    }

    package func page(_ listing: ObjectListing) async throws(ObjectRefusal) -> ObjectPage {
        try await onCore { (core) throws(ObjectRefusal) -> ObjectPage in try core.list(listing) }
    }

    package func object(_ path: ObjectPath) async throws(ObjectRefusal) -> StoredObject {
        try await onCore { (core) throws(ObjectRefusal) -> StoredObject in try core.object(path) }
    }

    /// Returns the open uploads, the latest first.
    package func openUploads(limit: Int) async throws(ObjectRefusal) -> [OpenUpload] {
        try await onCore { (core) throws(ObjectRefusal) -> [OpenUpload] in
            try core.openUploads(limit: limit)
        }
    }

    /// Returns the bytes of a small object.
    ///
    /// - Throws: ``ObjectRefusal`` if the object has more than `limit` bytes.
    package func bytes(
        of path: ObjectPath, upTo limit: Int
    ) async throws(ObjectRefusal) -> (object: StoredObject, bytes: [UInt8]) {
        let opened = try await onCore { (core) throws(ObjectRefusal) -> OpenedObject in
            try OpenedObject(core.object(path), in: core.blobs, opens: true)
        }
        let size = Int(opened.object.contents.size)
        guard size <= limit, let reader = opened.reader else {
            throw ObjectRefusal(
                413, reason: "tooLarge", message: "The object is too large to be shown.")
        }
        let bytes = try await disk.run {
            var bytes: [UInt8] = []
            while bytes.count < size {
                let part = try reader.read(at: Int64(bytes.count), count: size - bytes.count)
                if part.isEmpty { break }
                bytes += part
            }
            return bytes
        }
        return (opened.object, bytes)
    }
}
