/** The parameters and the field by which a list is read page by page. */
import { Schema } from "effect"
import { IntegerParameter } from "./parameters.ts"

/** The most characters a cursor has. */
export const MAX_CURSOR = 512

/** The start of a page. Its content is checked by the handler, because an invalid cursor has a code of its own. */
export const CursorParameter = Schema.String.annotate({
  description:
    "The nextCursor of the page before, with the same selectors: 1 to 512 characters of URL-safe base64, valid for 15 minutes."
})

/** The maximum number of items of a page. */
export const LimitParameter = (maximum: number, byDefault: number) =>
  IntegerParameter(1, maximum, byDefault).pipe(
    Schema.annotateEncoded({ description: `Items of a page at most, 1 to ${maximum}; ${byDefault} unless given.` })
  )

/** The cursor of the next page. */
export const NextCursor = Schema.NullOr(Schema.String).annotate({ description: "Null on the last page." })
