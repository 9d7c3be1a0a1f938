/// The facts in the first bytes of a picture, so limits apply before anything is decoded.
///
/// Reading a header decodes no pixels, never traps on damaged bytes, and looks at a bounded number
/// of segments.
public struct PictureHeader: Hashable, Sendable {
    public let format: PictureFormat
    /// The size in the file, before the orientation is applied.
    public let stored: PictureSize
    public let orientation: PictureOrientation
    /// The memory for the whole picture that a decoder needs beside its output, in bytes: nothing
    /// for a JPEG of one scan, all coefficients for a progressive JPEG, all pixels for a PNG.
    public let wholeBytes: Int

    /// The size as shown, after the orientation is applied.
    public var size: PictureSize { orientation.isTransposed ? stored.transposed : stored }

    /// The maximum side of a picture, which is the largest that JPEG can state.
    public static let maximumSide = 65_535
    /// The maximum number of parts before the pixels. A file with more is damaged.
    static let maximumSegments = 1_000

    /// The reason why there is no header.
    public enum Problem: Error, Hashable, Sendable {
        /// The bytes are valid so far, but incomplete.
        case needsMoreBytes
        case notAPicture
        /// The bytes contradict themselves.
        case damaged
        /// The picture is of a kind that is not decoded here.
        case unsupported(String)
    }

    init(
        _ format: PictureFormat, width: Int, height: Int, orientation: PictureOrientation = .up,
        wholeBytes: Int
    ) throws(Problem) {
        let sides = 1...Self.maximumSide
        if width < 1 || height < 1 { throw .damaged }
        guard sides.contains(width), sides.contains(height) else {
            throw .unsupported("pictures of \(width)×\(height)")
        }
        self.format = format
        stored = PictureSize(width: width, height: height)
        self.orientation = orientation
        self.wholeBytes = wholeBytes
    }

    /// - Parameter bytes: A file, or its beginning. A few hundred bytes are usually enough; large
    ///   previews or colour profiles need some hundred thousand.
    public init(_ bytes: [UInt8]) throws(Problem) {
        let header = bytes.withUnsafeBytes { bytes in
            Result { () throws(Problem) in try PictureHeader(bytes) }
        }
        self = try header.get()
    }

    init(_ bytes: UnsafeRawBufferPointer) throws(Problem) {
        let reader = HeaderReader(bytes)
        switch PictureFormat(firstBytes: bytes.prefix(PictureFormat.signatureLength)) {
        case .jpeg: self = try JPEGHeader.read(reader)
        case .png: self = try PNGHeader.read(reader)
        case .webP: self = try WebPHeader.read(reader)
        case nil:
            throw PictureFormat.mayFollow(bytes.prefix(PictureFormat.signatureLength))
                ? .needsMoreBytes : .notAPicture
        }
    }
}

/// Reads bytes by offset, and never past their end.
struct HeaderReader {
    private let bytes: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    var count: Int { bytes.count }

    func byte(_ offset: Int) throws(PictureHeader.Problem) -> Int {
        guard offset >= 0, offset < bytes.count else { throw .needsMoreBytes }
        return Int(bytes[offset])
    }

    /// Reads a number whose highest byte is first.
    func big(_ offset: Int, _ length: Int) throws(PictureHeader.Problem) -> Int {
        var value = 0
        for index in 0..<length { value = value << 8 | (try byte(offset + index)) }
        return value
    }

    /// Reads a number whose lowest byte is first.
    func little(_ offset: Int, _ length: Int) throws(PictureHeader.Problem) -> Int {
        var value = 0
        for index in (0..<length).reversed() { value = value << 8 | (try byte(offset + index)) }
        return value
    }

    func has(_ text: StaticString, at offset: Int) throws(PictureHeader.Problem) -> Bool {
        var isSame = true
        for index in 0..<text.utf8CodeUnitCount {
            let wanted = Int(text.utf8Start[index])
            if try byte(offset + index) != wanted { isSame = false }
        }
        return isSame
    }
}
