/// The model of a view's property: made when it is first looked at, and anew when the view shows
/// something else.
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
