public import Foundation

extension Picture {
    /// Decodes a picture that is a file on this device, at the size at which it is shown.
    ///
    /// The header is read first, and the limits are checked before a pixel is decoded. The result
    /// is upright and in sRGB. Nothing is cached, and no picture is enlarged. The decoding runs on
    /// the calling thread. It takes less than a millisecond for a small picture, and some hundred
    /// milliseconds for a camera's. Call it from a task outside the main actor.
    ///
    /// - Parameters:
    ///   - file: A JPEG, PNG or WebP file. Its contents decide the format.
    ///   - size: The box of the view, in pixels; no side is zero.
    ///   - mode: The way in which the picture fits into the box.
    ///   - limits: The limits beyond which a picture is refused.
    /// - Throws: ``PictureError``: `notFound` if the file cannot be read, `tooManyBytes`,
    ///   `tooManyPixels` or `tooMuchMemory` beyond the limits, and `notAPicture`, `damaged` or
    ///   `unsupported` for contents that cannot be decoded.
    public init(
        contentsOf file: URL, size: PictureSize, mode: PictureFit = .fill,
        limits: PictureLimits = PictureLimits()
    ) throws(PictureError) {
        guard let handle = try? FileHandle(forReadingFrom: file) else { throw .notFound }
        defer { try? handle.close() }
        // A byte beyond the limit shows that there are too many bytes, without a look at the file's
        // size.
        guard let data = try? handle.read(upToCount: limits.maximumBytes + 1) else {
            throw .notFound
        }
        if data.count > limits.maximumBytes { throw .tooManyBytes(nil) }
        try self.init(decoding: [UInt8](data), size: size, mode: mode, limits: limits)
    }

    /// Decodes the bytes of a picture, as ``init(contentsOf:size:mode:limits:)`` does.
    public init(
        decoding bytes: [UInt8], size: PictureSize, mode: PictureFit = .fill,
        limits: PictureLimits = PictureLimits()
    ) throws(PictureError) {
        let result = bytes.withUnsafeBytes { bytes in
            Result { () throws(PictureError) in
                try PictureDecoding.picture(bytes, into: size, mode, limits: limits)
            }
        }
        self = try result.get()
    }
}
