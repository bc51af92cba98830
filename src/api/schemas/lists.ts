/** Lists of different items, and labels that lists hold. */
import { Schema } from "effect"

/** A list in a body: 1 to `maximum` different items. */
export const UniqueList = <Item extends Schema.Constraint>(item: Item, maximum: number, noun: string) =>
  Schema.Array(item).check(
    Schema.isMinLength(1, { expected: `1 to ${maximum} ${noun}` }),
    Schema.isMaxLength(maximum, { expected: `1 to ${maximum} ${noun}` }),
    Schema.isUnique({ expected: `1 to ${maximum} different ${noun}` })
  )

/** Format of a venue label. The handler checks that the label exists. */
export const VenueLabel = Schema.String.check(
  Schema.isPattern(/^[a-z0-9-]{1,32}$/u, {
    expected: "a label of 1 to 32 of a-z, 0-9 and -"
  })
)
