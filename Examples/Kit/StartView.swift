#if canImport(SwiftUI)
    public import SwiftUI
    import Tidemark
    import TidemarkApp

    /// Opens the app's data, and shows the app. If the data cannot be opened, the view shows the
    /// reason and offers to try again.
    public struct StartView<Value, Content: View>: View {
        private let open: @MainActor () throws -> Value
        private let content: (Value) -> Content
        @State private var result: Result<Value, any Error>?

        /// - Parameters:
        ///   - open: Opens the data on this device, without a request to a server.
        ///   - content: The app.
        public init(
            _ open: @escaping @MainActor () throws -> Value,
            @ViewBuilder content: @escaping (Value) -> Content
        ) {
            self.open = open
            self.content = content
        }

        public var body: some View {
            switch result {
            case nil: ProgressView().task { start() }
            case .success(let value): content(value)
            case .failure(let error):
                ContentUnavailableView {
                    Text(message(of: error))
                } actions: {
                    Button("Try again") { start() }
                }
            }
        }

        private func start() { result = Result { try open() } }

        private func message(of error: any Error) -> String {
            (error as? FirestoreError)?.message ?? LaunchProblem.localDataFailed.message
        }
    }
#endif
