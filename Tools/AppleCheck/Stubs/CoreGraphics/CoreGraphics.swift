// https://developer.apple.com/documentation/coregraphics
@_exported public import CoreFoundationStub
public import Foundation

/// https://developer.apple.com/documentation/coregraphics/cgcolorspace
public final class CGColorSpace {
    public static let sRGB: CFString = "kCGColorSpaceSRGB"
    public init?(name: CFString) { if name != Self.sRGB { return nil } }
}

/// https://developer.apple.com/documentation/coregraphics/cgimagealphainfo
public enum CGImageAlphaInfo: UInt32, Sendable {
    case none, premultipliedLast, premultipliedFirst, last, first, noneSkipLast, noneSkipFirst
    case alphaOnly
}

/// https://developer.apple.com/documentation/coregraphics/cgbitmapinfo
public struct CGBitmapInfo: OptionSet, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }
}

/// https://developer.apple.com/documentation/coregraphics/cgcolorrenderingintent
public enum CGColorRenderingIntent: Int32, Sendable { case defaultIntent }

/// https://developer.apple.com/documentation/coregraphics/cginterpolationquality
public enum CGInterpolationQuality: Int32, Sendable {
    case `default`, none, low, high, medium
}

/// https://developer.apple.com/documentation/coregraphics/cgdataprovider
public final class CGDataProvider {
    public let data: CFData?
    public init?(data: CFData) { self.data = data }
}

/// https://developer.apple.com/documentation/coregraphics/cgimage
public final class CGImage {
    public let width: Int
    public let height: Int
    public let bytesPerRow: Int
    public let dataProvider: CGDataProvider?

    /// https://developer.apple.com/documentation/coregraphics/cgimage/
    /// init(width:height:bitspercomponent:bitsperpixel:bytesperrow:space:bitmapinfo:provider:
    /// decode:shouldinterpolate:intent:)
    public init?(
        width: Int, height: Int, bitsPerComponent: Int, bitsPerPixel: Int, bytesPerRow: Int,
        space: CGColorSpace, bitmapInfo: CGBitmapInfo, provider: CGDataProvider,
        decode: UnsafePointer<CGFloat>?, shouldInterpolate: Bool, intent: CGColorRenderingIntent
    ) {
        guard width > 0, height > 0, bitsPerComponent == 8, bitsPerPixel == 32,
            bytesPerRow >= 4 * width, bitmapInfo.rawValue == 1,
            (provider.data?.count ?? 0) >= bytesPerRow * height
        else { return nil }
        self.width = width
        self.height = height
        self.bytesPerRow = bytesPerRow
        dataProvider = provider
    }

    fileprivate func pixel(_ x: Int, _ y: Int) -> [UInt8] {
        let data = dataProvider!.data!
        let start = data.startIndex + y * bytesPerRow + 4 * x
        return Array(data[start..<start + 4])
    }
}

/// https://developer.apple.com/documentation/coregraphics/cgcontext
public final class CGContext {
    private let memory: UnsafeMutableRawPointer
    private let width: Int
    private let height: Int
    private let bytesPerRow: Int
    public var interpolationQuality = CGInterpolationQuality.default

    /// https://developer.apple.com/documentation/coregraphics/cgcontext/
    /// init(data:width:height:bitspercomponent:bytesperrow:space:bitmapinfo:)
    public init?(
        data: UnsafeMutableRawPointer?, width: Int, height: Int, bitsPerComponent: Int,
        bytesPerRow: Int, space: CGColorSpace, bitmapInfo: UInt32
    ) {
        guard let data, width > 0, height > 0, bitsPerComponent == 8, bytesPerRow >= 4 * width,
            bitmapInfo == CGImageAlphaInfo.premultipliedLast.rawValue
        else { return nil }
        (memory, self.width, self.height, self.bytesPerRow) = (data, width, height, bytesPerRow)
    }

    /// Draws the nearest pixel at each place. The rectangle's origin is its lower left corner, and
    /// the memory's first row is the uppermost row.
    ///
    /// https://developer.apple.com/documentation/coregraphics/cgcontext/draw(_:in:bytiling:)
    public func draw(_ image: CGImage, in rect: CGRect, byTiling: Bool = false) {
        for row in 0..<height {
            for column in 0..<width {
                let across = (Double(column) + 0.5 - rect.minX) / rect.width
                let down = (rect.maxY - (Double(height - row) - 0.5)) / rect.height
                guard (0..<1).contains(across), (0..<1).contains(down) else { continue }
                let pixel = image.pixel(
                    Int(across * Double(image.width)), Int(down * Double(image.height)))
                for (index, byte) in pixel.enumerated() {
                    memory.storeBytes(
                        of: byte, toByteOffset: row * bytesPerRow + 4 * column + index,
                        as: UInt8.self)
                }
            }
        }
    }
}
