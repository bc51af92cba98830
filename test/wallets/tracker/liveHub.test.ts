import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { DataFrame, type LiveGap } from "../../../src/api/schemas/LiveFrame.ts"
import { MOST_FRAME_BYTES } from "../../../src/wallets/tracker/trackerFrames.ts"
import { FakeWire, type ReceivedFrame, HubScene, tracked } from "./hubScene.ts"
import { blockOf, mintOf, received, START, timeOf, transactionOf, walletOf } from "./liveScene.ts"

const kinds = (frames: ReadonlyArray<ReceivedFrame>) => frames.map(({ type }) => type)
const slots = (frames: ReadonlyArray<ReceivedFrame>) => frames.flatMap(({ slot }) => slot ?? [])
const [A, B, C] = [walletOf(1), walletOf(2), walletOf(3)]
const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(DataFrame), { onExcessProperty: "error" })

/** The gap of the next snapshot. */
const gapAfter = (gaps: ReadonlyArray<LiveGap>) => {
  const scene = new HubScene()
  const { wire } = scene.reader([A])
  gaps.forEach((gap) => scene.hub.lost(gap))
  assert.isTrue(scene.hub.resyncOne(scene.nowMs))
  return wire.frames.at(-1)?.["gap"]
}

describe("a live stream", () => {
  it("begins with a snapshot and numbers its frames from 0", () => {
    const scene = new HubScene()
    const { streamId, wire } = scene.reader([A])
    scene.block(blockOf(1, [{ wallet: A, after: 2_000_000n }]))
    assert.deepStrictEqual(kinds(wire.frames), ["snapshot", "trade", "balance_update", "pnl", "pnl_summary"])
    assert.deepStrictEqual(
      wire.frames.map(({ seq }) => seq),
      [0, 1, 2, 3, 4]
    )
    assert.deepInclude(wire.frames[0], { streamId, reason: "connect", resumed: false, gap: null })
  })

  it.effect("encodes each kind of frame exactly as in the contract", () =>
    Effect.gen(function* () {
      const scene = new HubScene()
      const { wire } = scene.reader([A])
      scene.block(blockOf(1, [{ wallet: A, after: 2_000_000n }]))
      scene.hub.lost({ fromMs: START, toMs: START + 1, reason: "source_gap" })
      scene.hub.resyncOne(scene.nowMs)
      const decoded = yield* Effect.forEach(wire.texts, (text) => decode(text))
      assert.deepStrictEqual(
        decoded.map(({ type }) => type),
        ["snapshot", "trade", "balance_update", "pnl", "pnl_summary", "snapshot"]
      )
      const [, trade, balance, pnl, summary, resync] = wire.frames
      assert.deepInclude(trade, {
        wallet: A,
        amount: "2000000",
        volume_usd: 2,
        volume_sol: 0.01,
        price_usd: 1,
        market_cap_usd: 1_000_000_000,
        symbol: "XMPL",
        name: "Exämple",
        imageStatus: "missing",
        commitment: "confirmed",
        ts: timeOf(1)
      })
      assert.strictEqual(trade?.["eventId"], `${String(trade?.["signature"])}:0`)
      assert.deepInclude(balance, {
        balance: "2000000",
        delta: "2000000",
        valueUsd: "2",
        cause: "trade",
        native: false
      })
      assert.deepInclude(pnl, { realized: "0", unrealized: "0", total: "0", costUsd: "2", holding: "2000000" })
      assert.deepInclude(pnl, { markUsd: "1", avgCostUsd: "1", buys: 1, open: true, trigger: "trade" })
      assert.deepInclude(summary, {
        openCostUsd: "2",
        openValueUsd: "2",
        positionsOpen: 1,
        trades: 1,
        winRatePct: null
      })
      assert.deepInclude(resync, { reason: "resync", gap: { fromMs: START, toMs: START + 1, reason: "source_gap" } })
      assert.lengthOf(resync?.["trades"] as ReadonlyArray<unknown>, 1)
    })
  )

  it("sends a wallet's trades by slot and index, each before its balance change", () => {
    const scene = new HubScene()
    const { wire } = scene.reader([A, B])
    const deals = Array.from({ length: 40 }, (_, n) => ({
      wallet: n % 2 === 0 ? A : B,
      mint: mintOf(n % 3),
      after: 9_000_000n
    }))
    scene.block(blockOf(1, deals.slice(0, 25)))
    scene.block(blockOf(2, deals.slice(25)))
    for (const wallet of [A, B]) {
      const frames = wire.frames.filter((frame) => frame["wallet"] === wallet)
      const placed = frames.filter(({ type }) => type === "trade" || type === "balance_update")
      const places = placed.map(({ index, slot }) => Number(slot) * 1e9 + Number(index))
      assert.deepStrictEqual(
        places,
        places.toSorted((a, b) => a - b)
      )
      placed.forEach(({ signature, type }, at) => {
        if (type === "balance_update") {
          assert.deepInclude(placed[at - 1], { type: "trade", signature })
        }
      })
    }
    assert.lengthOf(
      wire.frames.filter(({ type }) => type === "trade"),
      40
    )
  })

  it("sends balance changes without a trade, and none for other wallets", () => {
    const scene = new HubScene()
    const { wire } = scene.reader([A])
    const transactions = [transactionOf(3, 4, [received(A, 5n, 12n), received(C, 1n, 1n)])]
    scene.block(blockOf(3, [], { transactions }))
    assert.deepStrictEqual(kinds(wire.frames), ["snapshot", "balance_update"])
    assert.deepInclude(wire.frames[1], { native: true, cause: "transfer", balance: "12", delta: "5", index: 4 * 256 })
    assert.strictEqual(scene.books.lastEventAtMs(A), timeOf(3))
    assert.isNull(scene.books.lastEventAtMs(C))
  })

  it("leaves out pool swaps, and trades of untracked wallets", () => {
    const scene = new HubScene()
    const { wire } = scene.reader([A])
    scene.block(blockOf(1, [{ wallet: A, role: "pool" }, { wallet: B }]))
    assert.deepStrictEqual(kinds(wire.frames), ["snapshot"])
  })

  it("sends the newest profit of a position at most once a second, and of a wallet once every two seconds", () => {
    const scene = new HubScene()
    const { wire } = scene.reader([A])
    for (let slot = 1; slot <= 10; slot++) {
      scene.block(blockOf(slot, [{ wallet: A }]))
      scene.pass(100)
    }
    const count = (type: string) => wire.frames.filter((frame) => frame.type === type).length
    assert.deepStrictEqual([count("trade"), count("pnl"), count("pnl_summary")], [10, 2, 1])
    scene.pass(1000)
    assert.deepStrictEqual([count("pnl"), count("pnl_summary")], [2, 2])
    assert.deepInclude(
      wire.frames.findLast(({ type }) => type === "pnl"),
      { buys: 10, holding: "20000000" }
    )
    assert.deepInclude(wire.frames.at(-1), { type: "pnl_summary", trades: 10 })
  })

  it("sends the profit of a position when its mark moves", () => {
    const scene = new HubScene()
    const { wire } = scene.reader([A])
    scene.block(blockOf(1, [{ wallet: A }]))
    scene.pass(3000)
    assert.deepStrictEqual(kinds(wire.frames), ["snapshot", "trade", "pnl", "pnl_summary"])
    scene.marks.usd = 3n
    scene.pass(100)
    assert.deepStrictEqual(kinds(wire.frames).slice(4), ["pnl", "pnl_summary"])
    assert.deepInclude(wire.frames[4], { trigger: "mark", markUsd: "3", unrealized: "4" })
  })

  it("reports a gap once per stream, and marks later figures as incomplete", () => {
    const scene = new HubScene()
    const [one, two] = [scene.reader([A]), scene.reader([A, B])]
    scene.block(blockOf(1, [{ wallet: A }]))
    const gap = { fromMs: timeOf(1), toMs: timeOf(9), reason: "source_gap" } as const
    scene.hub.lost(gap)
    scene.pass(2000)
    scene.block(blockOf(9, [{ wallet: A }], { afterGap: true }))
    assert.isTrue(scene.hub.resyncOne(scene.nowMs))
    assert.isTrue(scene.hub.resyncOne(scene.nowMs))
    assert.isFalse(scene.hub.resyncOne(scene.nowMs))
    for (const { wire } of [one, two]) {
      assert.deepInclude(wire.frames.at(-1), { type: "snapshot", reason: "resync", gap })
      const pnl = wire.frames.findLast(({ type }) => type === "pnl")
      assert.deepStrictEqual(pnl?.["coverage"], { complete: false, reason: "source_gap" })
    }
  })

  it("joins gaps before a snapshot, never shortens a gap, and keeps an unknown start", () => {
    const gap = { fromMs: timeOf(3), toMs: timeOf(9), reason: "source_gap" } as const
    const earlier = { fromMs: timeOf(1), toMs: timeOf(2), reason: "behind" } as const
    assert.deepStrictEqual(gapAfter([gap, earlier]), { fromMs: timeOf(1), toMs: timeOf(9), reason: "behind" })
    const unknown = { ...earlier, fromMs: null }
    assert.deepInclude(gapAfter([unknown, gap]), { fromMs: null, toMs: timeOf(9) })
    assert.deepInclude(gapAfter([gap, unknown]), { fromMs: null, toMs: timeOf(9) })
  })

  it("follows changes of the account's list with a new snapshot and the events of the new wallets", () => {
    const scene = new HubScene()
    const { wire } = scene.reader([A])
    scene.track([B])
    const [stream] = scene.hub.streams
    assert.isDefined(stream)
    scene.hub.changed(stream, [tracked(B)], scene.nowMs)
    scene.block(blockOf(1, [{ wallet: A }, { wallet: B }]))
    assert.deepStrictEqual(kinds(wire.frames).slice(0, 3), ["snapshot", "snapshot", "trade"])
    assert.deepInclude(wire.frames[1], { reason: "wallets_changed", seq: 1 })
    assert.deepInclude(wire.frames[2], { wallet: B })
  })

  it("shows nothing from before the account tracked a wallet", () => {
    const scene = new HubScene()
    scene.track([A])
    scene.block(blockOf(1, [{ wallet: A }]))
    const grant = {
      keyId: "k",
      session: null,
      accountId: "late",
      wallets: [A],
      group: null,
      control: false,
      streamId: "str_late"
    }
    const wire = new FakeWire()
    scene.hub.open(grant, [tracked(A, { addedAtMs: timeOf(1) + 5000 })], wire, scene.nowMs)
    assert.deepStrictEqual(wire.frames[0]?.["trades"], [])
    assert.deepInclude(wire.frames[0]?.["status"], { walletsPending: 1, walletsLive: 0 })
    // A late block from before the wallet was added goes to the accounts that tracked it then.
    const early = scene.reader([A])
    scene.block(blockOf(2, [{ wallet: A, after: 1n }]))
    scene.block(blockOf(20, [{ wallet: A, after: 1n }]))
    assert.deepStrictEqual(slots(wire.frames), [20, 20])
    assert.deepStrictEqual(slots(early.wire.frames), [2, 2, 20, 20])
  })

  it("keeps the snapshot of a full account within the length of a frame", () => {
    const scene = new HubScene()
    const wallets = Array.from({ length: 500 }, (_, n) => walletOf(100 + n))
    const deals = wallets.map((wallet, n) => ({ wallet, mint: mintOf(n % 7) }))
    scene.track(wallets)
    scene.block(blockOf(1, deals))
    scene.block(blockOf(2, deals))
    const { wire } = scene.reader(wallets)
    assert.isAtMost(Buffer.byteLength(wire.texts[0] ?? ""), MOST_FRAME_BYTES)
    assert.lengthOf(wire.frames[0]?.["wallets"] as ReadonlyArray<unknown>, 500)
  })
})
