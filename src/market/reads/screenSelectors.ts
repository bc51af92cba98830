/** What a screen selects, as a request says it. */
import { screenDefaults, type ScreenTerms } from "../../api/schemas/TokenScreen.ts"
import { fractionOf, type Rational } from "../../domain/rational.ts"
import type { ScreenSelectors } from "./screenView.ts"

/** A bound with its sign; null for none. */
const signed = (text: string | undefined): Rational | null => {
  if (text === undefined) {
    return null
  }
  const { denominator, numerator } = fractionOf(text.replace("-", ""))
  return { numerator: text.startsWith("-") ? -numerator : numerator, denominator }
}

/** The selectors of a request. */
export const selectorsOf = (body: ScreenTerms): ScreenSelectors => ({
  ranges: (body.ranges ?? []).map(({ max, min, statistic, unknown }) => ({
    statistic,
    min: signed(min),
    max: signed(max),
    takesUnknown: unknown === "include"
  })),
  mints: body.mints ?? null,
  launchpads: body.launchpads ?? null,
  platforms: body.platforms ?? null,
  venues: body.venues ?? null,
  creator: body.creator ?? null,
  graduated: body.graduated ?? null,
  mintAuthority: body.mintAuthority ?? null,
  freezeAuthority: body.freezeAuthority ?? null,
  sort: body.sort ?? screenDefaults.sort,
  show: body.show ?? []
})
