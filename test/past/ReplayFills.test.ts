import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Layer, Stream } from "effect"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { zstdDecompressSync } from "node:zlib"
import { walletAmounts } from "../../src/api/schemas/Trade.ts"
import { decodeBlock } from "../../src/chain/decoding/decodeBlock.ts"
import type { BlockTransaction } from "../../src/chain/decoding/TradeBlock.ts"
import { TradeBlocks } from "../../src/chain/decoding/TradeBlocks.ts"
import { playedFiles } from "../../src/chain/recording/playback.ts"
import { recordedStateAt } from "../../src/chain/recording/recordedState.ts"
import * as Replay from "../../src/chain/recording/Replay.ts"
import { Address, type Mint, SOL } from "../../src/domain/Address.ts"
import * as Monitor from "../../src/operations/SourceMonitor.ts"
import { executeHops, Overlay, Stopped } from "../../src/past/executeHops.ts"
import type { FillModel } from "../../src/past/FillBook.ts"
import { FillBooks, type FillRequest, fillsOf, ReplayFills } from "../../src/past/ReplayFills.ts"
import { recordMarket } from "../../src/simulator/past/recordMarket.ts"
import { until } from "../chain/accounts/accounts.ts"

const SLOTS = 40
const WALLET = Address.make("7YttLkHDoNj9wyDur5pM1ejNaAvT9X4eqaYcHQqtj2G5")
const VENUES = ["raydium-amm-v4", "raydium-cpmm", "raydium-clmm", "orca-whirlpool", "pumpswap"]

const options = { seed: "fills", slots: SLOTS, swapsPerSecond: 60, startUnixMs: 1_790_000_000_000 }

/** Records the market once for all tests. */
const recorded = Effect.cached(
  Effect.promise(async () => {
    const folder = mkdtempSync(join(tmpdir(), "fathom-fills-"))
    process.once("exit", () => rmSync(folder, { recursive: true, force: true }))
    return { folder, ...(await recordMarket({ folder, ...options })) }
  })
).pipe(Effect.runSync)

interface Swapped {
  readonly slot: number
  readonly wallet: Address
  readonly dex: string
  readonly pool: Address
  readonly inputMint: Mint
  readonly outputMint: Mint
  readonly amountIn: bigint
  readonly amountOut: bigint
}

const swapsOf = (slot: number, { legs, nets }: BlockTransaction): ReadonlyArray<Swapped> =>
  legs.map((leg) => {
    const net = nets.find((each) => each.legs.length === 1 && each.legs[0] === leg.index)
    const { quote, token } =
      leg.dex === "pumpswap" && net !== undefined
        ? { quote: net.quote.amount, token: net.token.amount }
        : walletAmounts(leg)
    const place = { slot, wallet: leg.wallet, dex: leg.dex, pool: leg.pool }
    return leg.side === "buy"
      ? { ...place, inputMint: leg.quote.mint, outputMint: leg.token.mint, amountIn: quote, amountOut: token }
      : { ...place, inputMint: leg.token.mint, outputMint: leg.quote.mint, amountIn: token, amountOut: quote }
  })

/** Every swap of the recording, in order. */
const recordedSwaps = Effect.cached(
  Effect.gen(function* () {
    const { folder } = yield* recorded
    const files = yield* Effect.flatMap(playedFiles(folder), (all) => Effect.forEach(all, ({ read }) => read))
    return files.flatMap((played) =>
      Array.from(played ?? []).flatMap((each) => {
        if (each._tag !== "Block") {
          return []
        }
        const { json, slot } = each.block
        const block = decodeBlock(slot, JSON.parse(zstdDecompressSync(json).toString()))
        return Array.from(block?.transactions ?? []).flatMap((transaction) => swapsOf(slot, transaction))
      })
    )
  })
).pipe(Effect.runSync)

/** The first swap of its pool in its slot, for which the accounts before the slot are those before the swap. */
const firstOf = (swaps: ReadonlyArray<Swapped>, passes: (swap: Swapped) => boolean): Swapped => {
  const found = swaps.find(
    (swap, at) => passes(swap) && !swaps.slice(0, at).some(({ pool, slot }) => slot === swap.slot && pool === swap.pool)
  )
  return found ?? assert.fail("the recording has no such swap")
}

