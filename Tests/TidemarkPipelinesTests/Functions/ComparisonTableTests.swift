import Testing
import TidemarkModel

@testable import TidemarkPipelines

/// Each line is a fact of Google's documentation or of the SDKs' tests against production.
struct `Functions that compare` {
    @Test func `know numbers by their value, and NaN as equal to itself`() {
        check(
            """
            equal(1, 1) => true
            equal(1, 1.0) => true
            equal(1, 2) => false
            equal(NaN, NaN) => true
            equal(-0.0, 0) => true
            equal(9007199254740993, 9007199254740992.0) => false
            equal('1', 1) => false
            equal([1, [2]], [1.0, [2.0]]) => true
            equal({a: 1, b: null}, {b: null, a: 1.0}) => true
            equal([1], vec[1]) => false
            not_equal(1, 1.0) => false
            not_equal(NaN, NaN) => false
            not_equal('a', 1) => true
            """)
    }

    @Test func `notify null from absent`() {
        check(
            """
            equal(null, null) => true
            equal(null, absent) => false
            equal(absent, absent) => true
            equal(absent, 1) => false
            equal(null, 0) => false
            not_equal(absent, 1) => true
            not_equal(null, null) => false
            not_equal(null, absent) => true
            equal(fails, 1) => error 'planned'
            equal(1, fails) => error
            """)
    }

    @Test func `are false across types`() {
        check(
            """
            less_than(1, 2) => true
            less_than(2, 1) => false
            less_than(1, 1.5) => true
            less_than('a', 'b') => true
            less_than(1, 'a') => false
            greater_than('a', 1) => false
            less_than(NaN, 1) => false
            greater_than(NaN, 1) => false
            less_than_or_equal(NaN, NaN) => true
            greater_than_or_equal(NaN, NaN) => true
            less_than(NaN, NaN) => false
            less_than_or_equal(null, null) => true
            greater_than_or_equal(null, null) => true
            less_than(null, null) => false
            less_than(absent, 1) => false
            greater_than_or_equal(absent, 1) => false
            less_than(null, 1) => false
            less_than_or_equal(1, 1.0) => true
            greater_than_or_equal(2, 1) => true
            greater_than(2, 1) => true
            less_than(false, true) => true
            less_than([1, 2], [1, 3]) => true
            less_than(fails, 1) => error
            """)
    }

    @Test func `order all types for cmp`() {
        check(
            """
            cmp(1, 2) => -1
            cmp(2, 1) => 1
            cmp(1, 1.0) => 0
            cmp(null, absent) => 0
            cmp(null, false) => -1
            cmp(true, NaN) => -1
            cmp(NaN, -inf) => -1
            cmp(1, ts'2026-01-01T00:00:00Z') => -1
            cmp(ts'2026-01-01T00:00:00Z', '') => -1
            cmp('z', b'a') => -1
            cmp(b'a', ref'/a/b') => -1
            cmp(ref'/a/b', geo(1, 2)) => -1
            cmp(geo(1, 2), []) => -1
            cmp([], vec[1]) => -1
            cmp(vec[9], {}) => -1
            cmp([1], [1, 0]) => -1
            cmp(vec[9], vec[1, 1]) => -1
            cmp({a: 2}, {b: 1}) => -1
            """)
    }

    @Test func `find a value in a list`() {
        check(
            """
            equal_any(1, [1.0, 2]) => true
            equal_any(3, [1, 2]) => false
            equal_any(null, [null]) => true
            equal_any(null, [1]) => false
            equal_any(NaN, [NaN]) => true
            equal_any(absent, [null]) => false
            equal_any(1, null) => null
            equal_any(1, absent) => null
            equal_any(1, 'a') => error
            equal_any(1, []) => false
            not_equal_any(1, [2]) => true
            not_equal_any(1, [1]) => false
            not_equal_any(absent, [1]) => true
            not_equal_any(1, []) => true
            """)
    }
}

struct `Functions of booleans` {
    @Test func `know three values`() {
        check(
            """
            and(true, true) => true
            and(true, false) => false
            and(true, null) => null
            and(false, null) => false
            and(null, false) => false
            and(null, absent) => null
            and(true, fails) => error
            and(false, fails) => false
            and(1, true) => error
            or(false, false) => false
            or(true, null) => true
            or(null, true) => true
            or(false, null) => null
            or(true, fails) => true
            or(false, fails) => error
            xor(true, false) => true
            xor(true, true) => false
            xor(true, null) => null
            xor(false, fails) => error
            nor(false, false) => true
            nor(false, true) => false
            nor(false, false, null) => null
            nor(true, null) => false
            not(true) => false
            not(false) => true
            not(null) => null
            not(absent) => null
            not(fails) => error
            not(1) => error
            """)
    }

    @Test func `choose a branch, and evaluate no other`() {
        check(
            """
            conditional(true, 1, fails) => 1
            conditional(false, fails, 2) => 2
            conditional(null, 1, 2) => 2
            conditional(absent, 1, 2) => 2
            conditional(1, 1, 2) => error
            conditional(true, absent, 2) => absent
            switch_on(false, 1, true, 2) => 2
            switch_on(null, 1, false, 2, 3) => 3
            switch_on(true, 1, fails, 2) => 1
            switch_on(false, 1) => error 'all switch cases evaluate to false, and no default provided'
            """)
    }
}

struct `Functions of nothings` {
    @Test func `notify absent, null and errors apart`() {
        check(
            """
            exists(null) => true
            exists(absent) => false
            exists(1) => true
            exists(fails) => error
            is_absent(absent) => true
            is_absent(null) => false
            is_absent(fails) => error
            is_error(fails) => true
            is_error(absent) => false
            is_error(divide(1, 0)) => true
            if_error(fails, 2) => 2
            if_error(1, fails) => 1
            if_error(null, 2) => null
            if_absent(absent, 2) => 2
            if_absent(null, 2) => null
            if_absent(1, fails) => 1
            if_null(null, 2) => 2
            if_null(absent, 2) => 2
            if_null(1, fails) => 1
            coalesce(null, absent, 3) => 3
            coalesce(null, absent) => null
            coalesce(absent, absent) => absent
            coalesce(1, fails) => 1
            coalesce(null, fails) => error
            error('no') => error 'no'
            error(1) => error
            """)
    }

    @Test func `name the types`() {
        check(
            """
            type(null) => 'null'
            type(absent) => null
            type(true) => 'boolean'
            type(1) => 'int64'
            type(1.5) => 'float64'
            type(ts'2026-01-01T00:00:00Z') => 'timestamp'
            type('') => 'string'
            type(b'') => 'bytes'
            type([]) => 'array'
            type({}) => 'map'
            type(ref'/a/b') => 'reference'
            type(vec[1]) => 'vector'
            type(geo(1, 2)) => 'geo_point'
            type(fails) => error
            is_type(1, 'int64') => true
            is_type(1, 'number') => true
            is_type(1.5, 'number') => true
            is_type('1', 'number') => false
            is_type(null, 'null') => true
            is_type(absent, 'null') => null
            is_type(1, 'nonsense') => error
            """)
    }
}
