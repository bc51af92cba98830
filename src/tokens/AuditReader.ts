import { Context, Effect, Layer, Schema } from "effect"
import { Address, type Mint } from "../domain/Address.ts"
import type { Commitment } from "../chain/Commitment.ts"
import { TokenBook } from "./TokenBook.ts"

/** The authorities of a mint account, with the slot, time and commitment of the observation. */
export interface MintAudit {
  /** The token program that owns the account; null for any other owner. */
  readonly tokenProgram: "spl-token" | "token-2022" | null
  readonly mintAuthority: Address | null
  readonly freezeAuthority: Address | null
  readonly slot: number
  /** Time of the observation, in milliseconds since the Unix epoch; null when the source has none. */
  readonly observedAtMs: number | null
  readonly commitment: Commitment
}

/** The mint account could not be read or is malformed. */
export class AuditUnavailable extends Schema.TaggedError<AuditUnavailable>()("AuditUnavailable", {
  mint: Address,
  detail: Schema.String
}) {}

/** Audits of mints in memory. */
export class AuditReader extends Context.Service<
  AuditReader,
  {
    /** The cached audit; null when none is cached, even if the mint does not exist. Never waits. */
    read(mint: Mint): Effect.Effect<MintAudit | null, AuditUnavailable>
  }
>()("fathom/tokens/AuditReader") {
  /** From the mints in memory. Reading a missing mint queues it for loading. */
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
        if (state._tag === "Malformed") {
          return yield* new AuditUnavailable({ mint, detail: state.detail })
        }
        if (state._tag !== "Token" || state.facts === null) {
          return null
        }
        const { freezeAuthority, mintAuthority, tokenProgram } = state.facts
        return { tokenProgram, mintAuthority, freezeAuthority, ...state.observation, commitment: book.commitment }
      })
      return AuditReader.of({ read })
    })
  )
}
