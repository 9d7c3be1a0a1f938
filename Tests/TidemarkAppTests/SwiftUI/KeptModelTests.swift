import Testing

@testable import TidemarkApp

@MainActor struct `A model of a view's property` {
    private final class Model {}

    @Test func `is made once for what it shows`() {
        let kept = KeptModel<String, Model>()
        var made = 0
        func model(_ source: String) -> Model {
            kept.model(of: source) {
                made += 1
                return Model()
            }
        }
        let first = model("a")
        #expect(model("a") === first)
        #expect(made == 1)
        weak var gone: Model?
        do {
            let other = model("b")
            gone = other
            #expect(other !== first)
        }
        #expect(gone != nil)
        _ = model("a")
        #expect(made == 3)
        #expect(gone == nil, "only the last one is kept")
    }
}
