// The declarations that the views of the example apps use: see Witness.swift.
import Foundation
import SwiftUI

@MainActor enum ControlWitness {
    static let button: (LocalizedStringKey, @escaping @MainActor () -> Void) -> Button<Text> = {
        Button($0, action: $1)
    }
    static let namedButton: (String, @escaping @MainActor () -> Void) -> Button<Text> = {
        Button($0, action: $1)
    }
    static let delete: (LocalizedStringKey, @escaping @MainActor () -> Void) -> Button<Text> = {
        Button($0, role: ButtonRole.destructive, action: $1)
    }
    static let field: (LocalizedStringKey, Binding<String>) -> TextField<Text> = {
        TextField($0, text: $1)
    }
    static let prompt: (String, Binding<String>, Text?) -> TextField<Text> = {
        TextField($0, text: $1, prompt: $2)
    }
    static let label: (LocalizedStringKey, String) -> Label<Text, Image> = {
        Label($0, systemImage: $1)
    }
    static let namedLabel: (String, String) -> Label<Text, Image> = { Label($0, systemImage: $1) }
    static let freeLabel: (Text, Image) -> Label<Text, Image> = { text, image in
        Label {
            text
        } icon: {
            image
        }
    }
    static let labeled: (LocalizedStringKey, Text) -> LabeledContent<Text, Text> = { title, text in
        LabeledContent(title) { text }
    }
    static let namedContent: (String, Text) -> LabeledContent<Text, Text> = { title, text in
        LabeledContent(title) { text }
    }
    static let value: (String, String) -> LabeledContent<Text, Text> = {
        LabeledContent($0, value: $1)
    }
    static let waiting: () -> ProgressView<EmptyView, EmptyView> = { ProgressView() }
    static let progress: (Double, Text) -> ProgressView<Text, EmptyView> = { value, text in
        ProgressView(value: value) { text }
    }
    static let nothing:
        (String, String) -> ContentUnavailableView<Label<Text, Image>, Text?, EmptyView> =
            { ContentUnavailableView($0, systemImage: $1) }
    static let wayOut:
        (Text, Button<Text>) -> ContentUnavailableView<Text, EmptyView, Button<Text>> =
            { text, button in
                ContentUnavailableView {
                    text
                } actions: {
                    button
                }
            }
}

@MainActor enum TextWitness {
    static let key: (LocalizedStringKey) -> Text = { Text($0) }
    static let string: (String) -> Text = { Text($0) }
    static let literal: LocalizedStringKey = "\("one") and two"
    static let number: (Double) -> Text = { Text($0, format: .number.rounded()) }
    static let styled: (Text) -> Text = { $0.font(.caption).foregroundStyle(.red) }
    static let headline: Font = .headline
    static let symbol: (String) -> Image = { Image(systemName: $0) }
    static let binding: (State<String>) -> Binding<String> = { $0.projectedValue }
}

@MainActor enum ContainerWitness {
    struct Item: Identifiable, Hashable, Codable { var id: Int }

    static let list: (Text) -> List<Never, Text> = { text in List { text } }
    static let each: ([Item]) -> ForEach<[Item], Int, EmptyView> = {
        ForEach($0) { _ in EmptyView() }
    }
    static let eachByID: ([Item]) -> ForEach<[Item], Int, EmptyView> = {
        ForEach($0, id: \.id) { _ in EmptyView() }
    }
    static let form: (Text) -> Form<Text> = { text in Form { text } }
    static let section: (Text) -> Section<EmptyView, Text, EmptyView> = { text in Section { text } }
    static let titled: (LocalizedStringKey, Text) -> Section<Text, Text, EmptyView> = {
        title, text in
        Section(title) { text }
    }
    static let named: (String, Text) -> Section<Text, Text, EmptyView> = { title, text in
        Section(title) { text }
    }
    static let column: (Text) -> VStack<Text> = { text in VStack(alignment: .leading) { text } }
    static let row: (Text) -> HStack<Text> = { text in HStack { text } }
    static let lazy: (Text) -> LazyVStack<Text> = { text in
        LazyVStack(alignment: .trailing) { text }
    }
    static let scroll: (Text) -> ScrollView<Text> = { text in ScrollView { text } }
    static let group: (Text) -> Group<Text> = { text in Group { text } }
    static let spacer: () -> Spacer = { Spacer() }
    static let stack: (Text) -> NavigationStack<NavigationPath, Text> = { text in
        NavigationStack { text }
    }
    static let link: (Text) -> NavigationLink<Text, Text> = { text in
        NavigationLink {
            text
        } label: {
            text
        }
    }
    static let titledLink: (LocalizedStringKey, Text) -> NavigationLink<Text, Text> = {
        title, text in
        NavigationLink(title) { text }
    }
    static let valueLink: (Item) -> NavigationLink<Text, Never> = { item in
        NavigationLink(value: item) { Text("") }
    }
}

@MainActor enum StyleWitness {
    static let levels: [HierarchicalShapeStyle] = [.secondary, .quaternary]
    static let tint: TintShapeStyle = .tint
    static let bar: Material = .bar
    static let red: Color = .red
    static let circle: Circle = .circle
    static let rectangle: RoundedRectangle = .rect(cornerRadius: 10)
    static let edges: [Alignment] = [.leading, .trailing, .center, .bottom]
    static let reasons: RedactionReasons = .placeholder
}

/// The modifiers, each with all arguments that the views pass.
@MainActor enum ModifierWitness {
    static func look(_ view: Text, _ isOn: Bool) -> some View {
        view.lineLimit(1).foregroundStyle(.secondary)
            .opacity(0.6).disabled(isOn).padding().padding(8).badge(3)
            .redacted(reason: isOn ? [] : .placeholder)
            .frame(width: 1, height: 1).frame(maxWidth: .infinity, alignment: .trailing)
            .background(.bar).background(.tint.opacity(0.2), in: .rect(cornerRadius: 10))
            .clipShape(.circle)
            .overlay { if isOn { Circle().fill(.quaternary) } }
            .safeAreaInset(edge: .bottom) { view }
            .defaultScrollAnchor(.bottom).scrollTargetLayout()
    }

    static func scroll(_ view: Text, _ row: Binding<String?>) -> some View {
        view.scrollPosition(id: row, anchor: .bottom)
    }

    static func places(_ view: Text, key: LocalizedStringKey, text: Binding<String>)
        -> some View
    {
        view.navigationTitle(key).navigationTitle(text.wrappedValue)
            .navigationDestination(for: Int.self) { Text("\($0.description)") }
            .toolbar { EmptyView() }.searchable(text: text)
    }

    static func events(_ view: Text, _ act: @escaping @MainActor () -> Void) -> some View {
        view.task { await Task.yield() }
            .refreshable { await Task.yield() }
            .onChange(of: 1) { act() }.onDisappear { act() }.onSubmit { act() }
            .onOpenURL { _ in act() }
    }
}

extension EnvironmentValues {
    @Entry var witness: Int?
}

#Preview("Witness") { Text("") }
