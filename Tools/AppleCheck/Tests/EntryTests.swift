import SwiftUI
import Testing

extension EnvironmentValues {
    @Entry var note: String?
    @Entry var noteCount: Int = 3
}

/// Tests the stubs of macros and bindings, with which the views of the example apps are checked.
@MainActor @Suite(.timeLimit(.minutes(1))) struct `An entry and a binding` {
    private struct Note: View {
        @Environment(\.note) private var note
        @Environment(\.noteCount) private var count
        var body: some View { Text("\(note ?? "none") \(String(count))") }
    }

    private struct Writer: View {
        @State private var text = "before"
        var body: some View {
            let binding = $text
            Text(binding.wrappedValue).task(id: 0) { binding.wrappedValue = "after" }
        }
    }

    private let host = StubHost()

    @Test func `have the value that the entry is declared with, until a view sets another`() {
        host.show(Note())
        #expect(host.drawn == ["none 3"])
        host.show(Note().environment(\.note, "some").environment(\.noteCount, 4))
        #expect(host.drawn == ["some 4"])
    }

    @Test func `write into the state of a view, which is drawn again`() async {
        host.show(Writer())
        while host.drawn != ["after"] { await Task.yield() }
    }
}
