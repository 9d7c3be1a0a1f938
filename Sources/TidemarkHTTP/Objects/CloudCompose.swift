import TidemarkModel
import TidemarkObjects

/// Makes an object of the bytes of others.
struct CloudCompose: Sendable {
    /// The maximum number of sources. Source: "Composite objects".
    private static let maxSources = 32

    let api: CloudObjects
    private var server: ObjectsServer { api.server }

    init(api: CloudObjects) { self.api = api }

    private struct Source: Sendable {
        let path: ObjectPath
        var version = NamedVersion()
    }

    func answer(_ path: ObjectPath) async throws(ObjectRefusal) -> ObjectsAnswer {
        let form = try ObjectForm(try await api.request.collected())
        let sources = try sources(form, bucket: path.bucket)
        var plan = UploadPlan(path: path, conditions: try api.request.query.conditions())
        if let destination = form["destination"] {
            (plan.fields, plan.tokens) = try ObjectForm(
                JSONWriter.bytes(of: destination)
            ).fields()
        }
        let opened = try await server.onCore { (core) throws(ObjectRefusal) -> [OpenedObject] in
            var opened: [OpenedObject] = []
            for source in sources {
                let object = try core.object(source.path, if: source.version)
                opened.append(try OpenedObject(object, in: core.blobs, opens: true))
            }
            return opened
        }
        let whole = try await join(opened)
        return api.resource(try await ObjectUploads(server: server).put(plan, whole))
    }

    private func sources(
        _ form: ObjectForm, bucket: String
    ) throws(ObjectRefusal) -> [Source] {
        let elements = form["sourceObjects"]?.elements ?? []
        guard (1...Self.maxSources).contains(elements.count) else {
            throw .invalid("The number of source objects must be between 1 and 32.")
        }
        var sources: [Source] = []
        for element in elements {
            var source = Source(
                path: try ObjectPath(bucket: bucket, name: element.object?["name"]?.text ?? ""))
            source.version.generation = element.object?["generation"]?.wholeNumber
            let conditions = element.object?["objectPreconditions"]?.object
            source.version.conditions.ifGenerationMatch =
                conditions?["ifGenerationMatch"]?.wholeNumber
            sources.append(source)
        }
        return sources
    }

    /// Writes the bytes of all sources to a new blob, a piece at a time.
    private func join(
        _ sources: [OpenedObject]
    ) async throws(ObjectRefusal) -> ObjectBodies.Whole {
        let blobs = server.blobs
        let blob = try await server.onCore { core in core.newBlob() }
        do throws(ObjectRefusal) {
            let writer = try await server.disk.run { try BlobWriter(new: blob, in: blobs) }
            for source in sources {
                guard let reader = source.reader else { continue }
                var at: Int64 = 0
                while at < source.object.contents.size {
                    let start = at
                    let count = Int(
                        min(Int64(BlobReader.pieceBytes), source.object.contents.size - start))
                    at += try await server.disk.run {
                        let bytes = try reader.read(at: start, count: count)
                        guard bytes.count == count else {
                            throw ObjectRefusal.unavailable("A file is too short.")
                        }
                        try bytes.withUnsafeBytes { try writer.append($0) }
                        return Int64(bytes.count)
                    }
                }
            }
            let components = sources.reduce(Int64(0)) { $0 + ($1.object.contents.components ?? 1) }
            let contents = try await server.disk.run {
                try writer.flush()
                try writer.sync()
                var contents = writer.digest.contents
                contents.md5 = nil
                contents.components = components
                return contents
            }
            return ObjectBodies.Whole(blob: blob, contents: contents)
        } catch {
            await ObjectBodies(server: server).discard(blob)
            throw error
        }
    }
}

extension JSONValue {
    /// A whole number, or one in a text, which is JSON's form of 64-bit numbers.
    fileprivate var wholeNumber: Int64? {
        switch self {
        case .integer(let number): number
        case .text(let text): Int64(text)
        default: nil
        }
    }
}
