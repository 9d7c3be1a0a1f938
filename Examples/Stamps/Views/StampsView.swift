#if canImport(SwiftUI)
    import ExampleKit
    import Foundation
    import StampsCore
    import SwiftUI
    import TidemarkFiles
    import TidemarkImages

    /// Shows the device's data first, and the rest when it arrives.
    struct StampsView: View {
        let app: StampsAfter
        @State private var screen: Screen?

        var body: some View {
            NavigationStack {
                List {
                    if let screen {
                        StateLine(state: screen.state)
                        ForEach(screen.controls) { control in
                            if control.id == "add" { NewStampView(app: app) }
                        }
                        ForEach(Array(screen.sections.enumerated()), id: \.offset) { _, section in
                            Section(section.title ?? "") {
                                ForEach(section.rows) { row in
                                    StampRow(row: row, image: app.picture(of: row.id))
                                }
                            }
                        }
                    }
                }
                .navigationTitle(screen?.title ?? "Stamps")
                .refreshable { await app.tap("refresh", "") }
                .toolbar {
                    ForEach(buttons) { control in
                        Button(control.title) { Task { await app.tap(control.id, "") } }
                            .disabled(!control.isEnabled)
                    }
                }
            }
            .task { for await next in app.screens { screen = next } }
        }

        /// All controls but the field of a new stamp, which has a view of its own.
        private var buttons: [Control] { (screen?.controls ?? []).filter { $0.id != "add" } }
    }

    /// Adds a stamp with a photo. Both are kept on this phone at once, also without a network.
    struct NewStampView: View {
        let app: StampsAfter
        @State private var name = ""
        @State private var country = ""
        @State private var photo: FileUpload?

        var body: some View {
            Section("New stamp") {
                TextField("Name", text: $name)
                TextField("Country", text: $country)
                HStack {
                    PhotoButton(photo: $photo)
                    Spacer()
                    Button("Add") { add() }.disabled(name.isEmpty || photo == nil)
                }
            }
        }

        private func add() {
            guard let photo else { return }
            let (name, country) = (self.name, self.country)
            (self.name, self.country, self.photo) = ("", "", nil)
            Task { await app.add(name, from: country, photo: photo) }
        }
    }

    /// Shows a stamp or a figure. A skeleton has no text yet, so a placeholder text is drawn
    /// covered.
    struct StampRow: View {
        let row: Row
        /// The photograph; nil until it is loaded, then the letter is shown in its place.
        let image: TidemarkImages.Picture?

        var body: some View {
            let isSkeleton = row.kind == .skeleton
            HStack {
                if let image = image?.makeCGImage() {
                    Image(decorative: image, scale: 3).resizable().frame(width: 36, height: 36)
                        .clipShape(.rect(cornerRadius: 10))
                } else if let picture = row.picture {
                    Text(picture.text).frame(width: 36, height: 36)
                        .background(.tint.opacity(0.2), in: .rect(cornerRadius: 10))
                }
                VStack(alignment: .leading) {
                    Text(isSkeleton ? "Not yet known" : row.title)
                    if let detail = row.detail { Text(detail).font(.caption) }
                }
                Spacer()
                if let trailing = row.trailing { Text(trailing).foregroundStyle(.secondary) }
            }
            .opacity(row.isPending ? 0.6 : 1)
            .redacted(reason: isSkeleton ? .placeholder : [])
        }
    }
#endif
