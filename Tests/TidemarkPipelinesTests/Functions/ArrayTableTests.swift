import Testing
import TidemarkModel

@testable import TidemarkPipelines

struct `Functions of arrays` {
    @Test func `make and join arrays`() {
        check(
            """
            array(1, 'a', absent, null) => [1, 'a', null, null]
            array() => []
            array(fails) => error
            array_concat([1], [2, 3]) => [1, 2, 3]
            array_concat([1], null) => null
            array_concat([1], 2) => error
            array_length([1, null]) => 2
            array_length('a') => error
            array_length(absent) => null
            array_reverse([1, 2, 3]) => [3, 2, 1]
            """)
    }

    @Test func `find values, null and NaN too`() {
        check(
            """
            array_contains([1, 2], 2.0) => true
            array_contains([1, 2], 3) => false
            array_contains([null], null) => true
            array_contains([NaN], NaN) => true
            array_contains([null], absent) => false
            array_contains(null, 1) => null
            array_contains(absent, 1) => null
            array_contains('a', 'a') => error
            array_contains_any([1, 2], [2.0, 3]) => true
            array_contains_any([1, 2], []) => false
            array_contains_any([null], [null]) => true
            array_contains_any([1], null) => null
            array_contains_any([1], 1) => error
            array_contains_all([1, 2, 3], [1, 3.0]) => true
            array_contains_all([1], [1, 2]) => false
            array_contains_all([1], []) => true
            array_contains_all([NaN, null], [null, NaN]) => true
            array_index_of([1, 2, 1], 1) => 0
            array_index_of([1, 2, 1], 1, 'first') => 0
            array_index_of([1, 2, 1], 1.0, 'last') => 2
            array_index_of([1], 2) => -1
            array_index_of([1, null], null, 'first') => 1
            array_index_of(null, 1) => null
            array_index_of([1], 1, 'middle') => error
            array_index_of_all([1, 2, 1], 1) => [0, 2]
            array_index_of_all([1], 3) => []
            """)
    }

    @Test func `give elements, and nothing outside`() {
        check(
            """
            array_get([1, 2, 3], 0) => 1
            array_get([1, 2, 3], -1) => 3
            array_get([1], 5) => absent
            array_get([1], -2) => absent
            array_get([null], 0) => null
            array_get([1], 'a') => error
            array_get(null, 0) => null
            array_get('a', 0) => error
            array_get([1], -9223372036854775808) => absent
            offset([1, 2], 1) => 2
            array_first([1, 2]) => 1
            array_first([]) => absent
            array_last([1, 2]) => 2
            array_last(null) => null
            array_first_n([1, 2, 3], 2) => [1, 2]
            array_first_n([1], 5) => [1]
            array_first_n([1], -1) => error 'non-negative'
            array_last_n([1, 2, 3], 2) => [2, 3]
            array_last_n([1], 0) => []
            array_slice([1, 2, 3, 4], 1, 2) => [2, 3]
            array_slice([1, 2, 3, 4], 2) => [3, 4]
            array_slice([1, 2, 3, 4], -2) => [3, 4]
            array_slice([1, 2, 3, 4], -3, 2) => [2, 3]
            array_slice([1, 2], 5, 1) => []
            array_slice([1, 2], 0, 99) => [1, 2]
            array_slice([1, 2], 0, -1) => error 'length must be non-negative'
            """)
    }

    @Test func `evaluate an expression for each element`() {
        check(
            """
            array_filter([1, 2, 3], 'x', greater_than($x, 1)) => [2, 3]
            array_filter([1, null, 3], 'x', greater_than($x, 1)) => [3]
            array_filter([1, 2], 'x', null) => []
            array_filter([1, 2], 'x', 7) => error 'a boolean'
            array_filter(null, 'x', true) => null
            array_filter(1, 'x', true) => error
            array_transform([1, 2], 'x', add($x, 10)) => [11, 12]
            array_transform([5, 6], 'x', 'i', add($x, multiply($i, 100))) => [5, 106]
            array_transform([1], 'x', absent) => [null]
            array_transform([1], 'x', fails) => error 'planned'
            array_transform([[1, 2], [3]], 'x', array_transform($x, 'y', add($y, array_length($x)))) => [[3, 4], [4]]
            array_filter([1, 2], 'x', equal($y, 1)) => error 'unknown variable: y'
            """)
    }
}

