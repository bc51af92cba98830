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
import { WalletReader } from "../../../src/wallets/WalletReader.ts"
import { AccountScan } from "../../../src/chain/rpc/AccountScan.ts"
import { ChainUnavailable } from "../../../src/chain/ChainUnavailable.ts"
import { makeMemoryStores } from "../../../src/testing/MemoryStores.ts"
import { MONDAY, trade, walletOf } from "../../market/tape/tape.ts"
import { type Answer, call, running, walletless } from "../../support/http.ts"
import { block } from "../../support/reads.ts"
import { COLD, eventually, makeTokenWorld, NOTHING, PLAIN, pools, TOKEN, tokensOver } from "../../support/tokens.ts"
import { toyPoolBook } from "../../tokens/toyPools.ts"
import { answered, assertInvalid, assertRefused, keys, unknown } from "./tokenCalls.ts"

const BURN = BURN_ADDRESSES[0] ?? walletOf(0)
/** Seconds after the epoch of the tests' blocks. */
const NOW = 100
/** After the snapshots of three hours. */
const LATER = NOW + 8000

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
const memory = makeMemoryStores()
const tape = Layer.effect(
  Market,
  Market.use((service) => Effect.succeed({ ...service, stored: () => memory }))
).pipe(Layer.provideMerge(Market.layerManual()))
const config = ConfigProvider.layer(ConfigProvider.fromUnknown({ HOLDERS_OWNERS: "60" }))
const followed = FollowHolders.layer.pipe(
  Layer.provide([scan, tape, toyPoolBook(world.pools)]),
  Layer.provide(config),
  Layer.orDie
)
const tags = { areReadable: true }
const wallets = Layer.succeed(WalletReader, {
  ...walletless,
  tagsOf: () => Effect.succeed(tags.areReadable ? new Map([[walletOf(2), ["platform:axiom"]]]) : null)
})
const service = running({ keys, tokens: tokensOver(world).pipe(Layer.provide(followed)), wallets })

const holders = (mint: string, query = "", chain = "solana") => call(`/api/v1/tokens/${chain}/${mint}/holders${query}`)
const isRead = (answer: Answer) => answered(answer) && answer.json("data.state") !== "backfill_running"

const history = (query = "") => call(`/api/v1/tokens/solana/${TOKEN}/holders/history${query}`)
const decode = Schema.decodeUnknownSync(Schema.fromJsonString(TokenHoldersAnswer))

