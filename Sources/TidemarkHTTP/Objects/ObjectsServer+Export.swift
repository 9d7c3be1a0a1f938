import Foundation
import TidemarkModel
package import TidemarkObjects

/// The folder of objects in an export, in the form of Firebase's emulator. Source: storage E.
enum ObjectsFolder {
    static let buckets = "buckets.json"
    static let blobs = "blobs"
    static let metadata = "metadata"
    /// The maximum size of a file with metadata, in bytes.
    static let maxMetadataBytes = 1 << 20
    /// The maximum number of objects in a folder.
    static let maxObjects = 1_000_000
}

// MARK: - Writing

extension ObjectsServer {
    /// Writes all objects into a folder. Each object is complete; objects that change meanwhile are
    /// written in one of their versions.
    ///
    /// - Parameter folder: The folder, which must not exist.
    /// - Returns: The number of objects.
    package func export(to folder: String) async throws(ObjectRefusal) -> Int {
        let names = try await onCore { (core) throws(ObjectRefusal) -> [String] in
            try core.buckets().map(\.name)
        }
        let ids = JSONValue.list(JSONList(names.map { .object(["id": .text($0)]) }))
        let listing = JSONWriter.bytes(of: .object(["buckets": ids]), isPretty: true)
        try await disk.run {
            for part in ["", "/" + ObjectsFolder.blobs, "/" + ObjectsFolder.metadata] {
                try PlainFiles.makeFolder(folder + part)
            }
            try PlainFiles.write(listing, to: folder + "/" + ObjectsFolder.buckets)
        }
        var count = 0
        for name in names { count += try await export(bucket: name, to: folder) }
        return count
    }

    private func export(bucket: String, to folder: String) async throws(ObjectRefusal) -> Int {
        var listing = ObjectListing(bucket: bucket)
        var count = 0
        while true {
            let asked = listing
            let page = try await onCore { (core) throws(ObjectRefusal) -> ObjectPage in
                try core.list(asked)
            }
            for object in page.objects where try await export(object.path, to: folder) {
                count += 1
            }
            guard let next = page.next else { return count }
            listing.position = next
        }
    }

    /// - Returns: False if the object was deleted meanwhile.
    private func export(_ path: ObjectPath, to folder: String) async throws(ObjectRefusal) -> Bool {
        let opened = try await onCore { (core) throws(ObjectRefusal) -> OpenedObject? in
            guard let object = try core.objectIfExists(path) else { return nil }
            return try OpenedObject(object, in: core.blobs, opens: true)
        }
        guard let opened, let reader = opened.reader else { return false }
        let id = Self.exportID(of: path)
        let json = JSONWriter.bytes(
            of: ObjectJSON.exported(opened.object), isPretty: true, isSorted: true)
        try await disk.run {
            try PlainFiles.copy(
                reader, size: opened.object.contents.size,
                to: "\(folder)/\(ObjectsFolder.blobs)/\(id)")
            try PlainFiles.write(json, to: "\(folder)/\(ObjectsFolder.metadata)/\(id).json")
        }
        return true
    }

    /// Returns the name of an object's files. Equal objects have equal names, so that an export in
    /// git changes only where objects do.
    private static func exportID(of path: ObjectPath) -> String {
        let digest = ObjectsEnvironment.live().digest(Array("\(path.bucket)/\(path.name)".utf8))
        return BlobID(bytes: Array(digest.prefix(16))).text
    }
}

// MARK: - Reading

/// The objects of an export, which were read and checked, without their bytes.
package struct ReadObjects: Sendable {
    struct Entry: Sendable {
        let plan: UploadPlan
        let times: ObjectTimes
        /// The file with the bytes.
        let file: String
    }

    var buckets: [String] = []
    var entries: [Entry] = []
    /// The files with metadata whose bytes are missing.
    package internal(set) var missing: [String] = []
    package var count: Int { entries.count }
}

