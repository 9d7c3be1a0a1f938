#if canImport(SwiftUI)
    import ChatsCore
    import SwiftUI
    import Tidemark
    import TidemarkApp

    /// Shows the users of the last 24 hours, the most recently seen first.
    struct OnlineView: View {
        let app: ChatsApp
        @State private var model: OnlineUsersModel?

        init(_ app: ChatsApp) { self.app = app }

        var body: some View {
            List {
                ForEach(model?.users ?? []) { user in
                    VStack(alignment: .leading) {
                        Text(user.document.documentID)
                        if model?.online.contains(user) == true {
                            Text("Online").font(.caption).foregroundStyle(.secondary)
                        }
                    }
                }
            }
            .overlay {
                switch model?.phase ?? .loading {
                case .loading: ProgressView()
                case .empty: Text("Nobody was here today.").foregroundStyle(.secondary)
                case .failed(let error): Text(error.message)
                case .fresh, .stale: EmptyView()
                }
            }
            .refreshable { await model?.refresh() }
            .navigationTitle("Online")
            .task { if model == nil { model = try? app.online() } }
        }
    }
#endif
