import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { ChainUnavailable } from "../../../src/chain/ChainUnavailable.ts"
import { TOKEN_PROGRAMS, TokenAccounts } from "../../../src/chain/rpc/TokenAccounts.ts"
import { type Address, type Mint, SOL, USDC } from "../../../src/domain/Address.ts"
import { fromBase58 } from "../../../src/domain/base58.ts"
import { call, keyOf, running } from "../../support/http.ts"
import { walletOf } from "../../market/tape/tape.ts"
import { readerOver } from "../../wallets/readers.ts"
import { MINT, MINT_2, OTHER, tradeOf, WALLET } from "../../wallets/trades.ts"

const account = (owner: Address, mint: Mint, units: bigint): Uint8Array => {
  const data = new Uint8Array(72)
  data.set(fromBase58(mint) ?? [], 0)
  data.set(fromBase58(owner) ?? [], 32)
  new DataView(data.buffer).setBigUint64(64, units, true)
  return data
}

const HUGE = walletOf(99)

const asked = { count: 0, running: 0, most: 0 }

/** Counts the reads that run at the same time. */
const counted = <A, E>(read: Effect.Effect<A, E>) =>
  Effect.suspend(() => {
    asked.most = Math.max(asked.most, ++asked.running)
    return Effect.andThen(Effect.yieldNow, read).pipe(Effect.ensuring(Effect.sync(() => asked.running--)))
  })

/** A node whose wallet `OTHER` cannot be read, and that gives `WALLET` the accounts of the test. */
const node = Layer.succeed(TokenAccounts, {
  ofOwner: ({ maxBytes, owner, program }) => {
    asked.count++
    const isFirst = program === TOKEN_PROGRAMS[0]
    return counted(
      owner === HUGE
        ? Effect.fail(new ChainUnavailable({ reason: "invalid", detail: `more than ${maxBytes}`, isTooLarge: true }))
        : owner === OTHER
          ? Effect.fail(new ChainUnavailable({ reason: "unreachable", detail: "no" }))
          : Effect.succeed({
              slot: isFirst ? 12 : 11,
              accounts: isFirst
                ? [
                    account(owner, MINT, 3n),
                    account(owner, MINT, 4n),
                    account(owner, MINT_2, 0n),
                    account(owner, USDC, 2_000_000n),
                    account(owner, SOL, 500n)
                  ]
                : [account(owner, MINT_2, owner === WALLET ? 0n : 9n)]
            })
    )
  },
  lamportsOf: () => counted(Effect.succeed({ slot: 13, lamports: 1500n }))
})

// Micro-dollars for one smallest unit.
const marks = { [MINT]: 5n, [SOL]: 2n, [USDC]: 1n }
const third = tradeOf({ slot: 3, role: "transfer", amount: 7n, volumeUsdNanos: null })
const trades = {
  [WALLET]: [
    tradeOf({ slot: 9, role: "transfer", amount: 8n, volumeUsdNanos: null }),
    tradeOf({ slot: 5 }),
    third,
    tradeOf({ slot: 2, role: "transfer", side: "sell", amount: 1n, volumeUsdNanos: null })
  ],
  [MINT]: [third, tradeOf({ slot: 1 })]
}

const keys = [keyOf("a"), keyOf("b")]
const read = (path: string) => call(`/api/v1/wallets/${path}`, { method: "GET", key: "a" })

