/// What a picture is written in, by its first bytes: names and content types lie.
public enum PictureFormat: String, Sendable, CaseIterable {
    case jpeg, png, webP

    /// As many bytes tell a format.
    static let signatureLength = 12

    /// - Parameter bytes: A file's first bytes, ``signatureLength`` of them or all there are.
    /// - Returns: Nil for anything else than a JPEG, a PNG or a WebP.
    public init?(firstBytes bytes: some Collection<UInt8>) {
        let bytes = Array(bytes.prefix(Self.signatureLength))
        if bytes.starts(with: [0xFF, 0xD8, 0xFF]) {
            self = .jpeg
        } else if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
            self = .png
        } else if bytes.count == Self.signatureLength, bytes.starts(with: Array("RIFF".utf8)),
            bytes[8...].elementsEqual(Array("WEBP".utf8))
        {
            self = .webP
        } else {
            return nil
        }
    }
}
