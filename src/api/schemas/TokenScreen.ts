import { Schema, SchemaIssue } from "effect"
import { Address } from "../../domain/Address.ts"
import { field } from "../../domain/field.ts"
import { Scalar } from "../../domain/Scalar.ts"
import { UniqueList, VenueLabel } from "./lists.ts"
import { MarketWindow } from "./MarketViews.ts"
import { TokenRef } from "./Token.ts"

/** What is measured of a token in each window. */
export const windowStatistics = [
  "changePct",
  "volumeUsd",
  "buyVolumeUsd",
  "sellVolumeUsd",
  "trades",
  "buys",
  "sells",
  "buySharePct",
  "traders"
] as const

/** What is measured of a token once. */
export const tokenStatistics = [
  "priceUsd",
  "marketCapUsd",
  "liquidityUsd",
  "liquidityToMarketCapPct",
  "turnoverPct",
  "pools",
  "ageMs",
  "sinceGraduationMs",
  "idleMs",
  "curveProgressPct",
  "holders",
  "top10Pct",
  "top50Pct",
  "creatorPct"
] as const

export type WindowStatistic = (typeof windowStatistics)[number]
export type TokenStatistic = (typeof tokenStatistics)[number]
export type ScreenStatistic = `${WindowStatistic}.${MarketWindow}` | TokenStatistic

/** Every statistic that tokens are screened by. */
export const screenStatistics: ReadonlyArray<ScreenStatistic> = [
  ...windowStatistics.flatMap((name) => MarketWindow.literals.map((window) => `${name}.${window}` as const)),
  ...tokenStatistics
]

export const ScreenStatistic = Schema.Literals(screenStatistics).annotate({
  identifier: "ScreenStatistic",
  description: `A statistic of a token. ${windowStatistics.map((name) => `\`${name}\``).join(", ")} are of a window that ends now, as in \`volumeUsd.24h\`. \`buySharePct\`: purchases in percent of trades. \`liquidityToMarketCapPct\`: liquidity in percent of the market value. \`turnoverPct\`: volume of 24 hours in percent of the market value. \`pools\`: pools that are in memory. \`ageMs\`: since the creation. \`sinceGraduationMs\`: since the migration to a pool. \`idleMs\`: since the last trade. \`top10Pct\`, \`top50Pct\`: held by the largest wallets. \`creatorPct\`: held by the creator.`
})

const Bound = Schema.String.check(
  Schema.isMaxLength(64, { expected: "a plain decimal number of at most 64 characters" }),
  Schema.isPattern(/^-?(?:0|[1-9][0-9]*)(?:\.[0-9]{1,30})?$/u, {
    expected: "a plain decimal number with at most 30 fraction digits"
  })
)

export const ScreenRange = Schema.Struct({
  statistic: field(ScreenStatistic, "The statistic that has to be in the range."),
  min: field(Schema.optionalKey(Bound), "Least value, included."),
  max: field(Schema.optionalKey(Bound), "Greatest value, included."),
  unknown: field(
    Schema.optionalKey(Schema.Literals(["exclude", "include"])),
    "`exclude`, the default: a token whose value is unknown is left out and counted. `include`: it passes."
  )
}).annotate({
  identifier: "ScreenRange",
  description: "A range of one statistic, with at least one of `min` and `max`."
})

export class ScreenRow extends Schema.Opaque<ScreenRow>()(
  Schema.Struct({
    rank: field(Schema.Int, "Place in the order; the first is 1."),
    token: TokenRef,
    launchpad: field(Schema.NullOr(Schema.String), "Key of the launchpad; null when unknown."),
    platform: field(Schema.NullOr(Schema.String), "Key of the platform that launched the token; null when unknown."),
    creator: field(Schema.NullOr(Address), "The wallet that launched the token; null when unknown."),
    createdAtMs: field(
      Schema.NullOr(Schema.Int),
      "Time of creation, in milliseconds since the Unix epoch; null when unknown."
    ),
    graduatedAtMs: field(
      Schema.NullOr(Schema.Int),
      "Time of the migration, in milliseconds since the Unix epoch; null before it, or when unknown."
    ),
    venues: field(Schema.NullOr(Schema.Array(Schema.String)), "Venues with a pool of the token; null when unknown."),
    values: field(
      Schema.Record(Schema.String, Scalar),
      "The statistics of the ranges, of the order and of `show`, by name."
    )
  }).annotate({ identifier: "ScreenRow", description: "A token in all ranges, with its statistics." })
) {}

