/** A token reader with everything loaded, and the expected scalars. */
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { SOL, USDC } from "../../src/domain/Address.ts"
import type { Scalar } from "../../src/domain/Scalar.ts"
import { TokenReader } from "../../src/tokens/TokenReader.ts"
import { BROKEN, COLD, makeTokenWorld, NOTHING, PLAIN, TOKEN, type TokenWorld, tokensOver } from "../support/tokens.ts"

export const settle = TestClock.adjust(0).pipe(Effect.repeat({ times: 20 }))

export const withTokens = <A, E>(
  use: (tokens: TokenReader["Service"], world: TokenWorld) => Effect.Effect<A, E>,
  world = makeTokenWorld()
) =>
  Effect.andThen(
    TestClock.setTime(1000),
    TokenReader.use((tokens) =>
      Effect.gen(function* () {
        yield* tokens.pricesOf([TOKEN, PLAIN, NOTHING, BROKEN, COLD, SOL, USDC])
        yield* settle
        return yield* use(tokens, world)
      })
    ).pipe(Effect.provide(tokensOver(world)))
  )

export const known = (value: string, unit: Scalar["unit"]): Scalar => ({
  value,
  unit,
  status: "known",
  observedAtMs: 1000,
  expiresAtMs: 11_000,
  coverage: { complete: true, reason: null }
})

export const missing = (unit: Scalar["unit"], reason: Scalar["coverage"]["reason"]): Scalar => ({
  value: null,
  unit,
  status: "unavailable",
  observedAtMs: null,
  expiresAtMs: null,
  coverage: { complete: false, reason }
})

export const partly = (value: string) => ({
  value,
  status: "partial" as const,
  observedAtMs: 1000,
  expiresAtMs: 11_000
})
