/** The parameters of a page, the page itself, and the id in the meta of answers. */
import { Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"
import { IntegerParameter } from "./parameters.ts"
import { field } from "../domain/field.ts"

/** The most characters of a cursor. */
export const MAX_CURSOR = 512

/** The start of a page. The handler checks the content, because an invalid cursor has its own code. */
export const CursorParameter = Schema.String.annotate({
  description:
    "The nextCursor of the previous page, with the same selectors: 1 to 512 characters of URL-safe base64, valid for 15 minutes."
})

/** The most items of a page. */
export const LimitParameter = (maximum: number, byDefault: number) =>
  IntegerParameter(1, maximum, byDefault).pipe(
    Schema.annotateEncoded({ description: `Most items of a page, 1 to ${maximum}; ${byDefault} by default.` })
  )

/** The cursor of the next page. */
export const NextCursor = Schema.NullOr(Schema.String).annotate({ description: "Null on the last page." })

/** The parameters of a page: at most `maximum` items, `byDefault` when the caller sends no limit. */
export const pageParameters = (maximum: number, byDefault: number) => ({
  limit: Schema.optionalKey(LimitParameter(maximum, byDefault)),
  cursor: Schema.optionalKey(CursorParameter)
})

/** The schema of one page of items. */
export const pageOf = <Item extends Schema.Constraint, Meta extends Schema.Top>(
  item: Item,
  meta: Meta,
  annotations: { readonly identifier: string; readonly description: string }
) =>
  Schema.Struct({
    data: field(Schema.Array(item), "The answer itself."),
    nextCursor: NextCursor,
    meta: field(meta, "How the answer was made, and how well it is known.")
  }).annotate(annotations)

/** A list as comma-separated values. */
export const CsvText = Schema.String.annotate({
  description:
    "RFC 4180 with a header line. A cell that a spreadsheet could mistake for a formula begins with an apostrophe."
}).pipe(HttpApiSchema.asText({ contentType: "text/csv" }))

/** The parameter that requests a list as comma-separated values. */
export const FormatParameter = Schema.Literals(["json", "csv"])

/** A request id that the document declares as a UUID. */
export const RequestId = Schema.String.annotate({
  format: "uuid",
  description: "Id of this answer, as in X-Request-Id."
})
