import { Context, Effect, Layer, Schema } from "effect"
import { Address, type Mint } from "../domain/Address.ts"
import type { Commitment } from "../solana/Commitment.ts"
import { TokenBook } from "./TokenBook.ts"

/** What was read of a mint account, and everything a reader needs to decide whether to believe it. */
export interface MintAudit {
  /** The program that owns the account, where it is one of the token programs. */
  readonly tokenProgram: "spl-token" | "token-2022" | null
  readonly mintAuthority: Address | null
  readonly freezeAuthority: Address | null
  readonly slot: number
  /** When the chain told it, in milliseconds since the Unix epoch; null when the source does not say. */
  readonly observedAtMs: number | null
  readonly commitment: Commitment
}

/** The snapshot could not be read, or makes no sense. */
export class AuditUnavailable extends Schema.TaggedError<AuditUnavailable>()("AuditUnavailable", {
  mint: Address,
  detail: Schema.String
}) {}

/** What is already in memory about the mint of a token. */
export class AuditReader extends Context.Service<
  AuditReader,
  {
    /** The audit that is cached; null when there is none, which may be because the chain knows no such mint. Never waits. */
    read(mint: Mint): Effect.Effect<MintAudit | null, AuditUnavailable>
  }
>()("fathom/tokens/AuditReader") {
  /** From the mints in memory. Asking for one that is not there has it loaded, for whoever asks next. */
  static readonly layer: Layer.Layer<AuditReader, never, TokenBook> = Layer.effect(
    AuditReader,
    Effect.gen(function* () {
      const book = yield* TokenBook

      const read = Effect.fnUntraced(function* (mint: Mint): Effect.fn.Return<MintAudit | null, AuditUnavailable> {
        const state = book.read(mint)
        if (state === null) {
          yield* book.warm(mint)
          return null
        }
        switch (state._tag) {
          case "NoToken":
            return null
          case "Malformed":
            return yield* new AuditUnavailable({ mint, detail: state.detail })
          case "Token": {
            if (state.facts === null) {
              return null
            }
            const { freezeAuthority, mintAuthority, tokenProgram } = state.facts
            return { tokenProgram, mintAuthority, freezeAuthority, ...state.observation, commitment: book.commitment }
          }
        }
      })
      return AuditReader.of({ read })
    })
  )
}
