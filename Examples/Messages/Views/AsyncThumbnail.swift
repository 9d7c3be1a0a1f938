#if canImport(SwiftUI)
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
                if let image = picture?.makeCGImage() {
                    Image(image, scale: 2, label: Text(conversation.title)).resizable()
                } else {
                    Circle().fill(.quaternary)
                }
            }
            .frame(width: side, height: side).clipShape(.circle)
            .task { picture = await thumbnails?.picture(of: conversation) }
        }
    }
#endif
