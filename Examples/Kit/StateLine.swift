#if canImport(SwiftUI)
    public import SwiftUI

    /// Shows the state of a screen in words.
    public struct StateLine: View {
        private let state: Screen.State

        public init(state: Screen.State) { self.state = state }

        public var body: some View {
            switch state {
            case .loading: ProgressView()
            case .fresh, .quiet: EmptyView()
            case .stale(_, let reason): Label(reason, systemImage: "clock")
            case .failed(let reason, _): Label(reason, systemImage: "exclamationmark.triangle")
            case .empty(let text): ContentUnavailableView(text, systemImage: "tray")
            }
        }
    }
#endif
