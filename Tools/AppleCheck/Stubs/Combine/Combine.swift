// https://developer.apple.com/documentation/combine: the declarations that our publishers and the
// tests' subscribers use.

/// https://developer.apple.com/documentation/combine/publisher
public protocol Publisher<Output, Failure> {
    associatedtype Output
    associatedtype Failure: Error
    func receive<S>(subscriber: S)
    where S: Subscriber, Self.Failure == S.Failure, Self.Output == S.Input
}

/// https://developer.apple.com/documentation/combine/subscriber
public protocol Subscriber<Input, Failure>: CustomCombineIdentifierConvertible {
    associatedtype Input
    associatedtype Failure: Error
    func receive(subscription: any Subscription)
    func receive(_ input: Self.Input) -> Subscribers.Demand
    func receive(completion: Subscribers.Completion<Self.Failure>)
}

/// https://developer.apple.com/documentation/combine/subscription
public protocol Subscription: Cancellable, CustomCombineIdentifierConvertible {
    func request(_ demand: Subscribers.Demand)
}

/// https://developer.apple.com/documentation/combine/cancellable
public protocol Cancellable {
    func cancel()
}

/// https://developer.apple.com/documentation/combine/customcombineidentifierconvertible
public protocol CustomCombineIdentifierConvertible {
    var combineIdentifier: CombineIdentifier { get }
}

extension CustomCombineIdentifierConvertible where Self: AnyObject {
    public var combineIdentifier: CombineIdentifier { CombineIdentifier(self) }
}

/// https://developer.apple.com/documentation/combine/combineidentifier
public struct CombineIdentifier: Hashable, Sendable {
    private let id: ObjectIdentifier
    public init(_ obj: AnyObject) { id = ObjectIdentifier(obj) }
}

/// https://developer.apple.com/documentation/combine/subscribers
public enum Subscribers {
    /// https://developer.apple.com/documentation/combine/subscribers/demand
    @frozen public struct Demand: Equatable, Comparable, Hashable, Sendable {
        public let max: Int?
        public static let unlimited = Demand(max: nil)
        public static let none = Demand(max: 0)
        public static func max(_ value: Int) -> Demand {
            precondition(value >= 0)
            return Demand(max: value)
        }
        private init(max: Int?) { self.max = max }
        public static func < (left: Demand, right: Demand) -> Bool {
            (left.max ?? .max) < (right.max ?? .max)
        }
    }

    /// https://developer.apple.com/documentation/combine/subscribers/completion
    @frozen public enum Completion<Failure: Error> {
        case finished
        case failure(Failure)
    }

    fileprivate final class Sink<Input, Failure: Error>: Subscriber, Cancellable {
        private let receiveCompletion: (Completion<Failure>) -> Void
        private let receiveValue: (Input) -> Void
        private var subscription: (any Subscription)?

        init(
            _ receiveCompletion: @escaping (Completion<Failure>) -> Void,
            _ receiveValue: @escaping (Input) -> Void
        ) {
            self.receiveCompletion = receiveCompletion
            self.receiveValue = receiveValue
        }

        func receive(subscription: any Subscription) {
            self.subscription = subscription
            subscription.request(.unlimited)
        }
        func receive(_ input: Input) -> Demand {
            receiveValue(input)
            return .none
        }
        func receive(completion: Completion<Failure>) { receiveCompletion(completion) }
        func cancel() { subscription?.cancel() }
    }
}

/// https://developer.apple.com/documentation/combine/anycancellable
public final class AnyCancellable: Cancellable, Hashable {
    private let canceller: any Cancellable
    public init<C>(_ canceller: C) where C: Cancellable { self.canceller = canceller }
    deinit { canceller.cancel() }
    public func cancel() { canceller.cancel() }
    public static func == (left: AnyCancellable, right: AnyCancellable) -> Bool { left === right }
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// https://developer.apple.com/documentation/combine/publishers
public enum Publishers {
    /// https://developer.apple.com/documentation/combine/publishers/maperror
    public struct MapError<Upstream: Publisher, Failure: Error>: Publisher {
        public typealias Output = Upstream.Output
        public let upstream: Upstream
        private let transform: (Upstream.Failure) -> Failure

        public init(upstream: Upstream, _ map: @escaping (Upstream.Failure) -> Failure) {
            self.upstream = upstream
            transform = map
        }

        public func receive<S>(subscriber: S)
        where S: Subscriber, Failure == S.Failure, Output == S.Input {
            upstream.receive(subscriber: Inner(subscriber, transform))
        }

        private final class Inner<S: Subscriber>: Subscriber
        where S.Input == Output, S.Failure == Failure {
            private let outer: S
            private let transform: (Upstream.Failure) -> Failure

            init(_ outer: S, _ transform: @escaping (Upstream.Failure) -> Failure) {
                self.outer = outer
                self.transform = transform
            }

            func receive(subscription: any Subscription) {
                outer.receive(subscription: subscription)
            }
            func receive(_ input: Output) -> Subscribers.Demand { outer.receive(input) }
            func receive(completion: Subscribers.Completion<Upstream.Failure>) {
                switch completion {
                case .finished: outer.receive(completion: .finished)
                case .failure(let error): outer.receive(completion: .failure(transform(error)))
                }
            }
        }
    }
}

/// https://developer.apple.com/documentation/combine/anypublisher
public struct AnyPublisher<Output, Failure: Error>: Publisher {
    private let box: any Publisher<Output, Failure>

    public init<P>(_ publisher: P)
    where P: Publisher, P.Output == Output, P.Failure == Failure { box = publisher }

    public func receive<S>(subscriber: S)
    where S: Subscriber, Failure == S.Failure, Output == S.Input {
        box.receive(subscriber: subscriber)
    }
}

extension Publisher {
    public func mapError<E>(
        _ transform: @escaping (Self.Failure) -> E
    ) -> Publishers.MapError<Self, E> where E: Error {
        Publishers.MapError(upstream: self, transform)
    }

    public func eraseToAnyPublisher() -> AnyPublisher<Self.Output, Self.Failure> {
        AnyPublisher(self)
    }

    public func sink(
        receiveCompletion: @escaping (Subscribers.Completion<Self.Failure>) -> Void,
        receiveValue: @escaping (Self.Output) -> Void
    ) -> AnyCancellable {
        let sink = Subscribers.Sink<Output, Failure>(receiveCompletion, receiveValue)
        receive(subscriber: sink)
        return AnyCancellable(sink)
    }
}
