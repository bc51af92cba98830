import { assert, describe, it } from "@effect/vitest"
import { Effect, Result, Stream } from "effect"
import { FetchHttpClient } from "effect/http"
import { type Json, portalLine, servePortal } from "../../../scripts/importCheck/portalServer.ts"
import { decodeBlock } from "../../../src/chain/decoding/decodeBlock.ts"
import { ImportRefused } from "../../../src/chain/importing/importSource.ts"
import { blockOfPortal } from "../../../src/chain/importing/portalBlock.ts"
import { portalBlocks, portalGenesis } from "../../../src/chain/importing/portalBlocks.ts"
import { makeBank } from "../../../src/simulator/chain/Bank.ts"
import { getBlock } from "../../../src/simulator/node/blockMethods.ts"
import { makeMarket } from "../../../src/simulator/traders/Market.ts"

/** Blocks of the simulator, as its node answers them. */
const simulated = (many: number): ReadonlyMap<number, Json> => {
  const bank = makeBank({ seed: "portal", startSlot: 1, startUnixMs: 1_790_000_000_000 })
  const market = makeMarket({ seed: "portal", bank, swapsPerSecond: 60 })
  return new Map(
    Array.from({ length: many }, () => {
      const { slot } = market.advance()
      const text = Result.getOrThrow(getBlock(bank, [slot, { maxSupportedTransactionVersion: 0, rewards: false }]))
      return [slot, JSON.parse(text)] as const
    })
  )
}

const blocks = simulated(12)
const [[firstSlot, firstBlock] = [0, {}]] = blocks

const lineOf = (): Json => JSON.parse(portalLine(firstSlot, firstBlock))

const places = (found: ReturnType<typeof blockOfPortal>) =>
  Array.from(decodeBlock(found.slot, found.answer)?.transactions ?? [], ({ index }) => index)

describe("blockOfPortal", () => {
  it("decodes to the same trades, transfers, launches and holdings as the block of a node", () => {
    let legs = 0
    for (const [slot, block] of blocks) {
      const found = blockOfPortal(JSON.parse(portalLine(slot, block)))
      const decoded = decodeBlock(found.slot, found.answer)
      assert.deepStrictEqual(decoded, decodeBlock(slot, block))
      assert.strictEqual(decoded?.malformed, 0)
      legs += Array.from(decoded?.transactions ?? []).reduce((sum, each) => sum + each.legs.length, 0)
    }
    assert.isAbove(legs, 50)
  })

  it("keeps the places of transactions between which votes were left out", () => {
    const line = lineOf()
    const moved = JSON.parse(JSON.stringify(line), (key, value) => (key === "transactionIndex" ? 3 * value + 1 : value))
    assert.deepStrictEqual(
      places(blockOfPortal(moved)),
      places(blockOfPortal(line)).map((index) => 3 * index + 1)
    )
  })

  it("refuses a block that lacks what trades are decoded from, and names it", () => {
    for (const part of ["instructions", "balances"]) {
      assert.throws(() => blockOfPortal({ ...lineOf(), [part]: [] }), `block ${firstSlot} lacks ${part}`)
    }
    for (const [part, member] of [
      ["transactions", "fee"],
      ["transactions", "signatures"],
      ["instructions", "data"],
      ["tokenBalances", "preDecimals"]
    ] as const) {
      const rows = lineOf()[part].map((row: Json) => ({ ...row, [member]: undefined }))
      assert.throws(() => blockOfPortal({ ...lineOf(), [part]: rows }), ImportRefused)
    }
    assert.throws(() => blockOfPortal({ header: { number: 5 } }), "block 5 lacks parentNumber")
  })

  it("has no time where the portal writes zero", () => {
    const line = lineOf()
    const { answer } = blockOfPortal({ ...line, header: { ...line["header"], timestamp: 0 } })
    assert.isNull((answer as Json)["blockTime"])
  })
})

describe("portalBlocks", () => {
  it.live("asks again after the last block of each answer, and reads up to the first block after the range", () =>
    Effect.gen(function* () {
      const portal = yield* Effect.acquireRelease(
        Effect.promise(() => servePortal(blocks, 3)),
        ({ close }) => Effect.sync(close)
      )
      const slots = Array.from(blocks.keys())
      const range = { fromSlot: slots[1] ?? 0, toSlot: slots[5] ?? 0, fromMs: null, toMs: null }
      const found = yield* Stream.runCollect(portalBlocks(portal.url, range))
      assert.deepStrictEqual(
        Array.from(found, ({ slot }) => slot),
        slots.slice(1, 7)
      )
      assert.strictEqual(portal.counts.requests, 2)
    }).pipe(Effect.scoped, Effect.provide(FetchHttpClient.layer))
  )

  it.live("refuses an address without such a stream, and asks again later when it is asked too often", () =>
    Effect.gen(function* () {
      const portal = yield* Effect.acquireRelease(
        Effect.promise(() => servePortal(blocks, 1)),
        ({ close }) => Effect.sync(close)
      )
      const range = { fromSlot: firstSlot, toSlot: null, fromMs: null, toMs: null }
      const wrong = yield* Effect.flip(Stream.runDrain(portalBlocks(`${portal.url}/else`, range)))
      assert.instanceOf(wrong, ImportRefused)
      const busy = yield* Effect.flip(Stream.runDrain(portalBlocks(portal.url, range)))
      assert.strictEqual(busy._tag === "ChainUnavailable" ? busy.retryAfterMs : null, 1000)
    }).pipe(Effect.scoped, Effect.provide(FetchHttpClient.layer))
  )

  it("knows the chains of the public portals", () => {
    assert.isString(portalGenesis("https://portal.example/datasets/solana-mainnet"))
    assert.isNull(portalGenesis("https://portal.example/datasets/other"))
  })
})
