#if canImport(SwiftUI)
    import ChatsCore
    import Foundation
    import SwiftUI
    import Tidemark
    import TidemarkApp
    import TidemarkImages

    /// Shows the people whom the user has blocked, on any of their devices. The list is live.
    struct BlockedView: View {
        let app: ChatsApp
        @State private var model: BlockedUsersModel?

        init(_ app: ChatsApp) { self.app = app }

        var body: some View {
            List {
                ForEach(model?.entries ?? []) { entry in
                    HStack {
                        PersonView(entry.id, entry.detail?.document?.get("name") as? String)
                        Spacer()
                        Button("Unblock") { Task { try? await model?.unblock(entry.id) } }
                    }
                }
                if let error = model?.detailsError {
                    Text(error.message).font(.caption).foregroundStyle(.secondary)
                }
            }
            .overlay {
                switch model?.phase ?? .loading {
                case .loading: ProgressView()
                case .empty: Text("Nobody is blocked.").foregroundStyle(.secondary)
                case .failed(let error): Text(error.message)
                case .fresh, .stale: EmptyView()
                }
            }
            .refreshable { await model?.refresh() }
            .navigationTitle("Blocked")
            .task { if model == nil { model = try? app.blocked() } }
        }
    }

    /// Shows a person with the picture of the person's profile.
    struct PersonView: View {
        let id: String
        let name: String?

        init(_ id: String, _ name: String?) {
            self.id = id
            self.name = name
        }

        var body: some View {
            HStack {
                TidemarkImage(user: id) { _ in Circle().fill(.quaternary) }
                    .frame(width: 36, height: 36).clipShape(.circle)
                Text(name ?? id)
            }
        }
    }
#endif