layer(Layer.merge(service, tape))("GET /api/v1/tokens/{chain}/{address}/holders", (it) => {
  it.effect("reads the accounts while requests are answered, then follows the blocks", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(block(NOW).timeMs)
      const { apply } = yield* Tape
      const bought = trade({ mint: TOKEN, wallet: walletOf(2), timeMs: block(NOW).timeMs, slot: NOW + 1000 })
      const launch = { event: "created", mint: TOKEN, launchpad: "pump-fun", pool: null, creator: walletOf(1) } as const
      yield* apply(block(NOW, { trades: [bought], launches: [launch], holdings: { mints: [], changes: [] } }))
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
        { owner: walletOf(1), amount: "150", sharePct: "37.5", kind: "owner", tags: ["creator"], observed: null },
        { owner: pools.SOL_POOL, amount: "150", sharePct: "37.5", kind: "pool", tags: [], observed: null },
        {
          owner: walletOf(2),
          amount: "50",
          sharePct: "12.5",
          kind: "owner",
          tags: ["platform:axiom"],
          observed: {
            buys: 1,
            sells: 0,
            boughtUsd: "1",
            soldUsd: "0",
            realizedUsd: "0",
            lastTradeAtMs: block(NOW).timeMs
          }
        },
        { owner: BURN, amount: "50", sharePct: "12.5", kind: "burn", tags: [], observed: null }
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

  it.effect("has all owners in pages, each once, and says when tags cannot be read", () =>
    Effect.gen(function* () {
      const found = new Array<string>()
      let cursor = ""
      for (let page = 0; page < 5; page++) {
        const answer = yield* holders(TOKEN, `?limit=2${cursor}`)
        assert.strictEqual(answer.status, 200, answer.text)
        const { data, nextCursor } = decode(answer.text)
        found.push(...(data.top ?? []).map(({ amount, owner }) => `${amount} ${owner}`))
        if (nextCursor === null) {
          break
        }
        cursor = `&cursor=${nextCursor}`
      }
      const all = decode((yield* holders(TOKEN)).text)
      assert.strictEqual(all.nextCursor, null)
      assert.deepStrictEqual(
        found,
        all.data.top?.map(({ amount, owner }) => `${amount} ${owner}`)
      )
      assert.strictEqual(new Set(found).size, 5)
      assertRefused(yield* holders(TOKEN, `?limit=3${cursor}`), 400, "invalid_cursor")
      tags.areReadable = false
      assert.isNull((yield* holders(TOKEN, "?limit=1")).json("data.top.0.tags"))
      tags.areReadable = true
    })
  )

  it.effect("keeps a snapshot of each hour with known holders, and leaves out an hour that was missed", () =>
    Effect.gen(function* () {
      yield* memory.blocks.open({ genesis: "one", isSandbox: false })
      const { apply } = yield* Tape
      yield* apply(block(NOW + 62, { holdings: { mints: [], changes: [] } }))
      const hours = (count: number) =>
        eventually(history(), (each) => (each.json("data") as Array<unknown>).length === count)
      const first = yield* hours(1)
      const hourMs = Math.floor(((MONDAY + NOW) * 1000) / 3_600_000) * 3_600_000
      assert.deepStrictEqual(first.json("data.0"), {
        hourMs,
        atMs: (MONDAY + NOW + 62) * 1000,
        slot: NOW + 1062,
        holders: 5,
        heldAmount: "400",
        top10Pct: "50",
        top50Pct: "50",
        excludedPct: "50",
        poolsKnown: true
      })
      const two = 2 * 3600 + NOW + 2
      yield* TestClock.setTime(block(two).timeMs)
      const changes = `${walletOf(5)} 100`
      yield* apply(block(two, { holdings: { mints: [TOKEN], changes: [changes] } }))
      const second = yield* hours(2)
      assert.deepStrictEqual(
        [second.json("data.0.hourMs"), second.json("data.0.holders"), second.json("meta.missingHours")],
        [hourMs + 7_200_000, 6, 1]
      )
      assert.deepStrictEqual(second.json("meta.coverage"), { complete: false, reason: "source_gap" })
      // The first of an hour is kept.
      yield* apply(block(two + 120, { holdings: { mints: [TOKEN], changes: [`${walletOf(5)} -100`] } }))
      assert.deepStrictEqual(
        [(yield* history()).json("data.length"), (yield* history()).json("data.0.holders")],
        [2, 6]
      )
      const page = yield* history("?limit=1")
      const last = yield* history(`?limit=1&cursor=${String(page.json("nextCursor"))}`)
      assert.deepStrictEqual([last.json("data.0.hourMs"), last.json("nextCursor")], [hourMs, null])
      const later = yield* history(`?from=${hourMs / 1000 + 3600}`)
      assert.deepStrictEqual([later.json("data.length"), later.json("meta.missingHours")], [1, 1])
      assertInvalid(yield* history("?limit=745"), "query", "limit", "out_of_range")
    })
  )

  it.effect("keeps the figures after missing blocks, marked, until the accounts are read again", () =>
    Effect.gen(function* () {
      const { apply } = yield* Tape
      node.failure = new ChainUnavailable({ reason: "timeout", detail: "slow" })
      yield* apply(block(LATER + 5, { afterGap: true, holdings: { mints: [], changes: [] } }))
      const marked = yield* eventually(holders(TOKEN), (each) => each.json("data.holders.status") === "partial")
      assert.deepInclude(marked.json("data.holders"), {
        value: "5",
        coverage: { complete: false, reason: "source_gap" }
      })
      assert.strictEqual(marked.json("meta.status"), "partial")
      node.failure = null
      node.slot = LATER + 1031
      node.accounts.set(TOKEN, [[walletOf(1), 7n]])
      yield* TestClock.adjust("31 seconds")
      yield* apply(block(LATER + 31, { holdings: { mints: [], changes: [] } }))
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
      assertInvalid(yield* holders(TOKEN, "?page=x"), "query", "page", "unknown")
      assertRefused(yield* eventually(holders(NOTHING), answered), 404, "token_not_found")
      assertRefused(yield* holders(COLD), 503, "data_unavailable")
    })
  )
})
