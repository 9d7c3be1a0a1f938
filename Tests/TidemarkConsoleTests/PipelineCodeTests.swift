import Testing
import Tidemark
import TidemarkModel

@testable import TidemarkConsole

/// The code of pipelines. Each Swift text also stands here as code, which asks the same.
struct PipelineCodeTests {
    private let database = try! DatabaseID(project: "demo")

    private func code(_ text: String, _ language: QueryCode.Language) throws -> String {
        let pipeline = try PipelineText.parse(text, in: database)
        return PipelineCode(pipeline: pipeline, language: language).text.text
    }

    /// Compares the code with a text, and the pipeline that the code makes with the parsed one.
    private func check(
        _ text: String, isWritten swift: String, and pipeline: Tidemark.Pipeline
    ) throws {
        #expect(try code(text, .Swift) == swift)
        let (_, made) = try pipeline.runnable()
        #expect(made == (try PipelineText.parse(text, in: database)))
    }

    @Test func `Swift`() async throws {
        let firestore = try Firestore(
            projectID: "demo", settings: FirestoreSettings(cache: .memory))
        do { try checkAll(firestore) } catch {
            await firestore.terminate()
            throw error
        }
        await firestore.terminate()
    }

    private func checkAll(_ firestore: Firestore) throws {
        try check(
            """
            books | where rating > 4 and (genre == "novel" or not exists(genre)) | \
            aggregate count() as books, average(rating) as mean by author | sort mean desc | limit 3
            """,
            isWritten: """
                firestore.pipeline().collection("books")
                    .where(Field("rating").greaterThan(4) && (Field("genre").equal("novel") \
                || !(Field("genre").exists())))
                    .aggregate([CountAll().as("books"), Field("rating").average().as("mean")], \
                groups: [Field("author")])
                    .sort([Field("mean").descending()])
                    .limit(3)
                """,
            and: firestore.pipeline().collection("books")
                .where(
                    Field("rating").greaterThan(4)
                        && (Field("genre").equal("novel") || !(Field("genre").exists()))
                )
                .aggregate(
                    [CountAll().as("books"), Field("rating").average().as("mean")],
                    groups: [Field("author")]
                )
                .sort([Field("mean").descending()])
                .limit(3))
        try check(
            """
            **/m | where owner in ["a", "b"] and flag | unnest tags as tag index i | \
            select tag, round(n / 2, 1) as half | union (from d | offset 1) | sample 0.5 percent
            """,
            isWritten: """
                firestore.pipeline().collectionGroup("m")
                    .where(Field("owner").equalAny(["a", "b"]) && Field("flag").asBoolean())
                    .unnest(Field("tags").as("tag"), indexField: "i")
                    .select([Field("tag"), FunctionExpression(functionName: "round", args: \
                [Field("n").divide(2), Constant(1)]).as("half")])
                    .union(with: firestore.pipeline().collection("d").offset(1))
                    .sample(percentage: 0.5)
                """,
            and: firestore.pipeline().collectionGroup("m")
                .where(Field("owner").equalAny(["a", "b"]) && Field("flag").asBoolean())
                .unnest(Field("tags").as("tag"), indexField: "i")
                .select([
                    Field("tag"),
                    FunctionExpression(
                        functionName: "round", args: [Field("n").divide(2), Constant(1)]
                    ).as("half"),
                ])
                .union(with: firestore.pipeline().collection("d").offset(1))
                .sample(percentage: 0.5))
        try check(
            """
            c | let document_id(__name__) as id | add_fields scalar(from d | where r == $id | \
            aggregate count() as n) as d | find_nearest e to vector[1.0, 2.0] by dot_product limit 3 \
            distance far | replace_with m
            """,
            isWritten: """
                firestore.pipeline().collection("c")
                    .define([Field("__name__").documentId().as("id")])
                    .addFields([firestore.pipeline().collection("d")\
                .where(Field("r").equal(Variable("id"))).aggregate([CountAll().as("n")])\
                .toScalarExpression().as("d")])
                    .findNearest(field: Field("e"), vectorValue: VectorValue([1.0, 2.0]), \
                distanceMeasure: .dotProduct, limit: 3, distanceField: "far")
                    .replace(with: Field("m"))
                """,
            and: firestore.pipeline().collection("c")
                .define([Field("__name__").documentId().as("id")])
                .addFields([
                    firestore.pipeline().collection("d").where(Field("r").equal(Variable("id")))
                        .aggregate([CountAll().as("n")]).toScalarExpression().as("d")
                ])
                .findNearest(
                    field: Field("e"), vectorValue: VectorValue([1.0, 2.0]),
                    distanceMeasure: .dotProduct, limit: 3, distanceField: "far"
                )
                .replace(with: Field("m")))
    }

    @Test func `JavaScript and Python`() throws {
        let text = """
            books | where rating > 4 and genre in ["novel", null] | \
            aggregate count() as books, average(rating) as mean by author | sort mean desc
            """
        #expect(
            try code(text, .JavaScript) == """
                db.pipeline().collection("books")
                    .where(and(field("rating").greaterThan(4), \
                field("genre").equalAny(["novel", null])))
                    .aggregate({accumulators: [countAll().as("books"), \
                field("rating").average().as("mean")], groups: [field("author")]})
                    .sort(field("mean").descending())
                """)
        #expect(
            try code(text, .Python) == """
                pipeline = (
                    db.pipeline().collection("books")
                    .where(And(Field.of("rating").greater_than(4), \
                Field.of("genre").equal_any(["novel", None])))
                    .aggregate(Count().as_("books"), Field.of("rating").average().as_("mean"), \
                groups=[Field.of("author")])
                    .sort(Field.of("mean").descending())
                )
                """)
    }
}
