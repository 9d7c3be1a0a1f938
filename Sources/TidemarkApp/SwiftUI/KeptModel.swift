/// The model of a view's property: created at its first use, and again when the view shows another
/// source.
@MainActor
final class KeptModel<Source: Equatable, Model> {
    private var kept: (source: Source, model: Model)?

    nonisolated init() {}

    func model(of source: Source, _ make: () -> Model) -> Model {
        if let kept, kept.source == source { return kept.model }
        let model = make()
        kept = (source, model)
        return model
    }
}
