/** How a list is read page by page: the parameters that ask for a page, and the field that leads to the next. */
import { Schema } from "effect"
import { IntegerParameter } from "./parameters.ts"

/** The most characters a cursor has. */
export const MAX_CURSOR = 512

/** Where a page begins. What it holds is for the handler to check, because a wrong one has a code of its own. */
export const CursorParameter = Schema.String.annotate({
  description:
    "The nextCursor of the page before, with the same selectors: 1 to 512 characters of URL-safe base64, valid for 15 minutes."
})

/** How many items a page may have, at most. */
export const LimitParameter = (maximum: number, byDefault: number) =>
  IntegerParameter(1, maximum).pipe(
    Schema.annotateEncoded({ description: `Items of a page at most, 1 to ${maximum}; ${byDefault} unless given.` })
  )

/** What leads to the next page. */
export const NextCursor = Schema.NullOr(Schema.String).annotate({ description: "Null on the last page." })
