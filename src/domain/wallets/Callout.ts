import { Schema } from "effect"
import { Address, type Mint } from "../Address.ts"

/** A callout's id: `co_` and letters of the URL-safe alphabet, at most 64 characters in all. */
export const CalloutId = Schema.String.check(Schema.isPattern(/^co_[\w-]{1,61}$/u, { expected: "a callout id" }))

/** True for a well-formed callout id. */
export const isCalloutId = Schema.is(CalloutId)

// Text that a database and a page can hold alike: no control characters but line ends, no half surrogates.
const wellFormed = Schema.makeFilter((text: string) => text.isWellFormed() || "must be well-formed Unicode", {
  toJsonSchema: () => ({})
})

/** One line that a user wrote: 1 to 80 characters, none of them a control character. */
const Line = Schema.String.check(Schema.isPattern(/^[^\p{Cc}]{1,80}$/u), wellFormed)

/** Text of a callout: 1 to 1,000 characters; line ends are its only control characters. */
const Body = Schema.String.check(Schema.isPattern(/^(?:[^\p{Cc}]|\n){1,1000}$/u), wellFormed)

const MAX_URL = 2048

/** The URL that a text spells, if it is an absolute https URL without credentials; null otherwise. */
export const httpsUrl = (text: string): URL | null => {
  const url = text.length <= MAX_URL && text.startsWith("https://") ? URL.parse(text) : null
  return url?.protocol === "https:" && url.username === "" && url.password === "" ? url : null
}

const HttpsUrl = Schema.String.check(
  Schema.makeFilter((text) => httpsUrl(text) !== null || "must be an https URL", { toJsonSchema: () => ({}) })
)

/** A positive price in USD as exact decimal text: at most 20 and 30 digits around the point, no trailing zeros. */
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

/** A callout as it is posted. Nothing of it changes afterwards. */
export class NewCallout extends Schema.Opaque<NewCallout>()(Schema.Struct(posted)) {}

/** Active until it expires; removed is final and hides that it ever was. */
export const CalloutStatus = Schema.Literals(["active", "expired", "removed"])
export type CalloutStatus = typeof CalloutStatus.Type

/** One user's call of a token, with what came of it so far. Sums are exact. */
export class Callout extends Schema.Opaque<Callout>()(
  Schema.Struct({
    ...posted,
    status: CalloutStatus,
    clickCount: Schema.Int,
    /** Distinct wallets among the attributed trades. */
    traderCount: Schema.Int,
    attributedVolumeUsdNanos: Sum,
    earnedUsdNanos: Sum,
    pointsAwarded: Sum
  })
) {}

/** Status of a callout at a moment. At the moment of its expiry it is expired. */
export const statusAt = (
  callout: { readonly expiresAtMs: number; readonly isRemoved: boolean },
  nowMs: number
): CalloutStatus => {
  if (callout.isRemoved) {
    return "removed"
  }
  return callout.expiresAtMs <= nowMs ? "expired" : "active"
}

/** A settled trade that a callout brought about, and what its creator gets for it. */
export interface AttributedTrade {
  /** Counts once, for the callout it is attributed to first. */
  readonly tradeId: string
  readonly calloutId: string
  readonly trader: Address
  /** Never negative, like what follows. */
  readonly volumeUsdNanos: bigint
  readonly earnedUsdNanos: bigint
  readonly points: bigint
}

/** `recent`: newest first. `top`: by attributed volume. Equal ones by id, descending. */
export const CalloutSort = Schema.Literals(["recent", "top"])
export type CalloutSort = typeof CalloutSort.Type

/** A place in the order of one list, as that list was at its mark. */
export interface CalloutPlace {
  /** Position of the store's ledger at the read of the first page. Later rows and trades are not part of the list. */
  readonly mark: bigint
  /** Milliseconds of posting, or nano-dollars of volume: what the list is sorted by. */
  readonly key: bigint
  readonly id: string
}

/** Which active callouts are wanted. */
export interface CalloutSelection {
  readonly sort: CalloutSort
  /** Null for every token. */
  readonly mint: Mint | null
  readonly limit: number
  /** Null for the first page. */
  readonly after: CalloutPlace | null
}

/** One page, and the place to go on from; null at the end. */
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
