import { Schema } from "effect"
import { Coverage, Status } from "../../domain/Scalar.ts"
import { TokenMetadataView } from "../../domain/market/TokenMetadata.ts"

/** Metadata of one token. */
export class TokenMetadataAnswer extends Schema.Opaque<TokenMetadataAnswer>()(
  Schema.Struct({
    data: TokenMetadataView,
    meta: Schema.Struct({
      requestId: Schema.String,
      methodVersion: Schema.Literal("public-metadata-v1"),
      chain: Schema.Literal("solana"),
      observedAtMs: Schema.NullOr(Schema.Int).annotate({
        description: "When the document was read, else the mint account."
      }),
      status: Status,
      coverage: Coverage
    })
  }).annotate({
    identifier: "TokenMetadataAnswer",
    description:
      "Metadata of one token. The answer never waits for the document: it is `partial` until the document was read, and `stale` while " +
      "it cannot be read again."
  })
) {}
