import { Schema } from "effect"
import { Address } from "../../domain/Address.ts"
import { TokenRef } from "./Token.ts"
import { field } from "../../domain/field.ts"

const text = (description: string) => Schema.NullOr(Schema.String).annotate({ description })
const time = (description: string) => Schema.NullOr(Schema.Int).annotate({ description })

/** Links of a document; `https` only. */
export const DocumentLinks = Schema.Struct({
  website: text("`website` or `external_url`."),
  twitter: text("`twitter` or `x`."),
  telegram: text("`telegram`."),
  discord: text("`discord`.")
}).annotate({
  identifier: "DocumentLinks",
  description: "A link of the document, or of its `extensions` or `links`. Only `https`; null without one. Unverified."
})
export type DocumentLinks = typeof DocumentLinks.Type

/** Parts of an off-chain document. */
const content = {
  name: text("Name in the document; it may differ from the one on chain."),
  symbol: text("Symbol in the document; it may differ from the one on chain."),
  description: text("Description in one line, cut off after 2,000 characters."),
  imageUrl: text("`https` link of the image. The image itself is not read."),
  links: field(Schema.NullOr(DocumentLinks), "Links; null until the document has been read.")
}

/** The cleaned content of an off-chain document. */
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

export class TokenDocument extends Schema.Opaque<TokenDocument>()(
  Schema.Struct({
    state: field(
      Schema.Literals(["read", "waiting", "failed", "off", "none"]),
      "`read`: the fields come from the document. `waiting`: it is being read. `failed`: it could not be read and will be tried " +
        "again later. `off`: this service reads no documents. `none`: the token has no URI."
    ),
    reason: field(
      Schema.NullOr(DocumentReason),
      "Why the last attempt failed, or why there was none; null when it succeeded. `refused`: the URI is not an `https`, `ipfs` or `ar` address, or " +
        "its host is not on the public internet. `malformed`: a status other than 200, not a JSON object, or too long."
    ),
    ...content,
    fetchedAtMs: time("When the document was read, in milliseconds since the Unix epoch; null before that."),
    expiresAtMs: time("When the document is read again on request; null before the first attempt.")
  }).annotate({
    identifier: "TokenDocument",
    description: "The JSON behind the URI of a token, read in the background. Text and links are unverified."
  })
) {}

export class TokenMetadataView extends Schema.Opaque<TokenMetadataView>()(
  Schema.Struct({
    token: TokenRef,
    source: field(
      Schema.NullOr(Schema.Literals(["metaplex", "token-2022"])),
      "Account of the metadata: the Metaplex account, or the mint itself; null without metadata."
    ),
    updateAuthority: field(
      Schema.NullOr(Address),
      "Address that may change the metadata; null when given up, and without metadata."
    ),
    isMutable: field(
      Schema.NullOr(Schema.Boolean),
      "True while the metadata on chain may be changed; null when unknown."
    ),
    uri: text("URI of the document, as it is on chain; null without one."),
    fields: field(
      Schema.NullOr(
        Schema.Array(
          Schema.Struct({
            key: field(Schema.String, "Name of the field."),
            value: field(Schema.String, "Value of the field.")
          }).annotate({
            description: "One further field."
          })
        )
      ),
      "Further fields of the metadata in a Token-2022 mint, at most 32; null without metadata."
    ),
    document: TokenDocument
  }).annotate({
    identifier: "TokenMetadata",
    description: "Metadata of a token, on chain and behind its URI. The creator chose all of it, and it is unverified."
  })
) {}
