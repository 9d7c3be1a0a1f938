import ExampleKit
import Foundation
import TidemarkApp
import TidemarkHealth

/// Makes the summary screen as a value.
struct HealthScreens {
    let now: HealthMoment

    func summary(
        _ summary: HealthSummary, week: [HealthModel.Day], work: HealthModel.Work,
        sending: BackfillProgress? = nil, returning: BackfillProgress? = nil
    ) -> Screen {
        let isWaiting = work == .firstDays
        let rows = HealthSummary.Item.allCases.map { figure($0, summary, isWaiting: isWaiting) }
        var sections = [Screen.Section("Today", rows)]
        if !week.isEmpty {
            sections.append(Screen.Section("Steps of the last days", week.map(row)))
        }
        let works = [
            ("sending", "Sending days", sending), ("returning", "Days of other devices", returning),
        ].compactMap { id, title, progress in
            progress.flatMap { progressRow(of: $0, id: id, title: title) }
        }
        if !works.isEmpty { sections.append(Screen.Section(nil, works)) }
        var controls = [Control("walk", "Walk 500 steps")]
        if case .failed = work {
            controls.insert(Control("again", "Try again", kind: .button(isMain: true)), at: 0)
        }
        return Screen(
            "Health", state(summary, week: week, work: work), sections: sections, controls: controls
        )
    }

    private func state(
        _ summary: HealthSummary, week: [HealthModel.Day], work: HealthModel.Work
    ) -> Screen.State {
        let age = summary.stepsHours.last.map { Double(max(0, now.seconds - $0.lastTime)) }
        switch work {
        case .failed(let reason):
            return week.isEmpty
                ? .failed(reason: reason, wayOut: "again") : .stale(age: age, reason: reason)
        case .firstDays:
            return week.isEmpty
                ? .loading : .stale(age: age, reason: "Looking for what was measured since.")
        case .older: return .stale(age: age, reason: "Older days are still coming.")
        case .upToDate where week.isEmpty: return .empty("Nothing was measured yet.")
        case .upToDate:
            let isCurrent = HealthSummary.Item.allCases.allSatisfy { summary.phase($0) == .fresh }
            return isCurrent ? .fresh : .stale(age: age, reason: "Reading what has changed.")
        }
    }

    private func row(_ day: HealthModel.Day) -> Row {
        Row(day.id, day.id, trailing: number(day.steps)).with { $0.isDocument = true }
    }

    private func progressRow(
        of progress: BackfillProgress, id: String, title: String
    ) -> Row? {
        let detail: String? =
            switch progress.phase {
            case .running: "\(progress.windowsDone) of \(progress.windows) parts"
            case .held(.offline): "Waits for a network"
            case .held: "Waits"
            case .tryingAgain: "Trying again"
            case .failed: progress.failures.values.first?.message
            case .complete: nil
            }
        return detail.map {
            Row(id, title, kind: .progress(progress.fraction), detail: $0)
        }
    }

    // MARK: The eight values

    private func figure(
        _ item: HealthSummary.Item, _ summary: HealthSummary, isWaiting: Bool
    ) -> Row {
        let title = Self.titles[item] ?? ""
        let id = "\(item)"
        if case .failed(let reason) = summary.phase(item) { return Row(id, title, detail: reason) }
        guard let value = value(item, summary) else {
            if isWaiting || summary.phase(item) == .loading {
                return Row(id, title, kind: .skeleton)
            }
            return Row(id, title, kind: .figure, trailing: "–")
        }
        let bars = bars(item, summary)
        return Row(id, title, kind: bars.map { .bars($0) } ?? .figure, trailing: value)
    }

    static let titles: [HealthSummary.Item: String] = [
        .stepsToday: "Steps", .body: "Weight and height", .lastWeights: "Last weights",
        .mood: "Mood", .heartRate: "Heart rate", .heartRateHours: "Heart rate by the hour",
        .stepsHours: "Steps by the hour", .sleep: "Sleep",
    ]

    private func value(_ item: HealthSummary.Item, _ summary: HealthSummary) -> String? {
        switch item {
        case .stepsToday:
            summary.stepsHours.isEmpty ? nil : summary.stepsToday.map { number($0) }
        case .body:
            summary.weight.map { weight in
                let height = summary.height.map { " · \(Int(($0.value * 100).rounded())) cm" } ?? ""
                return kilograms(weight.value) + height
            }
        case .lastWeights: summary.lastWeights.first.map { kilograms($0.value) }
        case .mood: summary.mood.map { $0.value >= 0 ? "Pleasant" : "Unpleasant" }
        case .heartRate: summary.heartRate.map { "\(number($0.value)) bpm" }
        case .heartRateHours: summary.heartRateHours.last.map { "\(number($0.value)) bpm" }
        case .stepsHours: summary.stepsHours.last.map { number($0.value) }
        case .sleep:
            summary.sleep.map { sleep in
                let minutes = Int(sleep.asleep / 60)
                return "\(minutes / 60) h \(minutes % 60) min"
            }
        }
    }

    private func bars(_ item: HealthSummary.Item, _ summary: HealthSummary) -> [Double]? {
        switch item {
        case .lastWeights: summary.lastWeights.reversed().map(\.value)
        case .heartRateHours: summary.heartRateHours.map(\.value)
        case .stepsHours: summary.stepsHours.map(\.value)
        default: nil
        }
    }

    private func number(_ value: Double) -> String { String(Int(value.rounded())) }

    private func kilograms(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10) kg"
    }
}
