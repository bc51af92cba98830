import { assert, describe, it } from "@effect/vitest"
import type { Mint } from "../../../src/domain/Address.ts"
import type { TokenState } from "../../../src/tokens/TokenCache.ts"
import { tokensToLoad } from "../../../src/market/reads/tokenRef.ts"
import { mintOf } from "../tape/tape.ts"

const KNOWN: TokenState = { _tag: "Malformed", detail: "", observation: { slot: 1, observedAtMs: null } }

const booked = (known: ReadonlyArray<Mint>) => ({
  tokens: { read: (mint: Mint) => (known.includes(mint) ? KNOWN : null) }
})

describe("the tokens that a view loads", () => {
  it("are the tokens that are not loaded, even when their pools are", () => {
    const shown = [
      [mintOf(1), "10"],
      [mintOf(2), "20"]
    ] as const
    assert.deepStrictEqual(tokensToLoad(booked([mintOf(1)]), shown), [mintOf(2)])
  })

  it("are at most twenty, and tokens without liquidity do not hold up the others", () => {
    const mints = Array.from({ length: 60 }, (_, n) => mintOf(n))
    const loaded: Array<Mint> = []
    // No pool of these tokens is ever found.
    for (let view = 0; view < 3; view++) {
      loaded.push(
        ...tokensToLoad(
          booked(loaded),
          mints.map((mint) => [mint, null] as const)
        )
      )
    }
    assert.deepStrictEqual(loaded, mints)
    assert.lengthOf(
      tokensToLoad(
        booked(loaded),
        mints.map((mint) => [mint, null] as const)
      ),
      20
    )
  })
})
