import { Schema } from "effect"
import { Address } from "../../domain/Address.ts"
import { field } from "../../domain/field.ts"
import { Scalar } from "../../domain/Scalar.ts"
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