describe("what a wallet holds", () => {
  layer(running({ keys, wallets: readerOver({ node, trades, marks }) }))((it) => {
    it.effect("says that a wallet has too many accounts to be read", () =>
      Effect.gen(function* () {
        const answer = yield* read(`${HUGE}/balances`)
        assert.deepStrictEqual([answer.status, answer.json("error.code")], [503, "data_unavailable"])
        assert.include(String(answer.json("error.message")), "more token accounts than are read")
      })
    )

    it.effect("has every token over all accounts, SOL with wrapped SOL, dollars, and values", () =>
      Effect.gen(function* () {
        const answer = yield* read(`${WALLET}/balances`)
        assert.strictEqual(answer.status, 200, answer.text)
        assert.deepInclude(answer.json("data.sol"), { lamports: "1500", wrappedLamports: "500", valueUsd: "0.004" })
        assert.deepStrictEqual(
          [answer.json("data.tokens")].flat().map((row) => {
            const { amount, isDollar, mint, valueUsd } = Object(row)
            return [mint, amount, isDollar, valueUsd]
          }),
          [
            [USDC, "2000000", true, "2"],
            [MINT, "7", false, "0.000035"]
          ]
        )
        // No trade of the dollar was seen. Its decimals are known nevertheless.
        assert.deepInclude(answer.json("data.tokens.0"), { mint: USDC, decimals: 6, markUsd: "1" })
        assert.deepStrictEqual(answer.json("data.sums"), {
          tokens: 2,
          unknown: 0,
          unvalued: 0,
          solUsd: "0.004",
          dollarsUsd: "2",
          valueUsd: "2.004035",
          knownValueUsd: "2.004035"
        })
        assert.deepInclude(answer.json("meta"), {
          slot: 11,
          slots: { sol: 13, splToken: 12, token2022: 11 },
          status: "known",
          coverage: { complete: true, reason: null }
        })
      })
    )

    it.effect("has no value where a price is unknown, and counts the token", () =>
      Effect.gen(function* () {
        const answer = yield* read(`${MINT}/balances`)
        assert.deepInclude(answer.json("data.tokens.2"), { mint: MINT_2, amount: "9", valueUsd: null, markUsd: null })
        assert.deepInclude(answer.json("data.sums"), {
          tokens: 3,
          unvalued: 1,
          valueUsd: null,
          knownValueUsd: "2.004035"
        })
        assert.deepInclude(answer.json("meta"), {
          status: "partial",
          coverage: { complete: false, reason: "mark_unknown" }
        })
        const short = yield* read(`${MINT}/balances?limit=1`)
        assert.deepStrictEqual([short.json("data.truncated"), short.json("data.sums.tokens")], [true, 3])
      })
    )

    it.effect("asks the node for both token programs and SOL at once", () =>
      Effect.gen(function* () {
        yield* TestClock.adjust("6 seconds")
        asked.most = 0
        yield* read(`${WALLET}/balances`)
        assert.strictEqual(asked.most, 3)
      })
    )

    it.effect("asks the node once in five seconds, and is a 503 while the node is away", () =>
      Effect.gen(function* () {
        yield* TestClock.adjust("6 seconds")
        const before = asked.count
        yield* read(`${WALLET}/balances`)
        yield* read(`${WALLET}/balances`)
        assert.strictEqual(asked.count - before, 2)
        yield* TestClock.adjust("6 seconds")
        yield* read(`${WALLET}/balances`)
        assert.strictEqual(asked.count - before, 4)
        const away = yield* read(`${OTHER}/balances`)
        assert.deepStrictEqual([away.status, away.json("error.code")], [503, "data_unavailable"])
      })
    )

    it.effect("/funded-by has the first transfer to the wallet with its transaction, and is never complete", () =>
      Effect.gen(function* () {
        const answer = yield* read(`${WALLET}/funded-by`)
        assert.strictEqual(answer.status, 200, answer.text)
        assert.deepInclude(answer.json("data.transfer"), {
          signature: "sig_3_0",
          slot: 3,
          amount: "7",
          direction: "in"
        })
        assert.isFalse(answer.json("data.tradedBefore"))
        assert.deepStrictEqual(answer.json("meta.coverage"), { complete: false, reason: "observed_swaps_only" })
        assert.isTrue((yield* read(`${MINT}/funded-by`)).json("data.tradedBefore"))
        const unknown = yield* read(`${OTHER}/funded-by`)
        assert.deepStrictEqual(unknown.json("data"), {
          wallet: OTHER,
          transfer: null,
          opening: null,
          tradedBefore: null
        })
        assert.deepStrictEqual(unknown.json("meta.coverage"), { complete: false, reason: "not_captured" })
      })
    )
  })
})
