/// The format of a picture, read from its first bytes, because names and content types can be
/// wrong.
public enum PictureFormat: String, Sendable, CaseIterable {
    case jpeg, png, webP

    /// The number of bytes that identify a format.
    static let signatureLength = 12

    /// - Parameter bytes: A file's first 12 bytes, or all of a shorter file.
    /// - Returns: Nil if the file is not a JPEG, PNG or WebP.
    public init?(firstBytes bytes: some Collection<UInt8>) {
        let bytes = Array(bytes.prefix(Self.signatureLength))
        if bytes.starts(with: Self.jpegStart) {
            self = .jpeg
        } else if bytes.starts(with: Self.pngStart) {
            self = .png
        } else if bytes.count == Self.signatureLength, bytes.starts(with: Array("RIFF".utf8)),
            bytes[8...].elementsEqual(Array("WEBP".utf8))
        {
            self = .webP
        } else {
            return nil
        }
    }

    private static let jpegStart: [UInt8] = [0xFF, 0xD8, 0xFF]
    private static let pngStart: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    /// Returns true if bytes that are too short to identify a format can still become a picture.
    static func mayFollow(_ bytes: some Collection<UInt8>) -> Bool {
        let bytes = Array(bytes)
        if bytes.count >= signatureLength { return false }
        let webP = Array("RIFF".utf8)
        return [jpegStart, pngStart, webP].contains { start in
            let shared = min(start.count, bytes.count)
            return start[..<shared].elementsEqual(bytes[..<shared])
        }
    }
}
