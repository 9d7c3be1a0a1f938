public import Foundation

extension Picture {
    /// Decodes a picture that is a file on this device, at the size at which it is shown.
    ///
    /// The header is read first, and the limits apply before a pixel is decoded. The picture is turned
    /// upright and in sRGB. Nothing is cached, and no picture is made larger than it is. It works on the
    /// thread that calls, from under a millisecond for a small picture to some hundred milliseconds for
    /// one of a camera: call it from a task that is not on the main actor.
    ///
    /// - Parameters:
    ///   - file: A JPEG, PNG or WebP, by what is in it.
    ///   - size: The box of the view, in pixels; no side is zero.
    ///   - mode: How the picture fits into the box.
    ///   - limits: What is refused.
    /// - Throws: ``PictureError``: `notFound` if the file cannot be read, `tooManyBytes`,
    ///   `tooManyPixels` or `tooMuchMemory` beyond the limits, and `notAPicture`, `damaged` or
    ///   `unsupported` by what is in it.
    public init(
        contentsOf file: URL, size: PictureSize, mode: PictureFit = .fill,
        limits: PictureLimits = PictureLimits()
    ) throws(PictureError) {
        guard let handle = try? FileHandle(forReadingFrom: file) else { throw .notFound }
        defer { try? handle.close() }
        // One byte more than is allowed says that there are too many, whatever the file is.
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
