#if canImport(SwiftUI)
    import CoreGraphics
    public import Foundation
    public import SwiftUI

    extension EnvironmentValues {
        private struct PicturesKey: EnvironmentKey {
            static var defaultValue: (any PictureSource)? { nil }
        }

        /// The source of `TidemarkImage`: the app's ``ImagePipeline``, a single one for all views.
        public var pictures: (any PictureSource)? {
            get { self[PicturesKey.self] }
            set { self[PicturesKey.self] = newValue }
        }
    }

    /// A picture from the network, decoded at the size at which it is shown, and loaded from
    /// memory, disk or the view's `\.pictures`.
    ///
    /// The view takes the space that it is offered: give it a frame. A picture in memory is shown
    /// with the first frame. When the view disappears, its download is cancelled, unless another
    /// view wants the picture.
    public struct TidemarkImage<Placeholder: View>: View {
        @Environment(\.pictures) private var source
        @Environment(\.displayScale) private var scale
        @State private var model = PictureModel<CGImage> { $0.makeCGImage() }
        private let url: URL?
        private let version: String?
        private let fit: PictureFit
        private let label: Text?
        private let placeholder: (PictureError?) -> Placeholder

        /// - Parameters:
        ///   - url: The address of the picture; nil for the placeholder alone.
        ///   - version: The version of the picture, if it is known: see ``PictureRequest/version``.
        ///   - fit: The way in which the picture fits into its place.
        ///   - label: The text for VoiceOver; nil for a decorative picture.
        ///   - placeholder: The view that is shown until the picture is loaded. If the picture
        ///     cannot be loaded, the view receives the reason.
        public init(
            url: URL?, version: String? = nil, fit: PictureFit = .fill, label: Text? = nil,
            @ViewBuilder placeholder: @escaping (PictureError?) -> Placeholder
        ) {
            self.url = url
            self.version = version
            self.fit = fit
            self.label = label
            self.placeholder = placeholder
        }

        public var body: some View {
            GeometryReader { place in
                let request = PictureRequest(
                    url, in: place.size, scale: scale, fit: fit, version: version)
                ZStack {
                    if let image = model.drawn(for: request, from: source) {
                        self.image(image).resizable()
                            .aspectRatio(contentMode: fit == .fill ? .fill : .fit)
                    } else {
                        placeholder(model.error)
                    }
                }
                .frame(width: place.size.width, height: place.size.height)
                .clipped()
                .task(id: request) { await model.load(request, from: source) }
            }
        }

        private func image(_ image: CGImage) -> Image {
            label.map { Image(image, scale: scale, label: $0) }
                ?? Image(decorative: image, scale: scale)
        }
    }

    extension TidemarkImage where Placeholder == EmptyView {
        /// Creates a decorative picture, whose place is empty until the picture is loaded.
        public init(url: URL?, fit: PictureFit = .fill) {
            self.init(url: url, fit: fit) { _ in EmptyView() }
        }
    }
#endif