/** A replay that waits at `from`. Its fills, and `to` to play up to the end of a slot. */
const openAt = Effect.fnUntraced(function* (from: number, speed: number | null = null) {
  const { folder } = yield* recorded
  const replay = yield* Replay.openReplay({ folder, from, to: null, speed, isStepping: true })
  const books = new FillBooks(replay)
  replay.watchers.add(books)
  const context = yield* Layer.build(
    Replay.layer.pipe(
      Layer.provideMerge(Monitor.layer),
      Layer.provide([Layer.succeed(Replay.CurrentReplay, replay), Layer.succeed(Clock.Clock, replay.clock)])
    )
  )
  const heard: Array<number> = []
  yield* Effect.provideContext(TradeBlocks, context).pipe(
    Effect.flatMap((blocks) =>
      Stream.runForEach(blocks.follow(0), (event) =>
        Effect.sync(() => void heard.push(event._tag === "Block" ? event.block.slot : event.to))
      )
    ),
    Effect.forkScoped
  )
  const to = Effect.fnUntraced(function* (slot: number) {
    replay.pace.seek(slot)
    yield* until(`slot ${slot} is over`, () => replay.pace.isPaused && (heard.at(-1) ?? 0) >= slot - 1)
  })
  return { books, fills: fillsOf(books), to }
})

const orderOf = (
  { amountIn, inputMint, outputMint, pool }: Pick<Swapped, "amountIn" | "inputMint" | "outputMint" | "pool">,
  changes: Partial<FillRequest> = {}
): FillRequest => ({
  id: "one",
  wallet: WALLET,
  inputMint,
  outputMint,
  amount: amountIn,
  pools: [pool],
  latencySlots: 1,
  minOut: null,
  quotedOut: null,
  slippageBps: 0,
  model: "recorded",
  ...changes
})

const clockOf = (slot: number) => ({ slot, epoch: 0, unixTimestamp: 1_790_000_000 })

/** What the pools pay at the end of a slot, for these swaps one after the other. */
const paidAt = Effect.fnUntraced(function* (
  slot: number,
  orders: ReadonlyArray<Pick<Swapped, "amountIn" | "inputMint" | "outputMint" | "pool">>
) {
  const { folder } = yield* recorded
  const state = yield* recordedStateAt(folder, slot)
  const overlay = new Overlay((address) => state?.accounts.get(address))
  return orders.map(({ amountIn: amount, inputMint, outputMint, pool }) => {
    const hops = executeHops(() => overlay, { amount, inputMint, outputMint, pools: [pool] }, clockOf(slot))
    return hops instanceof Stopped ? hops.detail : hops.at(-1)?.amountOut
  })
})

const first = (books: FillBooks) => books.list("a")[0]

describe("a recording of the simulated market", () => {
  it.live("has the same bytes each time", () =>
    Effect.gen(function* () {
      const { folder } = yield* recorded
      const again = mkdtempSync(join(tmpdir(), "fathom-fills-"))
      yield* Effect.promise(() => recordMarket({ folder: again, ...options }))
      const names = readdirSync(folder)
      assert.deepStrictEqual(readdirSync(again), names)
      for (const name of names) {
        assert.isTrue(readFileSync(join(folder, name)).equals(readFileSync(join(again, name))))
      }
      rmSync(again, { recursive: true })
    })
  )
})

