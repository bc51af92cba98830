/** Reviewed identity of a wallet. Trades never decide it, and a missing identity is not a verdict. */
import { Effect, Schema } from "effect"
import { Address } from "../../domain/Address.ts"
import { httpsUrl } from "./Callout.ts"
import { Signature } from "../../domain/Signature.ts"
import { field } from "../../domain/field.ts"

/** Lowest confidence at which a classification is shown, in basis points. */
export const REVIEWED_BPS = 9500

const wellFormed = Schema.makeFilter((text: string) => text.isWellFormed() || "must be well-formed Unicode")

/** One line of 1 to 80 characters without control characters. */
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
  description: "Confidence in basis points."
})

const HttpsUrl = Schema.String.check(
  Schema.makeFilter((text) => (/^\P{Cc}+$/u.test(text) && httpsUrl(text) !== null) || "must be an https URL", {
    expected: "an https URL"
  }),
  wellFormed
)

export class PlatformEvidence extends Schema.Opaque<PlatformEvidence>()(
  Schema.Struct({
    tag: field(
      Schema.String.check(Schema.isPattern(/^platform:[a-z0-9][a-z0-9_-]{0,39}$/u, { expected: "platform:<name>" })),
      "The tag that this evidence supports."
    ),
    method: field(Word, "How the evidence was found."),
    evidenceTx: Signature,
    confidence: Confidence,
    observedAtMs: field(
      TimeMs,
      "Time of the newest observation that was used, in milliseconds since the Unix epoch; null when there was none."
    )
  }).annotate({
    identifier: "PlatformEvidence",
    description: "What a platform tag rests on: an observed association with a fee account, not ownership."
  })
) {}

/** Possible classifications of a review. */
export const ClassificationKind = Schema.Literals(["hacker", "spam_dusting", "exchange"])
export type ClassificationKind = typeof ClassificationKind.Type

const classified = {
  kind: field(ClassificationKind, "Kind of owner."),
  method: field(Word, "How the owner was found out."),
  evidenceTx: Signature,
  confidence: Confidence,
  reviewedAtMs: field(TimeMs, "Time of the last review, in milliseconds since the Unix epoch.")
}

export class Classification extends Schema.Opaque<Classification>()(
  Schema.Struct({ ...classified, name: field(Schema.NullOr(Line), "Display name.") }).annotate({
    identifier: "Classification",
    description: "What reviewers found, with their evidence."
  })
) {}

/** Display name and picture of a wallet. */
const Display = Schema.Struct({ name: Line, avatarUrl: Schema.NullOr(HttpsUrl) })

/** An optional field; missing means empty. */
const optional = <S extends Schema.Top>(schema: S, empty: S["Encoded"]) =>
  schema.pipe(Schema.withDecodingDefaultKey(Effect.succeed(empty)))

const few = <S extends Schema.Top>(item: S) => Schema.Array(item).check(Schema.isMaxLength(32))

/** Registered name of a wallet, as cached. What is shown is decided on read. */
export const CachedName = Schema.Struct({
  domain: Line,
  /** Owner of the name when it was verified. */
  owner: Address,
  /** True when the name is wrapped in a token and can change hands unnoticed. */
  isTokenized: Schema.Boolean,
  verifiedAtMs: TimeMs
})
export type CachedName = typeof CachedName.Type

/** One source's record about one wallet. */
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
    /** The owner that wallets of the same source share; null when unknown. Not shown. */
    owner: optional(Schema.NullOr(Word), null)
  })
) {}

export class WalletIdentity extends Schema.Opaque<WalletIdentity>()(
  Schema.Struct({
    labels: field(Schema.Array(Schema.String), "Tags of the wallet itself. They are not roles in a token."),
    display: field(
      Schema.NullOr(
        Schema.Struct({
          name: field(Schema.String, "Display name."),
          avatarUrl: field(Schema.NullOr(Schema.String), "URL of the picture; null without one.")
        })
      ),
      "Reviewed."
    ),
    tags: field(Schema.Array(Schema.String), "`platform:<name>`, each with its evidence."),
    platformEvidence: field(Schema.Array(PlatformEvidence), "Platforms that the wallet was seen to use."),
    classifications: field(
      Schema.Array(Classification),
      "A reviewed and current classification. A missing one is not a verdict of safety."
    ),
    sns: field(
      Schema.NullOr(Schema.Struct({ domain: field(Schema.String, "Name of the Solana name service.") })),
      "A verified top-level .sol name that the wallet owns directly, from cache; null when unknown."
    )
  }).annotate({ identifier: "WalletIdentity", description: "What is known about who a wallet is." })
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
