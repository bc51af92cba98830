import { Schema } from "effect"
import { Address } from "../Address.ts"
import { TokenRef } from "./Token.ts"

const text = (description: string) => Schema.NullOr(Schema.String).annotate({ description })
const time = (description: string) => Schema.NullOr(Schema.Int).annotate({ description })

/** Links of a document, `https` alone. */
export const DocumentLinks = Schema.Struct({
  website: text("`website` or `external_url`."),
  twitter: text("`twitter` or `x`."),
  telegram: text("`telegram`."),
  discord: text("`discord`.")
}).annotate({
  identifier: "DocumentLinks",
  description:
    "Links of the document, of its `extensions` or of its `links`: `https` alone; null without one. Unverified."
})
export type DocumentLinks = typeof DocumentLinks.Type

/** Parts of an off-chain document. */
const content = {
  name: text("Name in the document; it may differ from the one on chain."),
  symbol: text("Symbol in the document; it may differ from the one on chain."),
  description: text("Description in one line, cut off after 2,000 characters."),
  imageUrl: text("`https` link of the image, which is not read."),
  links: Schema.NullOr(DocumentLinks).annotate({ description: "Links; null until the document was read." })
}

/** Content of an off-chain document, cleaned. */
export interface MetadataDocument {
  readonly name: string | null
  readonly symbol: string | null
  readonly description: string | null
  readonly imageUrl: string | null
  readonly links: DocumentLinks
}

/** Why a document has not been read. */
export const DocumentReason = Schema.Literals([
  "off",
  "no_uri",
  "waiting",
  "refused",
  "unreachable",
  "timeout",
  "malformed"
])
export type DocumentReason = typeof DocumentReason.Type

/** The JSON behind the URI of a token. */
export class TokenDocument extends Schema.Opaque<TokenDocument>()(
  Schema.Struct({
    state: Schema.Literals(["read", "waiting", "failed", "off", "none"]).annotate({
      description:
        "`read`: the fields are those of the document. `waiting`: it is being read. `failed`: it could not be read and is tried " +
        "again later. `off`: this service reads no documents. `none`: the token has no URI."
    }),
    reason: Schema.NullOr(DocumentReason).annotate({
      description:
        "Reason of the last attempt, or of none; null when it succeeded. `refused`: the URI is no `https`, `ipfs` or `ar` address, or " +
        "its host is not on the public internet. `malformed`: another status than 200, no JSON object, or too long."
    }),
    ...content,
    fetchedAtMs: time("When the document was read, in milliseconds since the Unix epoch; null before."),
    expiresAtMs: time("When it is read again if it is asked for; null before the first attempt.")
  }).annotate({
    identifier: "TokenDocument",
    description: "The JSON behind the URI of a token, read in the background. Text and links are unverified."
  })
) {}

/** Metadata of a token, on chain and behind its URI. */
export class TokenMetadataView extends Schema.Opaque<TokenMetadataView>()(
  Schema.Struct({
    token: TokenRef,
    source: Schema.NullOr(Schema.Literals(["metaplex", "token-2022"])).annotate({
      description: "Account of the metadata: that of Metaplex, or the mint itself; null without metadata."
    }),
    updateAuthority: Schema.NullOr(Address).annotate({
      description: "Address that may change the metadata; null when given up, and without metadata."
    }),
    isMutable: Schema.NullOr(Schema.Boolean).annotate({
      description: "True while the metadata on chain may be changed; null when unknown."
    }),
    uri: text("URI of the document as it is on chain; null without one."),
    fields: Schema.NullOr(
      Schema.Array(
        Schema.Struct({ key: Schema.String, value: Schema.String }).annotate({
          description: "One further field."
        })
      )
    ).annotate({
      description: "Further fields of the metadata in a Token-2022 mint, at most 32; null without metadata."
    }),
    document: TokenDocument
  }).annotate({
    identifier: "TokenMetadata",
    description: "Metadata of a token, on chain and behind its URI. All of it is chosen by the creator and unverified."
  })
) {}
