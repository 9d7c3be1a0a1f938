#if canImport(SwiftUI)
    import ChatsCore
    import ExampleKit
    import Foundation
    import SwiftUI
    import TidemarkFiles
    import TidemarkImages

    /// Shows a message and its photo. A message that waits is paler.
    struct MessageView: View {
        let message: ChatMessage
        let isWaiting: Bool
        let model: ChatModel

        init(_ message: ChatMessage, isWaiting: Bool, in model: ChatModel) {
            self.message = message
            self.isWaiting = isWaiting
            self.model = model
        }

        var body: some View {
            VStack(alignment: .leading) {
                if message.photo != nil || model.upload(of: message) != nil {
                    PhotoView(message: message, isWaiting: isWaiting, model: model)
                }
                if !message.text.isEmpty { Text(message.text) }
                if let upload = model.upload(of: message) {
                    UploadView(upload: upload, model: model)
                }
            }
            .opacity(isWaiting ? 0.6 : 1)
        }
    }

    /// Shows a photo: the copy on this phone at once, or the photo in Storage.
    struct PhotoView: View {
        /// The size in points.
        private static let (width, height) = (220.0, 160.0)

        let message: ChatMessage
        let isWaiting: Bool
        let model: ChatModel
        @State private var copy: TidemarkImages.Picture?
        /// The `gs://` address.
        @State private var object: URL?
        @Environment(\.displayScale) private var scale

        var body: some View {
            ZStack {
                if let image = copy?.makeCGImage() {
                    Image(decorative: image, scale: scale).resizable()
                        .aspectRatio(contentMode: .fill)
                } else {
                    TidemarkImage(url: object) { _ in
                        RoundedRectangle(cornerRadius: 12).fill(.quaternary)
                    }
                }
            }
            .frame(width: Self.width, height: Self.height)
            .clipShape(.rect(cornerRadius: 12))
            .task(id: isWaiting) { await load() }
        }

        private func load() async {
            switch await model.photo(of: message) {
            case .onPhone(let file):
                let size = PictureSize(
                    width: Int(Self.width * scale), height: Int(Self.height * scale))
                copy = await AppPhotos.decode(file, size: size)
            case .inStorage(let url): object = url
            case nil: break
            }
        }
    }

    /// Shows how far a photo is, and what the user can do about a photo that was refused.
    struct UploadView: View {
        let upload: WaitingFile
        let model: ChatModel

        var body: some View {
            switch upload.state {
            case .waitingForNetwork:
                Text("The photo waits for Wi-Fi.").font(.caption)
            case .waiting, .waitingForDocument, .uploading:
                ProgressView(value: Double(upload.sent), total: Double(max(1, upload.size))) {
                    Text("Sending the photo").font(.caption)
                }
            case .failed:
                Text("The photo could not be sent.").foregroundStyle(.red)
                HStack {
                    Button("Try again") { Task { await model.retry(upload) } }
                    Button("Discard", role: .destructive) {
                        Task { await model.discard(upload) }
                    }
                }
            case .uploaded, .documentRefused: EmptyView()
            }
        }
    }
#endif
