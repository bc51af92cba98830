import { assert, layer } from "@effect/vitest"
import { ConfigProvider, Effect, Layer, Schema } from "effect"
import { TestClock } from "effect/testing"
import { TokenHoldersAnswer } from "../../../src/api/Tokens.ts"
import { type Address, addressToBytes } from "../../../src/domain/Address.ts"
import * as FollowHolders from "../../../src/market/reads/followHolders.ts"
import { BURN_ADDRESSES } from "../../../src/market/reads/ownerKinds.ts"
import { Market } from "../../../src/market/tape/Market.ts"
import { Tape } from "../../../src/market/tape/Tape.ts"
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../../src/programs/layout/tokenAccount.ts"
import { AccountScan } from "../../../src/chain/rpc/AccountScan.ts"
import { ChainUnavailable } from "../../../src/chain/ChainUnavailable.ts"
import { walletOf } from "../../market/tape/tape.ts"
import { type Answer, call, running } from "../../support/http.ts"
import { block } from "../../support/reads.ts"
import { COLD, eventually, makeTokenWorld, NOTHING, PLAIN, pools, TOKEN, tokensOver } from "../../support/tokens.ts"
import { toyPoolBook } from "../../tokens/toyPools.ts"
import { answered, assertInvalid, assertRefused, keys, unknown } from "./tokenCalls.ts"

const BURN = BURN_ADDRESSES[0] ?? walletOf(0)
/** Seconds after the epoch of the tests' blocks. */
const NOW = 100

/** Token accounts of the toy chain, and how its node answers. */
const node = {
  slot: NOW + 1000,
  accounts: new Map<Address, ReadonlyArray<readonly [Address, bigint]>>(),
  queries: new Array<Parameters<AccountScan["Service"]["scan"]>[0]>(),
  failure: null as ChainUnavailable | null
}

const dataOf = ([owner, amount]: readonly [Address, bigint]): Uint8Array => {
  const data = new Uint8Array(40)
  data.set(addressToBytes(owner))
  new DataView(data.buffer).setBigUint64(32, amount, true)
  return data
}

const scan = Layer.succeed(
  AccountScan,
  AccountScan.of({
    scan: (query, visit) =>
      Effect.suspend(() => {
        node.queries.push(query)
        if (node.failure !== null) {
          return Effect.fail(node.failure)
        }
        const mint = Array.from(node.accounts.keys()).find((each) =>
          Buffer.from(query.matches[0]?.bytes ?? []).equals(addressToBytes(each))
        )
        const all = (mint === undefined ? undefined : node.accounts.get(mint)) ?? []
        return Effect.succeed({ slot: all.every((account) => visit(dataOf(account), PLAIN)) ? node.slot : null })
      })
  })
)

const world = makeTokenWorld()
const tape = Market.layerManual()
const config = ConfigProvider.layer(ConfigProvider.fromUnknown({ HOLDERS_OWNERS: "60" }))
const followed = FollowHolders.layer.pipe(
  Layer.provide([scan, tape, toyPoolBook(world.pools)]),
  Layer.provide(config),
  Layer.orDie
)
const service = running({ keys, tokens: tokensOver(world).pipe(Layer.provide(followed)) })

const holders = (mint: string, query = "", chain = "solana") => call(`/api/v1/tokens/${chain}/${mint}/holders${query}`)
const isRead = (answer: Answer) => answered(answer) && answer.json("data.state") !== "backfill_running"