describe("a fill", () => {
  it.live.each(VENUES)("pays to the unit what the program paid for the same swap: %s", (dex) =>
    Effect.gen(function* () {
      const { from } = yield* recorded
      const swap = firstOf(yield* recordedSwaps, (each) => each.dex === dex && each.slot > from + 3)
      const { books, fills, to } = yield* openAt(swap.slot - 1)
      const posted = yield* fills.post("a", orderOf(swap))
      assert.deepStrictEqual([posted.status, posted.slot], ["pending", swap.slot])
      yield* to(swap.slot)
      const { amountOut, hops, quotedOut, reason, status } = first(books) ?? assert.fail("no fill")
      assert.deepStrictEqual([status, reason, amountOut, quotedOut], ["filled", null, swap.amountOut, swap.amountOut])
      assert.deepStrictEqual(
        hops.map(({ dex: label, pool }) => [label, pool]),
        [[dex, swap.pool]]
      )
    })
  )

  it.live("is executed on the state before the slot of its latency", () =>
    Effect.gen(function* () {
      const { from } = yield* recorded
      const at = from + 5
      // A pool that is swapped in during the latency.
      const busy = firstOf(
        yield* recordedSwaps,
        ({ dex, slot }) => dex === "raydium-amm-v4" && slot > at && slot < at + 3
      )
      const { books, fills, to } = yield* openAt(at)
      yield* fills.post("a", orderOf(busy, { latencySlots: 5, slippageBps: 10_000 }))
      yield* to(at + 4)
      assert.strictEqual(first(books)?.status, "pending")
      yield* to(at + 5)
      const [paid] = yield* paidAt(at + 4, [busy])
      assert.deepStrictEqual([first(books)?.status, first(books)?.amountOut], ["filled", paid])
      assert.notStrictEqual(first(books)?.quotedOut, paid)
    })
  )

  it.live("fails when it gets less than its least output, and then changes nothing", () =>
    Effect.gen(function* () {
      const { from } = yield* recorded
      const swap = firstOf(yield* recordedSwaps, ({ dex, slot }) => dex === "raydium-cpmm" && slot > from + 3)
      const { books, fills, to } = yield* openAt(swap.slot - 1)
      yield* fills.post("a", orderOf(swap, { minOut: swap.amountOut + 1n }))
      yield* fills.post("a", orderOf(swap, { id: "two", minOut: swap.amountOut }))
      yield* to(swap.slot)
      assert.deepStrictEqual(
        books.list("a").map(({ amountOut, reason, status }) => [status, reason?.code ?? null, amountOut]),
        [
          ["failed", "slippage_exceeded", swap.amountOut],
          ["filled", null, swap.amountOut]
        ]
      )
    })
  )

  it.live("finds the impact of the same owner's earlier swaps, and nobody else's", () =>
    Effect.gen(function* () {
      const { from } = yield* recorded
      const swap = firstOf(yield* recordedSwaps, ({ dex, slot }) => dex === "orca-whirlpool" && slot > from + 3)
      const larger = { ...swap, amountIn: swap.amountIn * 3n }
      const { books, fills, to } = yield* openAt(swap.slot - 1)
      yield* fills.post("a", orderOf(larger))
      yield* to(swap.slot + 4)
      yield* fills.post("a", orderOf(larger, { id: "two" }))
      yield* fills.post("b", orderOf(larger, { wallet: SOL }))
      yield* to(swap.slot + 5)
      const [alone, after] = yield* paidAt(swap.slot + 4, [larger, larger])
      assert.notStrictEqual(alone, after)
      assert.strictEqual(books.list("a")[1]?.amountOut, after)
      assert.strictEqual(books.list("b")[0]?.amountOut, alone)
    })
  )

  it.live("is refused by name where the recording does not tell exactly", () =>
    Effect.gen(function* () {
      const { from } = yield* recorded
      const swaps = yield* recordedSwaps
      const dlmm = firstOf(swaps, ({ dex, slot }) => dex === "meteora-dlmm" && slot > from + 3)
      const { books, fills } = yield* openAt(dlmm.slot - 1)
      const codeOf = (order: FillRequest) =>
        Effect.map(Effect.flip(fills.post("a", order)), (failure) =>
          failure._tag === "FillRefused" ? failure.code : ""
        )
      assert.strictEqual(yield* codeOf(orderOf(dlmm)), "venue_without_state")
      assert.strictEqual(yield* codeOf(orderOf({ ...dlmm, pool: WALLET })), "pool_not_recorded")
      const other = firstOf(swaps, ({ dex, slot }) => dex === "raydium-cpmm" && slot > from + 3)
      assert.strictEqual(yield* codeOf(orderOf({ ...other, outputMint: other.inputMint })), "wrong_mint")
      assert.strictEqual(yield* codeOf(orderOf({ ...other, amountIn: 2n ** 64n - 1n })), "program_refused")
      assert.deepStrictEqual(books.list("a"), [])
    })
  )

  it.live("is taken once for an id, and its id is refused for another swap", () =>
    Effect.gen(function* () {
      const { from } = yield* recorded
      const swap = firstOf(yield* recordedSwaps, ({ dex, slot }) => dex === "raydium-cpmm" && slot > from + 3)
      const { books, fills, to } = yield* openAt(swap.slot - 1)
      yield* fills.post("a", orderOf(swap))
      yield* to(swap.slot)
      const again = yield* fills.post("a", orderOf(swap))
      assert.deepStrictEqual([again.status, books.list("a").length], ["filled", 1])
      const other = yield* Effect.flip(fills.post("a", orderOf(swap, { amount: 1n })))
      assert.strictEqual(other._tag, "FillIdReused")
    })
  )

  it.live("is refused for a wallet of the recording, and for a wallet of another account", () =>
    Effect.gen(function* () {
      const { from } = yield* recorded
      const swap = firstOf(yield* recordedSwaps, ({ dex, slot }) => dex === "raydium-cpmm" && slot > from + 3)
      const { books, fills, to } = yield* openAt(swap.slot - 1)
      const refusalOf = (owner: string, order: FillRequest) =>
        Effect.map(Effect.flip(fills.post(owner, order)), ({ _tag }) => _tag)
      yield* fills.post("a", orderOf(swap))
      assert.strictEqual(yield* refusalOf("b", orderOf(swap)), "WalletNotFree")
      yield* to(swap.slot + 2)
      const wallet = swap.wallet
      assert.strictEqual(yield* refusalOf("b", orderOf(swap, { wallet })), "WalletNotFree")
      assert.deepStrictEqual(
        [fills.filledBy(WALLET), fills.filledBy(wallet)].map((filled) => filled.length),
        [1, 0]
      )
      assert.deepStrictEqual(books.list("b"), [])
    })
  )

  it.live("is refused once the replay has ended, and is told what became of earlier ones", () =>
    Effect.gen(function* () {
      const { from } = yield* recorded
      const swap = firstOf(yield* recordedSwaps, ({ dex, slot }) => dex === "raydium-cpmm" && slot > from + 3)
      const { books, fills } = yield* openAt(swap.slot - 1)
      yield* fills.post("a", orderOf(swap, { latencySlots: 1000 }))
      books.ended()
      const again = yield* fills.post("a", orderOf(swap, { latencySlots: 1000 }))
      assert.deepStrictEqual([again.status, again.reason?.code], ["refused", "replay_ended"])
      assert.strictEqual((yield* Effect.flip(fills.post("a", orderOf(swap, { id: "two" }))))._tag, "ReplayHasEnded")
    })
  )

  it.effect("is refused where no recording is played", () =>
    Effect.gen(function* () {
      const live = yield* ReplayFills
      const order = orderOf({ amountIn: 1n, inputMint: SOL, outputMint: SOL, pool: WALLET })
      assert.strictEqual((yield* Effect.flip(live.post("a", order)))._tag, "NotAReplay")
      assert.strictEqual((yield* Effect.flip(live.list("a")))._tag, "NotAReplay")
    })
  )
})

