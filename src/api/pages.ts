/** Schemas that several groups share: the parameters of a page, the page itself, and the meta of responses. */
import { Schema } from "effect"
import { CursorParameter, LimitParameter, NextCursor } from "./cursor.ts"

/** The parameters of a page: at most `maximum` items, `byDefault` unless given. */
export const pageParameters = (maximum: number, byDefault: number) => ({
  limit: Schema.optionalKey(LimitParameter(maximum, byDefault)),
  cursor: Schema.optionalKey(CursorParameter)
})

/** The schema of one page of items. */
export const pageOf = <Item extends Schema.Constraint, Meta extends Schema.Constraint>(
  item: Item,
  meta: Meta,
  annotations: { readonly identifier: string; readonly description: string }
) => Schema.Struct({ data: Schema.Array(item), nextCursor: NextCursor, meta }).annotate(annotations)

/** A request id that the document declares as a UUID. */
export const RequestId = Schema.String.annotate({
  format: "uuid",
  description: "Id of this answer, as in X-Request-Id."
})
