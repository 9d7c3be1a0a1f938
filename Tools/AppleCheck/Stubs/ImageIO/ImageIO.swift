// https://developer.apple.com/documentation/imageio
@_exported public import CoreFoundationStub
public import CoreGraphics
public import Foundation
import Synchronization

/// https://developer.apple.com/documentation/imageio/cgimagesource
public final class CGImageSource {
    fileprivate let data: CFData
    fileprivate init(_ data: CFData) { self.data = data }
}

/// https://developer.apple.com/documentation/imageio/cgimagesourcestatus
public enum CGImageSourceStatus: Int32, Sendable {
    case statusUnexpectedEOF = -5
    case statusInvalidData = -4
    case statusUnknownType = -3
    case statusReadingHeader = -2
    case statusIncomplete = -1
    case statusComplete = 0
}

// https://developer.apple.com/documentation/imageio/image-source-option-dictionary-keys
public let kCGImageSourceCreateThumbnailFromImageAlways: CFString =
    "kCGImageSourceCreateThumbnailFromImageAlways"
public let kCGImageSourceCreateThumbnailWithTransform: CFString =
    "kCGImageSourceCreateThumbnailWithTransform"
public let kCGImageSourceThumbnailMaxPixelSize: CFString = "kCGImageSourceThumbnailMaxPixelSize"

/// https://developer.apple.com/documentation/imageio/cgimagesourcecreatewithdata(_:_:)
public func CGImageSourceCreateWithData(
    _ data: CFData, _ options: CFDictionary?
) -> CGImageSource? {
    data.isEmpty ? nil : CGImageSource(data)
}

/// https://developer.apple.com/documentation/imageio/cgimagesourcegetstatusatindex(_:_:)
public func CGImageSourceGetStatusAtIndex(
    _ isrc: CGImageSource, _ index: Int
) -> CGImageSourceStatus {
    StubPictures.picture(isrc.data) == nil ? .statusIncomplete : .statusComplete
}

/// Returns a thumbnail of at most the size in the options, and at most the size of the picture.
///
/// https://developer.apple.com/documentation/imageio/cgimagesourcecreatethumbnailatindex(_:_:_:)
public func CGImageSourceCreateThumbnailAtIndex(
    _ isrc: CGImageSource, _ index: Int, _ options: CFDictionary?
) -> CGImage? {
    guard let picture = StubPictures.picture(isrc.data),
        options?[kCGImageSourceCreateThumbnailFromImageAlways] as? Bool == true,
        options?[kCGImageSourceCreateThumbnailWithTransform] as? Bool == true,
        let longest = options?[kCGImageSourceThumbnailMaxPixelSize] as? Int
    else { return nil }
    StubPictures.asked(longest)
    let scale = min(1, Double(longest) / Double(max(picture.width, picture.height)))
    let width = max(1, Int((Double(picture.width) * scale).rounded(.down)))
    let height = max(1, Int((Double(picture.height) * scale).rounded(.down)))
    var pixels: [UInt8] = []
    for y in 0..<height {
        for x in 0..<width {
            pixels += picture.pixel(x * picture.width / width, y * picture.height / height)
        }
    }
    guard let space = CGColorSpace(name: CGColorSpace.sRGB),
        let provider = CGDataProvider(data: CFData(pixels))
    else { return nil }
    return CGImage(
        width: width, height: height, bitsPerComponent: 8, bitsPerPixel: 32,
        bytesPerRow: 4 * width, space: space, bitmapInfo: CGBitmapInfo(rawValue: 1),
        provider: provider, decode: nil, shouldInterpolate: true, intent: .defaultIntent)
}

/// The decoded pictures that a test has set for files.
public enum StubPictures {
    /// An upright picture, like the transformed thumbnail.
    public struct Picture: Sendable {
        public var width: Int
        public var height: Int
        public var pixel: @Sendable (_ x: Int, _ y: Int) -> [UInt8]

        public init(
            width: Int, height: Int, pixel: @escaping @Sendable (_ x: Int, _ y: Int) -> [UInt8]
        ) {
            (self.width, self.height, self.pixel) = (width, height, pixel)
        }
    }

    private static let known = Mutex<[CFData: Picture]>([:])
    private static let longest = Mutex<[Int]>([])

    public static func add(_ picture: Picture, as bytes: [UInt8]) {
        known.withLock { $0[CFData(bytes)] = picture }
    }
    /// The longest sides of the requested thumbnails.
    public static var longestSides: [Int] { longest.withLock { $0 } }

    fileprivate static func picture(_ data: CFData) -> Picture? { known.withLock { $0[data] } }
    fileprivate static func asked(_ side: Int) { longest.withLock { $0.append(side) } }
}
