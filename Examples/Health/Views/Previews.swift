#if canImport(SwiftUI) && canImport(TidemarkTesting) && DEBUG
    import Foundation
    import HealthCore
    import SwiftUI
    import TidemarkHealth
    import TidemarkTesting

    private struct PreviewApp: View {
        @State private var app: HealthApp?

        var body: some View {
            NavigationStack {
                if let app { HealthView(app) }
            }
            .task {
                guard let local = try? LocalFirestore.start(), let client = try? local.firestore()
                else { return }
                let folder = FileManager.default.temporaryDirectory.appending(path: "preview").path
                app = try? HealthApp(
                    folder: folder, source: ScriptedHealthSource(), firestore: client, user: "ada")
            }
        }
    }

    #Preview("Health") { PreviewApp() }
#endif
