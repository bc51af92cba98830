/** Callouts for pages, and what pages say. */
import type { Callout, NewCallout } from "../../../src/api/schemas/Callout.ts"
import { calloutOf } from "../../callouts/callouts.ts"
import type { Markup } from "./markup.ts"

/** A callout that something has come of. */
export const shown = (other: Partial<NewCallout> = {}): Callout => ({
  ...calloutOf("co_shown", other),
  status: "active",
  clickCount: 3,
  traderCount: 2,
  attributedVolumeUsdNanos: 1_234_500_000_001n,
  earnedUsdNanos: 12_000_000_000n,
  pointsAwarded: 40n
})

/** Every field that a user writes holds the text. */
export const writtenBy = (text: string): Callout =>
  shown({
    body: text,
    creator: { id: text, username: text, displayName: text, avatarUrl: text },
    tokenSymbol: text,
    tokenName: text,
    tokenImageUrl: text
  })

/** Content of the meta tag of that name. */
export const meta = ({ elements }: Markup, key: string): string | undefined =>
  elements.find(({ attributes }) => attributes["property"] === key || attributes["name"] === key)?.attributes["content"]

/** Names of the elements of a page, in order. */
export const namesOf = ({ elements }: Markup) => elements.map(({ name }) => name)
