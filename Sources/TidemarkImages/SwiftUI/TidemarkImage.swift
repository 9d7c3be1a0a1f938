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

        private struct ProfilesKey: EnvironmentKey {
            static var defaultValue: (any ProfilePictureSource)? { nil }
        }

        /// The source of `TidemarkImage(user:)`: the app's ``ProfilePictures``, with the pipeline
        /// that is in `\.pictures`.
        public var profilePictures: (any ProfilePictureSource)? {
            get { self[ProfilesKey.self] }
            set { self[ProfilesKey.self] = newValue }
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
        @Environment(\.profilePictures) private var profiles
        @State private var profile = ProfilePictureModel()
        private let subject: Subject
        private let fit: PictureFit
        private let label: Text?
        private let placeholder: (PictureError?) -> Placeholder

        private enum Subject: Hashable {
            case address(URL?, version: String?)
            case user(String)
        }

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
            subject = .address(url, version: version)
            self.fit = fit
            self.label = label
            self.placeholder = placeholder
        }

        /// Creates the picture of a user, from the view's `\.profilePictures`. All views of a user
        /// share one lookup, and show another picture when the user's profile gets one.
        ///
        /// - Parameters:
        ///   - user: The user's id.
        ///   - fit: The way in which the picture fits into its place.
        ///   - label: The text for VoiceOver; nil for a decorative picture.
        ///   - placeholder: The view that is shown until the picture is loaded. For a user without
        ///     a picture, the view receives ``PictureError/noPicture``.
        public init(
            user: String, fit: PictureFit = .fill, label: Text? = nil,
            @ViewBuilder placeholder: @escaping (PictureError?) -> Placeholder
        ) {
            subject = .user(user)
            self.fit = fit
            self.label = label
            self.placeholder = placeholder
        }

        public var body: some View {
            GeometryReader { place in
                let picture = picture
                let request = PictureRequest(
                    picture.url, in: place.size, scale: scale, fit: fit, version: picture.version)
                ZStack {
                    if let image = model.drawn(for: request, from: source) {
                        self.image(image).resizable()
                            .aspectRatio(contentMode: fit == .fill ? .fill : .fit)
                    } else {
                        placeholder(model.error ?? reason)
                    }
                }
                .frame(width: place.size.width, height: place.size.height)
                .clipped()
                .task(id: request) { await model.load(request, from: source) }
            }
            .task(id: subject) {
                if case .user(let user) = subject { await profile.follow(user, from: profiles) }
            }
        }

        /// The address and version of the picture; an address of nil for the placeholder alone.
        private var picture: (url: URL?, version: String?) {
            switch subject {
            case .address(let url, let version): return (url, version)
            case .user(let user):
                let picture = profile.picture(of: user, from: profiles)
                return (picture?.url, picture?.version)
            }
        }

        /// The reason why a user's address is not known.
        private var reason: PictureError? {
            if case .user = subject { profile.error } else { nil }
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

        /// Creates a decorative picture of a user, whose place is empty until the picture is
        /// loaded.
        public init(user: String, fit: PictureFit = .fill) {
            self.init(user: user, fit: fit) { _ in EmptyView() }
        }
    }
#endif
