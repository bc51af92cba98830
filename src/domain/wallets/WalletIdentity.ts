/** Reviewed identity of a wallet. Nothing follows from its trades; no identity is no verdict. */
import { Effect, Schema } from "effect"
import { Address } from "../Address.ts"
import { httpsUrl } from "./Callout.ts"
import { Signature } from "../Signature.ts"

/** Least confidence of a classification that is shown, in basis points. */
export const REVIEWED_BPS = 9500

const wellFormed = Schema.makeFilter((text: string) => text.isWellFormed() || "must be well-formed Unicode")

/** One line of 1 to 80 characters, none of them a control character. */
const Line = Schema.String.check(
  Schema.isPattern(/^[^\p{Cc}]{1,80}$/u, { expected: "1 to 80 characters without control characters" }),
  wellFormed
)

/** A stable word: lower case letters, digits, `_` and `-`. */
const Word = Schema.String.check(
  Schema.isPattern(/^[a-z0-9][a-z0-9_-]{0,39}$/u, { expected: "1 to 40 of a-z, 0-9, _ and -" })
)

/** Milliseconds since the Unix epoch, before the year 10000. */
const TimeMs = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 253_402_300_799_999 }))

const Confidence = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 10_000 })).annotate({
  description: "Basis points."
})

const HttpsUrl = Schema.String.check(
  Schema.makeFilter((text) => (/^\P{Cc}+$/u.test(text) && httpsUrl(text) !== null) || "must be an https URL", {
    expected: "an https URL"
  }),
  wellFormed
)

/** On what an association with a platform rests. */
export class PlatformEvidence extends Schema.Opaque<PlatformEvidence>()(
  Schema.Struct({
    tag: Schema.String.check(
      Schema.isPattern(/^platform:[a-z0-9][a-z0-9_-]{0,39}$/u, { expected: "platform:<name>" })
    ).annotate({ description: "The tag that this is the evidence of." }),
    method: Word,
    evidenceTx: Signature,
    confidence: Confidence,
    observedAtMs: TimeMs
  }).annotate({
    identifier: "PlatformEvidence",
    description: "On what a platform tag rests: an observed association with a fee account, not ownership."
  })
) {}

/** Possible classifications of a review. */
export const ClassificationKind = Schema.Literals(["hacker", "spam_dusting", "exchange"])
export type ClassificationKind = typeof ClassificationKind.Type

const classified = {
  kind: ClassificationKind,
  method: Word,
  evidenceTx: Signature,
  confidence: Confidence,
  reviewedAtMs: TimeMs
}

/** Result of a review, as shown. */
export class Classification extends Schema.Opaque<Classification>()(
  Schema.Struct({ ...classified, name: Schema.NullOr(Line) }).annotate({
    identifier: "Classification",
    description: "What reviewers found, with their evidence."
  })
) {}

/** Display name and picture of a wallet. */
const Display = Schema.Struct({ name: Line, avatarUrl: Schema.NullOr(HttpsUrl) })

/** Left out means empty. */
const optional = <S extends Schema.Top>(schema: S, empty: S["Encoded"]) =>
  schema.pipe(Schema.withDecodingDefaultKey(Effect.succeed(empty)))

const few = <S extends Schema.Top>(item: S) => Schema.Array(item).check(Schema.isMaxLength(32))

/** Registered name of a wallet, as cached; its display is decided on read. */
export const CachedName = Schema.Struct({
  domain: Line,
  /** Owner of the name at its verification. */
  owner: Address,
  /** Wrapped in a token, and so changing hands without us. */
  isTokenized: Schema.Boolean,
  verifiedAtMs: TimeMs
})
export type CachedName = typeof CachedName.Type

/** Record of one source about one wallet. */
export class IdentityRecord extends Schema.Opaque<IdentityRecord>()(
  Schema.Struct({
    wallet: Address,
    labels: optional(few(Line), []),
    display: optional(Schema.NullOr(Display), null),
    platforms: optional(few(PlatformEvidence), []),
    classifications: optional(
      few(
        Schema.Struct({
          ...classified,
          name: optional(Schema.NullOr(Line), null),
          /** Expiry of the review; null when it has none. */
          validUntilMs: optional(Schema.NullOr(TimeMs), null)
        })
      ),
      []
    ),
    sns: optional(Schema.NullOr(CachedName), null),
    /** The owner that wallets of the same source share; null when it is not known. Not shown. */
    owner: optional(Schema.NullOr(Word), null)
  })
) {}

/** Identity of a wallet, independent of any token. */
export class WalletIdentity extends Schema.Opaque<WalletIdentity>()(
  Schema.Struct({
    labels: Schema.Array(Schema.String).annotate({ description: "Of the wallet itself: no role in any token." }),
    display: Schema.NullOr(Schema.Struct({ name: Schema.String, avatarUrl: Schema.NullOr(Schema.String) })).annotate({
      description: "Reviewed."
    }),
    tags: Schema.Array(Schema.String).annotate({ description: "platform:<name>, each with its evidence." }),
    platformEvidence: Schema.Array(PlatformEvidence),
    classifications: Schema.Array(Classification).annotate({
      description: "Reviewed and current. That there is none is no verdict of safety."
    }),
    sns: Schema.NullOr(Schema.Struct({ domain: Schema.String })).annotate({
      description: "A verified top-level .sol name that the wallet owns directly, from cache; null when unknown."
    })
  }).annotate({ identifier: "WalletIdentity", description: "Who a wallet is known to be." })
) {}

/** The identity store does not answer. */
export class IdentityStoreUnavailable extends Schema.TaggedError<IdentityStoreUnavailable>()(
  "IdentityStoreUnavailable",
  { cause: Schema.Defect() }
) {
  override get message(): string {
    return "the identity store does not answer"
  }
}