extension ObjectsServer {
    /// Reads the metadata of all objects in an export's folder before anything is written. Older
    /// emulators used nested folders, or files with the object's name.
    ///
    /// - Throws: ``ObjectRefusal`` with the file that is damaged.
    package static func objects(in folder: String) throws(ObjectRefusal) -> ReadObjects {
        var read = ReadObjects()
        let root = folder + "/" + ObjectsFolder.metadata
        try checkInside(root, folder)
        let found = FileManager.default.enumerator(atPath: root)?.allObjects as? [String] ?? []
        guard found.count <= ObjectsFolder.maxObjects * 2 else {
            throw .invalid("\(root) has more than \(ObjectsFolder.maxObjects) objects.")
        }
        for name in found.sorted() where name.hasSuffix(".json") {
            let path = root + "/" + name
            let form = try ObjectForm(
                try PlainFiles.read(path, upTo: ObjectsFolder.maxMetadataBytes))
            let blob = "\(folder)/\(ObjectsFolder.blobs)/\(name.dropLast(5))"
            guard PlainFiles.isFile(blob) else {
                read.missing.append(path)
                continue
            }
            try checkInside(blob, folder)
            do throws(ObjectRefusal) {
                read.entries.append(try Self.entry(form, file: blob))
            } catch { throw .invalid("\(path) is damaged: \(error.message)") }
        }
        let buckets = folder + "/" + ObjectsFolder.buckets
        if PlainFiles.isFile(buckets) {
            let form = try ObjectForm(
                try PlainFiles.read(buckets, upTo: ObjectsFolder.maxMetadataBytes))
            read.buckets = (form["buckets"]?.elements ?? []).compactMap { $0.object?["id"]?.text }
        }
        return read
    }

    /// - Throws: ``ObjectRefusal`` if a folder on the way is a link out of the export.
    private static func checkInside(_ path: String, _ folder: String) throws(ObjectRefusal) {
        func resolved(_ path: String) -> String {
            URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        }
        if resolved(path).hasPrefix(resolved(folder) + "/") { return }
        throw .invalid("\(path) is outside of the export, and was not read.")
    }

    private static func entry(
        _ form: ObjectForm, file: String
    ) throws(ObjectRefusal) -> ReadObjects.Entry {
        var (fields, _) = try form.fields()
        for member in form["customMetadata"]?.object ?? [:] {
            if let text = member.value.text { fields.custom[member.name] = text }
        }
        fields.custom[ObjectForm.tokensKey] = nil
        try fields.check()
        var expected = ExpectedDigests()
        if let text = try form.text("md5Hash"), !text.isEmpty {
            expected.md5 = try ObjectForm.digest(text, name: "md5Hash", length: 16)
        }
        let tokens = form["downloadTokens"]?.elements.compactMap(\.text) ?? []
        let plan = UploadPlan(
            path: try ObjectPath(
                bucket: try form.text("bucket") ?? "", name: try form.text("name") ?? ""),
            fields: fields, tokens: tokens, expected: expected)
        let times = ObjectTimes(
            created: ObjectJSON.microseconds(try form.text("timeCreated")),
            updated: ObjectJSON.microseconds(try form.text("updated")))
        return ReadObjects.Entry(plan: plan, times: times, file: file)
    }

    /// Stores the objects of an export. Those of the same name are replaced.
    ///
    /// - Throws: ``ObjectRefusal`` at the first object whose bytes are not the expected ones. The
    ///   objects before it are stored.
    package func bringIn(_ read: ReadObjects) async throws(ObjectRefusal) {
        for name in read.buckets where try await isMissing(bucket: name) {
            _ = try await onCore { (core) throws(ObjectRefusal) -> Int64 in
                try core.makeBucket(name)
            }
        }
        for entry in read.entries {
            let blobs = blobs
            let blob = try await onCore { core in core.newBlob() }
            do throws(ObjectRefusal) {
                let contents = try await disk.run {
                    try BlobWriter.copy(of: entry.file, to: blob, in: blobs)
                }
                try await onCore { (core) throws(ObjectRefusal) in
                    _ = try core.put(
                        entry.plan, blob: blob, contents: contents, times: entry.times)
                }
            } catch {
                await ObjectBodies(server: self).discard(blob)
                throw ObjectRefusal(
                    error.status, reason: error.reason, message: "\(entry.file): \(error.message)")
            }
        }
    }

    private func isMissing(bucket: String) async throws(ObjectRefusal) -> Bool {
        try await onCore { (core) throws(ObjectRefusal) -> Bool in
            try core.bucketTime(bucket) == nil
        }
    }
}
