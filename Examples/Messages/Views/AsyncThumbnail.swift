#if canImport(SwiftUI)
    import CoreGraphics
    import Foundation
    import MessagesCore
    import SwiftUI
    import TidemarkImages

    extension EnvironmentValues {
        /// Of the app: one for all rows.
        @Entry var thumbnails: Thumbnails?
    }

    /// The picture of a conversation, decoded at the size of its place.
    struct AsyncThumbnail: View {
        let conversation: Conversation
        @Environment(\.thumbnails) private var thumbnails
        @State private var picture: Picture?

        init(_ conversation: Conversation) { self.conversation = conversation }

        var body: some View {
            let side = CGFloat(Thumbnails.side)
            Group {
                if let image = picture?.cgImage {
                    Image(image, scale: 2, label: Text(conversation.title)).resizable()
                } else {
                    Circle().fill(.quaternary)
                }
            }
            .frame(width: side, height: side).clipShape(.circle)
            .task { picture = await thumbnails?.picture(of: conversation) }
        }
    }

    extension Picture {
        /// Its pixels are RGBA with premultiplied alpha, row by row.
        var cgImage: CGImage? {
            guard let provider = CGDataProvider(data: Data(pixels) as CFData) else { return nil }
            return CGImage(
                width: width, height: height, bitsPerComponent: 8, bitsPerPixel: 32,
                bytesPerRow: width * 4, space: CGColorSpaceCreateDeviceRGB(),
                bitmapInfo: CGBitmapInfo(rawValue: CGImageAlphaInfo.premultipliedLast.rawValue),
                provider: provider, decode: nil, shouldInterpolate: true, intent: .defaultIntent)
        }
    }
#endif
