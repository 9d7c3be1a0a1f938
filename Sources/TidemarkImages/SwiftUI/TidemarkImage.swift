#if canImport(SwiftUI)
    import CoreGraphics
    public import Foundation
    public import SwiftUI

    extension EnvironmentValues {
        private struct PicturesKey: EnvironmentKey {
            static var defaultValue: (any PictureSource)? { nil }
        }

        /// Where `TidemarkImage` loads from: the app's ``ImagePipeline``, one for all views.
        public var pictures: (any PictureSource)? {
            get { self[PicturesKey.self] }
            set { self[PicturesKey.self] = newValue }
        }
    }

    /// A picture of the network, decoded at the size of its place, from memory, disk or the view's
    /// `\.pictures`.
    ///
    /// It takes the space that it is offered: give it a frame. What is in memory is there with the first
    /// frame. When the view goes, so does the download, unless another view wants it.
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
        ///   - url: Of the picture; nil for the placeholder alone.
        ///   - version: Of the picture, if it is known: see ``PictureRequest/version``.
        ///   - fit: How it fits into its place.
        ///   - label: What is read out; nil for a picture that only decorates.
        ///   - placeholder: What is shown until it is there, and when it cannot be loaded, then with the
        ///     reason.
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
        /// A picture that decorates, with nothing in its place until it is there.
        public init(url: URL?, fit: PictureFit = .fill) {
            self.init(url: url, fit: fit) { _ in EmptyView() }
        }
    }
#endif
