#if canImport(SwiftUI) && canImport(PhotosUI)
    import Foundation
    import PhotosUI
    public import SwiftUI
    public import TidemarkFiles

    /// Chooses a photo. A format that other phones do not show is converted to JPEG.
    public struct PhotoButton: View {
        @Binding private var photo: FileUpload?
        @State private var item: PhotosPickerItem?

        public init(photo: Binding<FileUpload?>) { _photo = photo }

        public var body: some View {
            PhotosPicker(
                "Photo", selection: $item, matching: .images, preferredItemEncoding: .compatible
            )
            .task(id: item) {
                guard let item else { return }
                let bytes = try? await item.loadTransferable(type: Data.self)
                photo = bytes.flatMap { FileUpload.photo($0) }
                self.item = nil
            }
        }
    }
#endif