/** What a screen says of the tokens that it looked at. */
export const screened = {
  tokens: field(Schema.Int, "Tokens that traded or were launched in the last 24 hours. Only these are screened."),
  examined: field(
    Schema.Int,
    "Tokens whose statistics were computed. The others were out of a range by what memory counts, or past the limit."
  ),
  excluded: field(
    Schema.Struct({
      unknownFilter: field(Schema.Int, "Tokens for which a filtered value is unknown.")
    }),
    "Tokens that are on no page because a value is unknown."
  )
}

/** Default number of rows of a page, and the default order. */
export const screenDefaults = { rows: 20, sort: { statistic: "volumeUsd.24h", direction: "desc" } } as const

/** Most ranges, most statistics that `show` may add, and most rows of a page. */
export const MOST_RANGES = 16
export const MOST_SHOWN = 16
export const MOST_SCREENED_ROWS = 100

export const ScreenOrder = Schema.Struct({
  statistic: field(ScreenStatistic, "The statistic that decides the order."),
  direction: field(Schema.Literals(["asc", "desc"]), "`desc`: the greatest value first.")
})

/** Texts of a list filter. */
const labels = (description: string) => field(Schema.optionalKey(UniqueList(VenueLabel, 20, "labels")), description)

const authority = (noun: string) =>
  field(
    Schema.optionalKey(Schema.Literals(["revoked", "active"])),
    `Whether the ${noun} authority was given up. Unknown never passes.`
  )

/** Which tokens are requested, in which order. */
export const screenFields = {
  ranges: field(
    Schema.optionalKey(Schema.Array(ScreenRange).check(Schema.isMaxLength(MOST_RANGES))),
    `Ranges that a token has to be in, at most ${MOST_RANGES}, each of another statistic.`
  ),
  mints: field(Schema.optionalKey(UniqueList(Address, 100, "mints")), "Only these tokens."),
  launchpads: labels("Only of these launchpads: keys of the lighthouse."),
  platforms: labels("Only of these platforms: keys of `platform`, such as `bags` or `letsbonk`."),
  venues: labels("Only tokens with a pool of these venues."),
  creator: field(Schema.optionalKey(Address), "Only tokens that this wallet launched."),
  graduated: field(
    Schema.optionalKey(Schema.Boolean),
    "`true`: only tokens whose migration was seen. `false`: only tokens of a launchpad that have not migrated."
  ),
  mintAuthority: authority("mint"),
  freezeAuthority: authority("freeze"),
  sort: field(
    Schema.optionalKey(ScreenOrder),
    "The order of the rows; `volumeUsd.24h` with the greatest first by default. Unknown values come last."
  ),
  show: field(
    Schema.optionalKey(UniqueList(ScreenStatistic, MOST_SHOWN, "statistics")),
    "Statistics that rows show beside those of the ranges and the order."
  ),
  limit: field(
    Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: MOST_SCREENED_ROWS }))),
    "Most rows of a page, 1 to 100; 20 by default."
  )
}

const ScreenTerms = Schema.Struct(screenFields)
/** Which tokens are requested, in which order. */
export type ScreenTerms = typeof ScreenTerms.Type

const isBounded = ({ max, min }: typeof ScreenRange.Type) => min !== undefined || max !== undefined

const wrongRanges = (issue: "conflict" | "missing", message: string) => ({
  path: ["ranges"],
  issue: new SchemaIssue.InvalidValue({ message, issue })
})

/** Each range is of another statistic and has a bound. */
export const rangesOfDifferent = Schema.makeFilter(
  ({ ranges = [] }: { readonly ranges?: ReadonlyArray<typeof ScreenRange.Type> }) =>
    new Set(ranges.map(({ statistic }) => statistic)).size < ranges.length
      ? wrongRanges("conflict", "Each range must have another statistic.")
      : ranges.every(isBounded) || wrongRanges("missing", "Each range must have min or max.")
)
