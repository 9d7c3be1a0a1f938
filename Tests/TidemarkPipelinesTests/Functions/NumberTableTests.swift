import Testing
import TidemarkModel

@testable import TidemarkPipelines

struct `Functions of numbers` {
    @Test func `keep integers exact, and refuse an overflow`() {
        check(
            """
            add(1, 2) => 3
            add(1, 2, 3) => 6
            add(1, 2.0) => 3.0
            add(9223372036854775807, 1) => error 'overflow'
            add(1, null) => null
            add(absent, 1) => null
            add('a', 1) => error
            add(fails, null) => error 'planned'
            add(NaN, 1) => NaN
            add(inf, 1) => inf
            subtract(5, 3) => 2
            subtract(-9223372036854775808, 1) => error 'overflow'
            multiply(3, 4) => 12
            multiply(2, 0.5) => 1.0
            multiply(9223372036854775807, 2) => error 'overflow'
            divide(7, 2) => 3
            divide(-7, 2) => -3
            divide(7, 2.0) => 3.5
            divide(1, 0) => error 'division by zero'
            divide(1, 0.0) => inf
            divide(-1, 0.0) => -inf
            divide(0.0, 0.0) => NaN
            divide(-9223372036854775808, -1) => error 'overflow'
            mod(7, 3) => 1
            mod(-7, 3) => -1
            mod(7, -3) => 1
            mod(-9223372036854775808, -1) => 0
            mod(1, 0) => error
            mod(5.5, 2) => 1.5
            mod(1, 0.0) => NaN
            """)
    }

    @Test func `round`() {
        check(
            """
            abs(-3) => 3
            abs(-1.5) => 1.5
            abs(-9223372036854775808) => error 'overflow'
            ceil(1.2) => 2.0
            ceil(3) => 3
            floor(-1.2) => -2.0
            floor(null) => null
            round(2.5) => 3.0
            round(-2.5) => -3.0
            round(7) => 7
            round(123.456, 2) => 123.46
            round(123.456, -1) => 120.0
            round(155, -1) => 160
            round(-155, -1) => -160
            round(154, -2) => 200
            round(9223372036854775807, -1) => error 'overflow'
            round(9223372036854775807, -30) => 0
            round(1.5, 400) => 1.5
            round(1.5, -400) => 0.0
            round(inf) => inf
            trunc(2.9) => 2.0
            trunc(-2.9) => -2.0
            trunc(123.456, 1) => 123.4
            trunc(159, -1) => 150
            trunc(-159, -1) => -150
            """)
    }

    @Test func `take powers and logarithms`() {
        check(
            """
            pow(2, 10) => 1024.0
            pow(1, NaN) => 1.0
            pow(NaN, 0) => 1.0
            pow(-2, 0.5) => error
            pow(-2, 3) => -8.0
            pow(0, -1) => error
            sqrt(9) => 3.0
            sqrt(-1) => error
            sqrt(NaN) => NaN
            exp(0) => 1.0
            exp(1000) => error 'overflow'
            exp(-1000) => 0.0
            ln(1) => 0.0
            ln(0) => error
            ln(-inf) => NaN
            log10(1000) => 3.0
            log10(-1) => error
            log(1) => 0.0
            log(8, 2) => 3.0
            log(8, 1) => error
            log(8, 0) => error
            log(0, 2) => error
            log(8, inf) => NaN
            log(null, 2) => null
            """)
    }

    @Test func `are random in their range, and repeat with their seed`() {
        let run = RunState(source: ListSource([]), context: testContext(seed: 7))
        let numbers = (0..<1_000).map { _ in run.nextFraction() }
        #expect(numbers.allSatisfy { (0..<1).contains($0) } && Set(numbers).count > 990)
        let again = RunState(source: ListSource([]), context: testContext(seed: 7))
        #expect(numbers == (0..<1_000).map { _ in again.nextFraction() })
    }
}

struct `Functions of extremes` {
    @Test func `take several values or one array`() {
        check(
            """
            maximum(1, 3, 2) => 3
            minimum(1, 3, 2) => 1
            maximum(1, null, absent) => 1
            maximum(null, absent) => null
            maximum(1, 'a') => 'a'
            minimum(1, 'a') => 1
            maximum(1, fails) => error
            maximum([1, null, 5]) => 5
            minimum([]) => null
            minimum([null, 2]) => 2
            maximum(null) => null
            maximum(3) => error
            maximum_n([3, 1, null, 2], 2) => [3, 2]
            minimum_n([3, 1, null, 2], 2) => [1, 2]
            minimum_n([1], 5) => [1]
            minimum_n([1], -1) => error 'non-negative'
            sum([1, 2, 3]) => 6
            sum([1, 2.5, 'a', null]) => 3.5
            sum(['a']) => null
            sum([]) => null
            sum([9223372036854775807, 1]) => error 'overflow'
            sum([0.5, 9223372036854775807, 9223372036854775807]) => 18446744073709551615.0
            sum(1) => error
            """)
    }
}
