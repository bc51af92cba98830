import { Schema } from "effect"
import { Address, type Mint } from "../../domain/Address.ts"

/** A callout's id: `co_` and letters of the URL-safe alphabet, at most 64 characters in all. */
export const CalloutId = Schema.String.check(Schema.isPattern(/^co_[\w-]{1,61}$/u, { expected: "a callout id" }))

/** True for a well-formed callout id. */
export const isCalloutId = Schema.is(CalloutId)

// Text that both a database and a page can hold: no control characters except line ends, no half surrogates.
const wellFormed = Schema.makeFilter((text: string) => text.isWellFormed() || "must be well-formed Unicode", {
  toJsonSchema: () => ({})
})

/** One line written by a user: 1 to 80 characters without control characters. */
const Line = Schema.String.check(Schema.isPattern(/^[^\p{Cc}]{1,80}$/u), wellFormed)

/** Text of a callout: 1 to 1,000 characters; line ends are its only control characters. */
const Body = Schema.String.check(Schema.isPattern(/^(?:[^\p{Cc}]|\n){1,1000}$/u), wellFormed)

const MAX_URL = 2048

/** The URL of an absolute https address without credentials; null for any other text. */
export const httpsUrl = (text: string): URL | null => {
  const url = text.length <= MAX_URL && text.startsWith("https://") ? URL.parse(text) : null
  return url?.protocol === "https:" && url.username === "" && url.password === "" ? url : null
}

const HttpsUrl = Schema.String.check(
  Schema.makeFilter((text) => httpsUrl(text) !== null || "must be an https URL", { toJsonSchema: () => ({}) })
)

/**
 * A positive price in USD as exact decimal text: at most 20 digits before the point and 30 after it, no trailing zeros.
 */
const UsdPrice = Schema.String.check(
  Schema.isPattern(/^(?:[1-9][0-9]{0,19}|(?:0|[1-9][0-9]{0,19})\.[0-9]{0,29}[1-9])$/u, { expected: "a decimal price" })
)

/** Milliseconds since the Unix epoch, before the year 10000. */
const TimeMs = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 253_402_300_799_999 }))

const Sum = Schema.BigInt.check(Schema.isGreaterThanOrEqualToBigInt(0n))

/** Author of a callout at the time of posting. */
export const CalloutCreator = Schema.Struct({
  id: Line,
  username: Line,
  displayName: Line,
  avatarUrl: Schema.NullOr(HttpsUrl)
})

const posted = {
  id: CalloutId,
  mint: Address,
  body: Body,
  createdAtMs: TimeMs,
  expiresAtMs: TimeMs,
  creator: CalloutCreator,
  tokenSymbol: Schema.NullOr(Line),
  tokenName: Schema.NullOr(Line),
  tokenImageUrl: Schema.NullOr(HttpsUrl),
  /** Price of the token at the time of posting; null when no price was known. */
  priceUsdAtCreate: Schema.NullOr(UsdPrice)
}

/** A callout as it is posted. It never changes afterwards. */
export class NewCallout extends Schema.Opaque<NewCallout>()(Schema.Struct(posted)) {}

/** Active until it expires. Removed is final and hides that the callout ever existed. */
export const CalloutStatus = Schema.Literals(["active", "expired", "removed"])
export type CalloutStatus = typeof CalloutStatus.Type

/** One user's callout of a token, with its results so far. Sums are exact. */
export class Callout extends Schema.Opaque<Callout>()(
  Schema.Struct({
    ...posted,
    status: CalloutStatus,
    clickCount: Schema.Int,
    /** Number of different wallets among the attributed trades. */
    traderCount: Schema.Int,
    attributedVolumeUsdNanos: Sum,
    earnedUsdNanos: Sum,
    pointsAwarded: Sum
  })
) {}

/** Status of a callout at a moment. It is expired from the moment of expiry on. */
export const statusAt = (
  callout: { readonly expiresAtMs: number; readonly isRemoved: boolean },
  nowMs: number
): CalloutStatus => {
  if (callout.isRemoved) {
    return "removed"
  }
  return callout.expiresAtMs <= nowMs ? "expired" : "active"
}

/** A settled trade that a callout brought about, and what its creator earns. */
export interface AttributedTrade {
  /** Counts once, for the first callout that it is attributed to. */
  readonly tradeId: string
  readonly calloutId: string
  readonly trader: Address
  /** Never negative, like the fields below. */
  readonly volumeUsdNanos: bigint
  readonly earnedUsdNanos: bigint
  readonly points: bigint
}

/** `recent`: newest first. `top`: by attributed volume. Ties by id, descending. */
export const CalloutSort = Schema.Literals(["recent", "top"])
export type CalloutSort = typeof CalloutSort.Type

/** A place in a list, in the order that the list had at its mark. */
export interface CalloutPlace {
  /** Position of the store's ledger when the first page was read. Later rows and trades are not in the list. */
  readonly mark: bigint
  /** The sort key: time of posting in milliseconds, or volume in nano-dollars. */
  readonly key: bigint
  readonly id: string
}

/** Selects active callouts. */
export interface CalloutSelection {
  readonly sort: CalloutSort
  /** Null for every token. */
  readonly mint: Mint | null
  readonly limit: number
  /** Null for the first page. */
  readonly after: CalloutPlace | null
}

/** One page, and the place where the next page begins; null at the end. */
export interface CalloutSlice {
  readonly callouts: ReadonlyArray<Callout>
  readonly next: CalloutPlace | null
}

/** The store did not answer in time, or failed. */
export class CalloutStoreUnavailable extends Schema.TaggedError<CalloutStoreUnavailable>()("CalloutStoreUnavailable", {
  cause: Schema.Defect()
}) {
  override get message(): string {
    return "the callout store does not answer"
  }
}
