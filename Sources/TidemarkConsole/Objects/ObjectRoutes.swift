import TidemarkHTTP
import TidemarkObjects

/// The pages of objects.
struct ObjectRoutes {
    /// The types of pictures that are shown, by their first bytes.
    private static let pictures: [(type: String, start: [UInt8])] = [
        ("image/png", [0x89, 0x50, 0x4E, 0x47]), ("image/jpeg", [0xFF, 0xD8, 0xFF]),
        ("image/gif", [0x47, 0x49, 0x46, 0x38]), ("image/webp", [0x52, 0x49, 0x46, 0x46]),
    ]
    /// The maximum size of a picture that is shown, in bytes.
    static let maxPictureBytes = 8 << 20
    private static let maxUploads = 100

    let objects: ObjectsServer?

    func answer(_ request: PageRequest, _ form: PageForm) async -> PageAnswer {
        guard let objects else {
            return ErrorPage(section: .objects, error: "Start the server with --storage for files.")
                .answer(404, form)
        }
        do throws(ObjectRefusal) {
            let buckets = try await objects.bucketNames()
            let bucket = request["bucket"] ?? buckets.first ?? ""
            if let name = request["name"] {
                let path = try ObjectPath(bucket: bucket, name: name)
                return form.answer(ObjectDetails(try await objects.object(path)))
            }
            var listing = ObjectListing(bucket: bucket)
            listing.prefix = request["prefix"] ?? ""
            listing.delimiter = "/"
            listing.limit = ObjectsPage.pageSize
            listing.position = request["page"].flatMap { ListPosition(token: $0) }
            let page = try await objects.page(listing)
            return form.answer(
                ObjectsPage(
                    bucket: bucket, buckets: buckets, prefix: listing.prefix,
                    folders: page.prefixes, objects: page.objects.map { ObjectRow($0) },
                    next: page.next?.token,
                    uploads: try await objects.openUploads(limit: Self.maxUploads)
                        .map { OpenUploadRow($0) }))
        } catch {
            return ErrorPage(section: .objects, error: error.message).answer(error.status, form)
        }
    }

    /// Answers with the bytes of a picture. Other objects are not shown, because a page of this
    /// origin could call the control port.
    func picture(_ request: PageRequest) async -> PageAnswer? {
        guard let objects,
            let path = try? ObjectPath(
                bucket: request["bucket"] ?? "", name: request["name"] ?? ""),
            let (_, bytes) = try? await objects.bytes(of: path, upTo: Self.maxPictureBytes),
            let type = Self.pictures.first(where: { bytes.starts(with: $0.start) })?.type
        else { return nil }
        return PageAnswer(type: type, body: .bytes(bytes))
    }
}
