import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { TestClock } from "effect/testing"
import { SOL } from "../../src/domain/Address.ts"
import { NoRoute, type QuoteRequest } from "../../src/api/schemas/Quote.ts"
import { sharedQuotes, type TickQuote } from "../../src/quotes/sharedQuotes.ts"
import { at } from "./toyChain.ts"
import { quoteOf } from "./toyStream.ts"

const request: QuoteRequest = { inputMint: at(10), outputMint: SOL, amount: 5n, slippageBps: 50 }

/** Calls a quote function with the clock of the test. */
const timed = (quote: TickQuote) => (wanted: QuoteRequest) => Clock.clockWith(quote(wanted))

/** A quote function that counts its calls and pays one unit more each time. */
const counting = () => {
  const asked: Array<QuoteRequest> = []
  const quote = timed(sharedQuotes((wanted) => Effect.sync(() => quoteOf(BigInt(asked.push(wanted))))))
  return { asked, quote }
}

describe("quotes of equal ticks", () => {
  it.effect("are priced once for streams that tick together", () =>
    Effect.gen(function* () {
      const { asked, quote } = counting()
      const first = yield* quote(request)
      for (let stream = 0; stream < 5000; stream++) {
        assert.strictEqual(yield* quote({ ...request }), first)
      }
      assert.strictEqual(asked.length, 1)
    })
  )

  it.effect("are priced again for the next tick", () =>
    Effect.gen(function* () {
      const { asked, quote } = counting()
      yield* quote(request)
      yield* TestClock.adjust(5)
      assert.strictEqual((yield* quote(request)).outAmount, 2n)
      assert.strictEqual(asked.length, 2)
    })
  )

  it.effect("are priced separately when any term differs", () =>
    Effect.gen(function* () {
      const { asked, quote } = counting()
      const others: ReadonlyArray<Partial<QuoteRequest>> = [
        { inputMint: at(11) },
        { outputMint: at(12) },
        { amount: 6n },
        { slippageBps: 51 },
        { outputDecimals: 9 },
        { maxHops: 1 },
        { directOnly: true },
        { pools: [at(1)] },
        { venues: ["toy"] }
      ]
      yield* quote(request)
      for (const other of others) {
        yield* quote({ ...request, ...other })
      }
      assert.strictEqual(asked.length, 1 + others.length)
    })
  )

  it.effect("are requested again after a refusal", () =>
    Effect.gen(function* () {
      let refusals = 0
      const { inputMint, outputMint } = request
      const quote = timed(
        sharedQuotes(() =>
          Effect.suspend(() =>
            ++refusals === 1 ? new NoRoute({ inputMint, outputMint }) : Effect.succeed(quoteOf(7n))
          )
        )
      )
      assert.strictEqual((yield* Effect.flip(quote(request)))._tag, "NoRoute")
      assert.strictEqual((yield* quote(request)).outAmount, 7n)
    })
  )
})
