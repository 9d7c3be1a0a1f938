#if canImport(SwiftUI)
    import ChatsCore
    import Foundation
    import SwiftUI
    import TidemarkApp

    /// Shows the documents that exist once per user. A row changes when its value does.
    struct StatesView: View {
        let app: ChatsApp
        @State private var model: StatesModel?

        init(_ app: ChatsApp) { self.app = app }

        var body: some View {
            List {
                ForEach(model?.rows ?? []) { row in
                    LabeledContent(row.id.rawValue.capitalized) { value(of: row) }
                }
                if let model, let problem = model.problem {
                    Text(problem)
                    Button("Try again") { model.retry() }
                }
            }
            .navigationTitle("Status")
            .task { if model == nil { model = app.states() } }
        }

        @ViewBuilder private func value(of row: StatesModel.Row) -> some View {
            switch row.state {
            case .unknown: ProgressView()
            case .missing: Text("None yet")
            case .value(let value): Text(value.state)
            }
        }
    }
#endif