/** A bot that buys and sells in the busiest pool. */
const trade = Effect.fnUntraced(function* (model: FillModel, speed: number | null, steps: ReadonlyArray<number>) {
  const { from } = yield* recorded
  const swaps = (yield* recordedSwaps).filter(({ dex, slot }) => dex === "raydium-amm-v4" && slot > from + 5)
  const busiest = Array.from(Map.groupBy(swaps, ({ pool }) => pool).values()).toSorted((a, b) => b.length - a.length)[0]
  const swap = firstOf(busiest ?? [], () => true)
  const { books, fills, to } = yield* openAt(swap.slot - 1, speed)
  yield* fills.post("a", orderOf({ ...swap, amountIn: swap.amountIn * 2n }, { model, slippageBps: 10_000 }))
  for (const step of steps) {
    yield* to(swap.slot + step)
  }
  yield* fills.post("a", orderOf(swap, { id: "two", model, slippageBps: 10_000 }))
  yield* to(swap.slot + (steps.at(-1) ?? 0) + 3)
  return { swap, busiest, fills: books.list("a") }
})

describe("the two models", () => {
  it.live("replays the swaps of others on the changed pool", () =>
    Effect.gen(function* () {
      const { busiest, fills, swap } = yield* trade("replayed", null, [12])
      const [one, two] = fills
      assert.deepStrictEqual([one?.status, two?.status, two?.reason], ["filled", "filled", null])
      assert.strictEqual(one?.amountOut, (yield* paidAt(swap.slot - 1, [{ ...swap, amountIn: swap.amountIn * 2n }]))[0])
      // The same pool by hand: the bot's swap first, then everybody else's, then the bot's second one.
      const others = (busiest ?? []).filter(({ slot }) => slot >= swap.slot && slot < (two?.slot ?? 0))
      assert.isAbove(others.length, 3)
      const all = [{ ...swap, amountIn: swap.amountIn * 2n }, ...others, swap]
      assert.strictEqual(two?.amountOut, (yield* paidAt(swap.slot - 1, all)).at(-1))
    })
  )

  it.live("leaves the market as recorded and carries the own swaps to it", () =>
    Effect.gen(function* () {
      const { fills, swap } = yield* trade("recorded", null, [12])
      const [, two] = fills
      const own = [{ ...swap, amountIn: swap.amountIn * 2n }, swap]
      assert.strictEqual(two?.amountOut, (yield* paidAt((two?.slot ?? 0) - 1, own)).at(-1))
      const { fills: replayed } = yield* trade("replayed", null, [12])
      assert.notStrictEqual(two?.amountOut, replayed[1]?.amountOut)
    })
  )

  it.live.each(["recorded", "replayed"] as const)(
    "gives the same fills each time, at any speed and step: %s",
    (model) =>
      Effect.gen(function* () {
        const slow = yield* trade(model, 100, [1, 2, 3, 5, 6])
        const fast = yield* trade(model, null, [6])
        assert.deepStrictEqual(slow.fills, fast.fills)
      })
  )
})
