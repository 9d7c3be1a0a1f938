// https://developer.apple.com/documentation/charts. Charts are not drawn: the views of the example
// apps are only type-checked.
public import Foundation
public import SwiftUI

/// https://developer.apple.com/documentation/charts/plottable
public protocol Plottable {}

extension Double: Plottable {}
extension Date: Plottable {}
extension String: Plottable {}

/// https://developer.apple.com/documentation/charts/plottablevalue
public struct PlottableValue<Value: Plottable> {
    /// https://developer.apple.com/documentation/charts/plottablevalue/value(_:_:)
    public static func value(
        _ labelKey: LocalizedStringKey, _ value: Value
    ) -> PlottableValue<Value> { PlottableValue() }
}

extension PlottableValue where Value == Date {
    /// https://developer.apple.com/documentation/charts/plottablevalue/value(_:_:unit:calendar:)
    public static func value(
        _ labelKey: LocalizedStringKey, _ value: Date, unit: Calendar.Component,
        calendar: Calendar = .autoupdatingCurrent
    ) -> PlottableValue<Date> { PlottableValue() }
}

/// https://developer.apple.com/documentation/charts/chartcontent
@MainActor @preconcurrency public protocol ChartContent {}

/// https://developer.apple.com/documentation/charts/chartcontentbuilder
@resultBuilder public struct ChartContentBuilder {
    public static func buildExpression<Content: ChartContent>(_ content: Content) -> Content {
        content
    }
    public static func buildBlock<Content: ChartContent>(_ content: Content) -> Content { content }
}

/// https://developer.apple.com/documentation/charts/barmark
public struct BarMark: ChartContent {
    /// https://developer.apple.com/documentation/charts/barmark/init(x:y:width:height:stacking:)
    nonisolated public init<X: Plottable, Y: Plottable>(
        x: PlottableValue<X>, y: PlottableValue<Y>
    ) {}
}

/// https://developer.apple.com/documentation/charts/linemark
public struct LineMark: ChartContent {
    /// https://developer.apple.com/documentation/charts/linemark/init(x:y:)
    nonisolated public init<X: Plottable, Y: Plottable>(
        x: PlottableValue<X>, y: PlottableValue<Y>
    ) {}
}

/// https://developer.apple.com/documentation/charts/chart
public struct Chart<Content: ChartContent>: View {
    /// https://developer.apple.com/documentation/charts/chart/init(_:id:content:)
    nonisolated public init<Data: RandomAccessCollection, ID: Hashable, C: ChartContent>(
        _ data: Data, id: KeyPath<Data.Element, ID>,
        @ChartContentBuilder content: @escaping (Data.Element) -> C
    ) where Content == ForEach<Data, ID, C> {}

    public var body: Never { fatalError("Chart is not drawn by this stub") }
}

/// https://developer.apple.com/documentation/swiftui/foreach
extension ForEach: ChartContent where Content: ChartContent {}