layer(Layer.merge(service, tape))("GET /api/v1/tokens/{chain}/{address}/holders", (it) => {
  it.effect("reads the accounts while requests are answered, then follows the blocks", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(block(NOW).timeMs)
      const { apply } = yield* Tape
      yield* apply(block(NOW, { holdings: { mints: [], changes: [] } }))
      // Two accounts of the first wallet; half of everything is in a pool or burnt.
      node.accounts.set(TOKEN, [
        [walletOf(1), 100n],
        [walletOf(1), 50n],
        [walletOf(2), 50n],
        [walletOf(9), 0n],
        [pools.SOL_POOL, 150n],
        [BURN, 50n]
      ])
      const first = yield* eventually(holders(TOKEN), answered)
      assert.strictEqual(first.status, 200, first.text)
      assert.deepInclude(first.json("data"), { state: "backfill_running", retryAfterMs: 4000, slot: null, top: null })
      assert.deepStrictEqual(first.json("data.holders"), unknown("count", "backfill_running"))
      assert.strictEqual(first.headers.get("retry-after"), "4")

      const answer = yield* eventually(holders(TOKEN), isRead)
      yield* Schema.decodeUnknownEffect(Schema.fromJsonString(TokenHoldersAnswer))(answer.text)
      assert.isNull(answer.headers.get("retry-after"))
      assert.deepInclude(answer.json("data"), { state: "followed", slot: NOW + 1000, heldAmount: "400" })
      assert.deepInclude(answer.json("data.holders"), { value: "4", status: "known" })
      assert.deepInclude(answer.json("data.top10Pct"), { value: "50", status: "known" })
      assert.deepInclude(answer.json("data.top50Pct"), { value: "50", status: "known" })
      assert.deepInclude(answer.json("data.excludedPct"), { value: "50", status: "known" })
      assert.sameDeepMembers(answer.json("data.top") as Array<unknown>, [
        { owner: walletOf(1), amount: "150", sharePct: "37.5", kind: "owner" },
        { owner: pools.SOL_POOL, amount: "150", sharePct: "37.5", kind: "pool" },
        { owner: walletOf(2), amount: "50", sharePct: "12.5", kind: "owner" },
        { owner: BURN, amount: "50", sharePct: "12.5", kind: "burn" }
      ])
      assert.deepInclude(answer.json("meta"), { methodVersion: "public-holders-v1", status: "known" })
      assert.deepInclude(node.queries[0], {
        programId: TOKEN_2022_PROGRAM,
        slice: { offset: 32, length: 40 },
        minSlot: NOW + 1000
      })

      const changes = [`${walletOf(2)} -50`, `${walletOf(3)} 25`, `${walletOf(4)} 25`].join(",")
      yield* apply(block(NOW + 1, { holdings: { mints: [TOKEN], changes: [changes] } }))
      const later = yield* eventually(holders(TOKEN, "?limit=1"), (each) => each.json("data.holders.value") === "5")
      assert.strictEqual(later.json("data.slot"), NOW + 1001)
      assert.strictEqual(later.json("data.top.length"), 1)
    })
  )

  it.effect("keeps the figures after missing blocks, marked, until the accounts are read again", () =>
    Effect.gen(function* () {
      const { apply } = yield* Tape
      node.failure = new ChainUnavailable({ reason: "timeout", detail: "slow" })
      yield* apply(block(NOW + 5, { afterGap: true, holdings: { mints: [], changes: [] } }))
      const marked = yield* eventually(holders(TOKEN), (each) => each.json("data.holders.status") === "partial")
      assert.deepInclude(marked.json("data.holders"), {
        value: "5",
        coverage: { complete: false, reason: "source_gap" }
      })
      assert.strictEqual(marked.json("meta.status"), "partial")
      node.failure = null
      node.slot = NOW + 1031
      node.accounts.set(TOKEN, [[walletOf(1), 7n]])
      yield* TestClock.adjust("31 seconds")
      yield* apply(block(NOW + 31, { holdings: { mints: [], changes: [] } }))
      const whole = yield* eventually(holders(TOKEN), (each) => each.json("data.holders.status") === "known")
      assert.strictEqual(whole.json("data.holders.value"), "1")
    })
  )

  it.effect("has no figures where the accounts cannot be read, or are too many", () =>
    Effect.gen(function* () {
      node.failure = new ChainUnavailable({ reason: "invalid", detail: "excluded from account secondary indexes" })
      const refused = yield* eventually(holders(PLAIN), isRead)
      assert.strictEqual(refused.status, 200)
      assert.deepInclude(refused.json("data"), {
        state: "unavailable",
        retryAfterMs: null,
        top: null,
        heldAmount: null
      })
      assert.deepStrictEqual(refused.json("data.holders"), unknown("count", "not_captured"))
      assert.isNull(refused.headers.get("retry-after"))
      node.failure = null
      yield* TestClock.adjust("11 minutes")
      node.accounts.set(
        PLAIN,
        Array.from({ length: 61 }, (_, place) => [walletOf(place + 1), 1n] as const)
      )
      yield* holders(PLAIN)
      const many = yield* eventually(
        holders(PLAIN),
        (each) => each.json("data.holders.coverage.reason") === "limit_clipped"
      )
      assert.strictEqual(many.json("data.state"), "unavailable")
      assert.deepInclude(node.queries.at(-1), { programId: TOKEN_PROGRAM, dataSize: 165 })
    })
  )

  it.effect("refuses invalid parameters and names them", () =>
    Effect.gen(function* () {
      assertRefused(yield* holders(TOKEN, "", "base"), 400, "unsupported_chain")
      assertInvalid(yield* holders("nope"), "path", "address", "format")
      assertInvalid(yield* holders(TOKEN, "?limit=101"), "query", "limit", "out_of_range")
      assertInvalid(yield* holders(TOKEN, "?limit=0"), "query", "limit", "out_of_range")
      assertInvalid(yield* holders(TOKEN, "?cursor=x"), "query", "cursor", "unknown")
      assertRefused(yield* eventually(holders(NOTHING), answered), 404, "token_not_found")
      assertRefused(yield* holders(COLD), 503, "data_unavailable")
    })
  )
})
