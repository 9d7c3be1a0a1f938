#if canImport(CoreGraphics)
    public import CoreGraphics
    import Foundation

    extension Picture {
        /// The picture for a view: `Image(decorative: image, scale: 2)`, `UIImage(cgImage: image)`.
        ///
        /// This copies the pixels once. Nil only if the system has no memory for it.
        public func makeCGImage() -> CGImage? {
            guard let space = CGColorSpace(name: CGColorSpace.sRGB),
                let provider = CGDataProvider(data: Data(pixels) as CFData)
            else { return nil }
            return CGImage(
                width: width, height: height, bitsPerComponent: 8, bitsPerPixel: 32,
                bytesPerRow: 4 * width, space: space,
                bitmapInfo: CGBitmapInfo(rawValue: CGImageAlphaInfo.premultipliedLast.rawValue),
                provider: provider, decode: nil, shouldInterpolate: true, intent: .defaultIntent)
        }
    }
#endif