struct `Functions of maps` {
    @Test func `read and change maps`() {
        check(
            """
            map('a', 1, 'b', null) => {a: 1, b: null}
            map() => {}
            map('a', absent) => {}
            map(1, 2) => error
            map('a', 1, 'a', 2) => error 'twice'
            map('a') => error
            map_get({a: 1}, 'a') => 1
            map_get({a: 1}, 'b') => absent
            map_get(1, 'a') => absent
            map_get(null, 'a') => absent
            map_get({'a.b': 1}, 'a.b') => 1
            map_get({a: {b: 1}}, 'a.b') => absent
            get_field({a: 1}, 'a') => 1
            map_set({a: 1}, 'b', 2) => {a: 1, b: 2}
            map_set({a: 1}, 'a', 2, 'c', 3) => {a: 2, c: 3}
            map_set({a: 1}, 'a', absent) => {}
            map_set({}, '', 1) => {'': 1}
            map_set(1, 'a', 1) => absent
            map_remove({a: 1, b: 2}, 'a') => {b: 2}
            map_remove({a: 1}, 'z') => {a: 1}
            map_remove(1, 'a') => error
            map_merge({a: 1, b: 1}, {b: 2}, {c: 3}) => {a: 1, b: 2, c: 3}
            map_merge({a: {x: 1}}, {a: {y: 2}}) => {a: {y: 2}}
            map_merge({}, null) => null
            map_keys({b: 1, a: 2}) => ['a', 'b']
            map_values({b: 1, a: 2}) => [2, 1]
            map_entries({a: 1}) => [{k: 'a', v: 1}]
            map_keys(1) => error
            """)
    }

    @Test func `take the row`() {
        let outcome = evaluate(.call("current_document", []), ["a": .integer(1)])
        #expect(outcome.text == Value.map(["a": .integer(1)]).canonicalID)
    }
}

struct `Functions of references and vectors` {
    @Test func `take references apart`() {
        check(
            """
            document_id(ref'/books/b1') => 'b1'
            document_id('/books/b1') => 'b1'
            document_id(absent) => null
            document_id(1) => error
            collection_id(ref'/a/b/books/b1') => 'books'
            parent(ref'/a/b/books/b1') => ref'/a/b'
            parent(ref'/books/b1') => null
            reference_slice(ref'/a/b/c/d/e/f', 0, 1) => ref'/a/b'
            reference_slice(ref'/a/b/c/d/e/f', 1, 2) => ref'/c/d/e/f'
            reference_slice(ref'/a/b', 0, -1) => error
            storage_size(ref'/books/book1') => 29
            storage_size('ab') => 3
            storage_size(1) => 8
            storage_size(absent) => null
            """)
    }

    @Test func `measure vectors, and no arrays`() {
        check(
            """
            cosine_distance(vec[1, 0], vec[0, 1]) => 1.0
            cosine_distance(vec[0, 0], vec[0, 1]) => error
            dot_product(vec[1, 2], vec[3, 4]) => 11.0
            euclidean_distance(vec[0, 0], vec[3, 4]) => 5.0
            manhattan_distance(vec[0, 0], vec[3, -4]) => 7.0
            vector_length(vec[1, 2, 3]) => 3
            vector_length([1]) => error
            euclidean_distance(vec[1], vec[1, 2]) => error 'dimensions'
            dot_product([1, 2], vec[1, 2]) => error
            dot_product(null, vec[1]) => null
            """)
    }
}
