import Crypto
import Foundation

/// The description of a picture whose bytes are on the disk, in a file beside them.
struct PictureRecord: Hashable, Sendable, Codable {
    /// The address, or for a user's object the ``PictureRequest/key``.
    var address: String
    var version: String?
    /// The SHA-256 digest of the bytes, in hexadecimal.
    var digest: String
    var byteCount: Int
    var validity: Validity

    /// Returns true if the picture need not be checked with the server. A picture with a version is
    /// always fresh, because its bytes never change under that version.
    func isFresh(at now: Int64) -> Bool { version != nil || validity.isFresh(at: now) }

    /// Returns nil for a record that cannot be read, or that describes another picture.
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

    /// The prefix depends on the bytes: the same bytes have the same file name, and other bytes
    /// have another name. So a record never describes bytes that were stored later.
    private func prefix(_ id: PictureID) -> String { "\(id)-\(digest.prefix(16))" }

    static func name(_ id: PictureID) -> String { "\(id).record" }
    func bodyName(_ id: PictureID) -> String { prefix(id) + ".body" }

    func smallName(_ sized: SizedID) -> String {
        prefix(sized.id) + "-\(sized.size.width)x\(sized.size.height)-\(sized.mode.rawValue).small"
    }

    /// Returns true if a file belongs to this record.
    func owns(_ name: String, _ id: PictureID) -> Bool {
        name == Self.name(id) || name.hasPrefix(prefix(id))
    }
}

/// A small picture as a file: a mark, its sides, a digest, its pixels.
enum SmallFile {
    private static let mark = Array("TMpx1\0\0\0".utf8)
    private static let headLength = 8 + 8 + 32
    /// The maximum size of a stored small picture. Larger pictures are decoded again.
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

    /// - Returns: The picture; nil if the file is damaged.
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
