#if canImport(SwiftUI)
    import ChatsCore
    import SwiftUI

    /// Finds words in the messages on this device, while the user types.
    struct MessageSearchView: View {
        let app: ChatsApp
        @State private var search: MessageSearchModel?
        @State private var text = ""

        init(_ app: ChatsApp) { self.app = app }

        var body: some View {
            List {
                if let problem = search?.problem { Text(problem) }
                ForEach(search?.found ?? []) { found in
                    VStack(alignment: .leading) {
                        Text(found.message.author).font(.headline)
                        Text(found.message.text).lineLimit(2).foregroundStyle(.secondary)
                    }
                }
            }
            .searchable(text: $text)
            .onChange(of: text) { search?.search(text) }
            .navigationTitle("Messages")
            .task { if search == nil { search = app.messageSearch() } }
        }
    }
#endif
