import Foundation
import TidemarkHTTP
import TidemarkModel
import TidemarkObjects

/// The objects of a bucket, folder by folder, and the uploads that are open.
struct ObjectsPage: Page {
    static let pageSize = 200

    let bucket: String
    let buckets: [String]
    let prefix: String
    let folders: [String]
    let objects: [ObjectRow]
    /// The start of the next page; nil on the last page.
    let next: String?
    let uploads: [OpenUploadRow]

    var title: String { prefix.isEmpty ? "Objects of \(bucket)" : "\(bucket) / \(prefix)" }
    var section: Section { .objects }

    private enum CodingKeys: String, CodingKey {
        case bucket, buckets, prefix, folders, objects, next, uploads
    }

    @HTMLBuilder var body: HTML {
        Tag.p {
            for name in buckets {
                Tag.a(.href(Self.address(name, prefix: ""))) { Tag.bdi { name } }
                " "
            }
        }
        if folders.isEmpty, objects.isEmpty { Tag.p { "No objects." } }
        if !folders.isEmpty || !objects.isEmpty { table }
        if let next {
            Tag.p {
                Tag.a(.href(Self.address(bucket, prefix: prefix).with("page", next))) {
                    "Next \(Self.pageSize)"
                }
            }
        }
        OpenUploadRow.html(uploads)
    }

    static func address(_ bucket: String, prefix: String) -> PagePath {
        let path = PagePath(["objects"], [("bucket", bucket)])
        return prefix.isEmpty ? path : path.with("prefix", prefix)
    }

    private var table: HTML {
        Tag.div(.class("scroll"), .focusable, .role("region"), .label("Objects")) {
            Tag.table {
                Tag.thead {
                    Tag.tr {
                        for name in ["Name", "Bytes", "Type", "Changed", "Uploaded by"] {
                            Tag.th(.scope("col")) { name }
                        }
                    }
                }
                Tag.tbody {
                    for folder in folders {
                        Tag.tr {
                            Tag.th(.scope("row")) {
                                Tag.a(.href(Self.address(bucket, prefix: folder))) {
                                    Tag.bdi { folder }
                                }
                            }
                            for _ in 0..<4 { Tag.td { "" } }
                        }
                    }
                    for object in objects {
                        Tag.tr {
                            Tag.th(.scope("row")) {
                                Tag.a(.href(object.address)) { Tag.bdi { object.name } }
                            }
                            Tag.td { "\(object.size)" }
                            Tag.td { Tag.bdi { object.contentType } }
                            Tag.td { object.updated }
                            Tag.td { Tag.bdi { object.uploader ?? "–" } }
                        }
                    }
                }
            }
        }
    }
}

/// The properties of an object that pages show.
struct ObjectRow: Encodable {
    let bucket: String
    let name: String
    let size: Int64
    let contentType: String
    let updated: String
    /// The account that uploaded the object; nil for administrators and unknown callers.
    let uploader: String?

    init(_ object: StoredObject) {
        bucket = object.path.bucket
        name = object.path.name
        size = object.contents.size
        contentType = object.fields.contentType ?? ObjectJSON.defaultType
        updated = ObjectJSON.time(object.updatedAt)
        uploader = object.uploader
    }

    var address: PagePath { PagePath(["objects"], [("bucket", bucket), ("name", name)]) }
}

/// An upload that is open.
struct OpenUploadRow: Encodable {
    let bucket: String
    let name: String
    let received: Int64
    let declared: Int64?
    let started: String
    let userID: String?

    init(_ upload: OpenUpload) {
        bucket = upload.path.bucket
        name = upload.path.name
        received = upload.received
        declared = upload.declared
        started = ObjectJSON.time(upload.startedAt)
        userID = upload.userID
    }

    @HTMLBuilder static func html(_ rows: [OpenUploadRow]) -> HTML {
        Tag.h2 { "Open uploads" }
        if rows.isEmpty { Tag.p { "No upload is open." } }
        if !rows.isEmpty {
            Tag.table {
                Tag.thead {
                    Tag.tr {
                        for name in ["Object", "Received bytes", "Declared bytes", "Started", "By"]
                        {
                            Tag.th(.scope("col")) { name }
                        }
                    }
                }
                Tag.tbody {
                    for row in rows {
                        Tag.tr {
                            Tag.th(.scope("row")) { Tag.bdi { "\(row.bucket)/\(row.name)" } }
                            Tag.td { "\(row.received)" }
                            Tag.td { row.declared.map { "\($0)" } ?? "unknown" }
                            Tag.td { row.started }
                            Tag.td { Tag.bdi { row.userID ?? "–" } }
                        }
                    }
                }
            }
        }
    }
}

/// The page of one object shows its metadata, and the picture if the object is a picture.
struct ObjectDetails: Page {
    let object: ObjectRow
    let generation: String
    let metageneration: String
    let created: String
    let md5Hash: String?
    let crc32c: String
    let metadata: CustomMetadata
    let tokens: Int
    private let isPicture: Bool

    init(_ object: StoredObject) {
        self.object = ObjectRow(object)
        generation = "\(object.version.generation)"
        metageneration = "\(object.version.metageneration)"
        created = ObjectJSON.time(object.createdAt)
        md5Hash = object.contents.md5.map { Base64Form.text(of: $0) }
        crc32c = Base64Form.text(of: object.contents.crcBytes)
        metadata = object.fields.custom
        tokens = object.tokens.count
        isPicture =
            self.object.contentType.hasPrefix("image/")
            && object.contents.size <= ObjectRoutes.maxPictureBytes
    }

    var title: String { object.name }
    var section: Section { .objects }

    private enum CodingKeys: String, CodingKey {
        case object, generation, metageneration, created, md5Hash, crc32c, metadata, tokens
    }

    @HTMLBuilder var body: HTML {
        Tag.p {
            Tag.a(.href(ObjectsPage.address(object.bucket, prefix: ""))) { "All objects" }
        }
        Tag.dl(.class("figures")) {
            for (name, text) in figures {
                Tag.dt { name }
                Tag.dd { Tag.bdi { text } }
            }
        }
        if isPicture {
            Tag.img(.src(picture), .alt("The picture \(object.name)"))
        }
    }

    private var picture: PagePath {
        PagePath(["picture"], [("bucket", object.bucket), ("name", object.name)])
    }

    private var figures: [(String, String)] {
        [
            ("Bucket", object.bucket), ("Bytes", "\(object.size)"), ("Type", object.contentType),
            ("Generation", generation), ("Metageneration", metageneration), ("Created", created),
            ("Changed", object.updated), ("MD5", md5Hash ?? "none"), ("CRC32C", crc32c),
            ("Download tokens", "\(tokens)"), ("Uploaded by", object.uploader ?? "unknown"),
        ] + metadata.inOrder.map { ("Metadata: \($0.name)", $0.text) }
    }
}
