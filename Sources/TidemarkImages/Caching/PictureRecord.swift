import Crypto
import Foundation

/// What is known of a picture whose bytes are on the disk: a file beside them.
struct PictureRecord: Hashable, Sendable, Codable {
    var address: String
    var version: String?
    /// Of the bytes: SHA-256, hexadecimal.
    var digest: String
    var byteCount: Int
    var validity: Validity

    /// What has a version is asked for by it, and never changes under it.
    func isFresh(at now: Int64) -> Bool { version != nil || validity.isFresh(at: now) }

    /// One that cannot be read, or is of something else, is none.
    init?(_ data: Data, id: PictureID) {
        guard let record = try? JSONDecoder().decode(PictureRecord.self, from: data),
            PictureID(address: record.address, version: record.version) == id,
            record.digest.utf8.count == 64
        else { return nil }
        self = record
    }

    init(
        address: String, version: String?, digest: String, byteCount: Int, validity: Validity
    ) {
        self.address = address
        self.version = version
        self.digest = digest
        self.byteCount = byteCount
        self.validity = validity
    }

    func encoded() throws -> Data { try JSONEncoder().encode(self) }

    // MARK: Names of files

    /// The same bytes again have the same name, and others another: a record never speaks of bytes that
    /// came after it.
    private func prefix(_ id: PictureID) -> String { "\(id)-\(digest.prefix(16))" }

    static func name(_ id: PictureID) -> String { "\(id).record" }
    func bodyName(_ id: PictureID) -> String { prefix(id) + ".body" }

    func smallName(_ sized: SizedID) -> String {
        prefix(sized.id) + "-\(sized.size.width)x\(sized.size.height)-\(sized.mode.rawValue).small"
    }

    /// Whether a file belongs to this record.
    func owns(_ name: String, _ id: PictureID) -> Bool {
        name == Self.name(id) || name.hasPrefix(prefix(id))
    }
}

/// A small picture as a file: a mark, its sides, a digest, its pixels.
enum SmallFile {
    private static let mark = Array("TMpx1\0\0\0".utf8)
    private static let headLength = 8 + 8 + 32
    /// Larger ones are decoded again.
    static let maximumPixelBytes = 256 << 10

    static func bytes(_ picture: Picture) -> Data {
        var data = Data(mark)
        for side in [picture.width, picture.height] {
            for shift in [0, 8, 16, 24] { data.append(UInt8(truncatingIfNeeded: side >> shift)) }
        }
        data.append(contentsOf: SHA256.hash(data: picture.pixels))
        data.append(contentsOf: picture.pixels)
        return data
    }

    /// - Returns: Nil when it is damaged.
    static func picture(_ data: [UInt8]) -> Picture? {
        guard data.count > headLength, data.starts(with: mark) else { return nil }
        func side(_ offset: Int) -> Int {
            (0..<4).reduce(0) { $0 | Int(data[offset + $1]) << (8 * $1) }
        }
        let (width, height) = (side(8), side(12))
        let sides = 1...PictureHeader.maximumSide
        guard sides.contains(width), sides.contains(height),
            data.count == headLength + 4 * width * height
        else { return nil }
        let pixels = Array(data[headLength...])
        guard SHA256.hash(data: pixels).elementsEqual(data[16..<headLength]) else { return nil }
        return Picture(size: PictureSize(width: width, height: height), pixels: pixels)
    }
}
