#if canImport(SwiftUI)
    import Charts
    import Foundation
    import HealthCore
    import SwiftUI
    import TidemarkApp
    import TidemarkHealth

    /// Shows the newest values, seven days, and the progress of the background work.
    struct HealthView: View {
        let app: HealthApp
        @State private var model: HealthModel?

        init(_ app: HealthApp) { self.app = app }

        var body: some View {
            List {
                if let model {
                    WorkView(model)
                    ExportSection(model)
                    let summary = model.summary.summary
                    SummarySection(summary, isWaiting: model.work == .firstDays)
                    WeightsSection(summary)
                    HoursSection("Heart rate by hour", summary, item: .heartRateHours)
                    HoursSection("Steps by hour", summary, item: .stepsHours)
                    Section("Steps of the last days") {
                        ForEach(model.week) { day in
                            LabeledContent(day.id) { Text(day.steps, format: .number.rounded()) }
                        }
                    }
                    ProgressSection("Sending days", model.sending)
                    ProgressSection("Days of other devices", model.returning)
                }
            }
            .navigationTitle("Health")
            .task { if model == nil { model = HealthModel(app) } }
            .onOpenURL { file in Task { await bringIn(file) } }
        }

        /// Imports an export that the Health app has shared. The system passes a copy, which is
        /// deleted.
        private func bringIn(_ file: URL) async {
            let model = self.model ?? HealthModel(app)
            self.model = model
            await model.bringIn(file)
            try? FileManager.default.removeItem(at: file)
        }
    }

    /// Shows the progress of an import. Sending its days is shown like any other sending.
    struct ExportSection: View {
        let model: HealthModel

        init(_ model: HealthModel) { self.model = model }

        var body: some View {
            switch model.export {
            case .idle, .sending: EmptyView()
            case .importing(let step):
                Section("Bringing in an export") {
                    ProgressView(value: fraction(step)) { Text("Reading") }
                    Button("Stop") { Task { await model.cancelImport() } }
                }
            case .done: Section { Text("All of the export is on the server.") }
            case .failed(let reason):
                Section {
                    Text(reason)
                    Button("Try again") { model.tryAgain() }
                }
            }
        }

        private func fraction(_ step: HealthImport.Progress?) -> Double {
            step.map { Double($0.bytesRead) / Double(max(1, $0.bytesTotal)) } ?? 0
        }
    }

    struct WorkView: View {
        let model: HealthModel

        init(_ model: HealthModel) { self.model = model }

        var body: some View {
            switch model.work {
            case .upToDate: if model.week.isEmpty { Text("Nothing was measured yet.") }
            case .firstDays: Label("Looking for what was measured since.", systemImage: "clock")
            case .older: Label("Older days are still coming.", systemImage: "clock")
            case .failed(let reason):
                Text(reason)
                Button("Try again") { model.tryAgain() }
            }
        }
    }

    struct SummarySection: View {
        let summary: HealthSummary
        let isWaiting: Bool

        init(_ summary: HealthSummary, isWaiting: Bool) {
            self.summary = summary
            self.isWaiting = isWaiting
        }

        var body: some View {
            Section("Today") {
                value(.stepsToday, "Steps", is: summary.stepsToday)
                value(.body, "Weight (kg)", is: summary.weight?.value)
                value(.body, "Height (m)", is: summary.height?.value)
                value(.mood, "Mood", is: summary.mood?.value)
                value(.heartRate, "Heart rate (bpm)", is: summary.heartRate?.value)
                value(.sleep, "Sleep (h)", is: summary.sleep.map { $0.asleep / 3_600 })
            }
        }

        /// Shows a placeholder until the value is known; grey if the value is out of date.
        private func value(
            _ item: HealthSummary.Item, _ title: LocalizedStringKey, is value: Double?
        ) -> some View {
            let isKnown = value != nil || !(isWaiting || summary.phase(item) == .loading)
            return LabeledContent(title) {
                if case .failed(let reason) = summary.phase(item) {
                    Text(reason)
                } else {
                    Text(
                        value.map { $0.formatted(.number.precision(.fractionLength(0...1))) } ?? "–"
                    )
                    .redacted(reason: isKnown ? [] : .placeholder)
                    .opacity(summary.phase(item) == .stale ? 0.6 : 1)
                }
            }
        }
    }

    /// Shows the last weights, newest first.
    struct WeightsSection: View {
        let summary: HealthSummary

        init(_ summary: HealthSummary) { self.summary = summary }

        var body: some View {
            if !summary.lastWeights.isEmpty {
                Section("Last weights") {
                    ForEach(summary.lastWeights, id: \.time) { reading in
                        LabeledContent(
                            Date(timeIntervalSince1970: TimeInterval(reading.time))
                                .formatted(date: .abbreviated, time: .shortened)
                        ) {
                            Text(reading.value, format: .number.precision(.fractionLength(1)))
                        }
                    }
                }
                .opacity(summary.phase(.lastWeights) == .stale ? 0.6 : 1)
            }
        }
    }

    /// Shows the hours of a kind as a chart: a line for readings, bars for amounts.
    struct HoursSection: View {
        let title: LocalizedStringKey
        let summary: HealthSummary
        let item: HealthSummary.Item

        init(_ title: LocalizedStringKey, _ summary: HealthSummary, item: HealthSummary.Item) {
            self.title = title
            self.summary = summary
            self.item = item
        }

        var body: some View {
            Section(title) {
                if case .failed(let reason) = summary.phase(item) {
                    Text(reason)
                } else if item == .heartRateHours {
                    Chart(summary.heartRateHours, id: \.start) { hour in
                        LineMark(
                            x: .value("Hour", time(of: hour)), y: .value("Heart rate", hour.value))
                    }
                    .frame(height: 120)
                } else {
                    Chart(summary.stepsHours, id: \.start) { hour in
                        BarMark(
                            x: .value("Hour", time(of: hour), unit: .hour),
                            y: .value("Steps", hour.value))
                    }
                    .frame(height: 120)
                }
            }
            .redacted(reason: summary.phase(item) == .loading ? .placeholder : [])
            .opacity(summary.phase(item) == .stale ? 0.6 : 1)
        }

        private func time(of hour: HourEntry) -> Date {
            Date(timeIntervalSince1970: TimeInterval(hour.start))
        }
    }

    struct ProgressSection: View {
        let title: LocalizedStringKey
        let progress: BackfillProgress?

        init(_ title: LocalizedStringKey, _ progress: BackfillProgress?) {
            self.title = title
            self.progress = progress
        }

        var body: some View {
            if let progress, progress.phase != .complete {
                Section { ProgressView(value: progress.fraction) { Text(title) } }
            }
        }
    }
#endif
