import SwiftSyntax

/// The check `client-clock`.
enum Clocks {
    /// Names of times that belong to the user or the app, and are no moment of writing.
    private static let own = [
        "birth", "schedul", "expir", "due", "deadline", "start", "end", "until", "remind", "event",
    ]

    static func findings(in context: CheckContext) -> [Finding] {
        var seen: Set<Place> = []
        var all: [Finding] = []
        for operation in context.operations where operation.kind.isWrite {
            for field in WrittenField.fields(of: operation, context) {
                guard let key = field.key, context.evaluator.value(field.value) == .deviceTime,
                    !own.contains(where: { key.lowercased().contains($0) })
                else { continue }
                if seen.insert(context.file(of: field.value).place(of: field.value)).inserted {
                    all.append(finding(field, key: key, operation: operation, in: context))
                }
            }
        }
        return all
    }

    private static func finding(
        _ field: WrittenField, key: String, operation: Operation, in context: CheckContext
    ) -> Finding {
        let text = field.value.trimmedDescription
        let isTime = [
            "Timestamp()", "Timestamp(date: Date())", "Date()", "Date.now",
            "Timestamp(date: .now)", "Timestamp(date: Date.now)", "Timestamp.init()",
        ].contains(text)
        var fix: Finding.Fix?
        if isTime, field.isInCall, !field.isInList, operation.file.importsFirestore {
            fix = Finding.Fix(edits: [.replacing(field.value, "FieldValue.serverTimestamp()")])
        }
        return context.finding(
            .clientClock, in: context.file(of: field.value), at: field.value,
            "`\(key)` uses the time of the device's clock.",
            because: "The clocks of devices are wrong by seconds or years. Items ordered by this "
                + "field, or queried since a time, are out of order or never found.",
            mend: field.isInList
                ? "Keep such entries as documents, whose time can be "
                    + "`FieldValue.serverTimestamp()`."
                : "Write `FieldValue.serverTimestamp()`, or declare the property as "
                    + "`@ServerTimestamp var \(key): Timestamp?`.", fix: fix)
    }
}
