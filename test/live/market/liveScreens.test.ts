import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import type { ScreenRow } from "../../../src/api/schemas/TokenScreen.ts"
import { known } from "../../../src/domain/Scalar.ts"
import { HELD_TOKENS, LiveHolders } from "../../../src/live/market/LiveHolders.ts"
import { LiveScreens, SCREENS } from "../../../src/live/market/LiveScreens.ts"
import type { Opening } from "../../../src/live/market/Topic.ts"
import type { MarketReader } from "../../../src/market/reads/MarketReader.ts"
import { afterChange, type LiveScreen, type ScreenChange } from "../../../src/web/market/liveScreen.ts"
import { mintOf } from "../../market/tape/tape.ts"
import { codes, Scene } from "./marketScene.ts"

const row = (n: number, rank: number, volume: number, observedAtMs = 1): ScreenRow => ({
  rank,
  token: { address: mintOf(n), decimals: 6, logoUri: null, name: null, symbol: null } as unknown as ScreenRow["token"],
  launchpad: null,
  platform: null,
  creator: null,
  createdAtMs: null,
  graduatedAtMs: null,
  venues: null,
  values: { "volumeUsd.24h": known("usd", String(volume), { observedAtMs, expiresAtMs: observedAtMs + 10_000 }) }
})

/** A reader of screens whose rows the test sets, and the screens of a hub over it. */
const made = () => {
  const scene = new Scene()
  const market = { rows: [row(1, 1, 9), row(2, 2, 5)], evaluations: 0 }
  const screenNow: MarketReader["Service"]["screenNow"] = () =>
    Effect.sync(() => {
      market.evaluations++
      return {
        data: market.rows,
        next: null,
        excluded: { unknownFilter: 1, unknownRank: 0 },
        screened: { tokens: 7, examined: 3 },
        slot: 5,
        observedAtMs: 1,
        status: "known",
        coverage: { complete: true, reason: null }
      }
    })
  const screens = new LiveScreens(scene.hub, { screenNow }, Effect.void)
  scene.opensAtOnce = false
  const openAll = Effect.fnUntraced(function* () {
    for (const opening of scene.waiting.splice(0)) {
      yield* open(opening)
    }
  })
  const open = Effect.fnUntraced(function* (opening: Opening) {
    const { topic } = opening.subscription
    const refusal = screens.enter(opening.subscription)
    if (refusal !== null) {
      return scene.hub.end(opening.subscription, refusal, scene.nowMs)
    }
    if (topic.terms.channel === "screen") {
      const data = yield* screens.open(topic, topic.terms)
      scene.hub.opened(opening, data(), scene.nowMs)
    }
  })
  return { scene, market, screens, openAll }
}

const screen = (id: string, terms: object = {}) => ({ op: "subscribe", id, channel: "screen", ...terms })
const after = Effect.fnUntraced(function* (seconds: number, { screens }: Pick<ReturnType<typeof made>, "screens">) {
  yield* TestClock.adjust(`${seconds} seconds`)
  yield* screens.evaluateDue
})

const mints = (rows: ReadonlyArray<{ readonly token: { readonly address: string } }>) =>
  rows.map(({ token }) => token.address)

describe("live screens", () => {
  it.effect("send the rows, then what enters, changes and leaves", () =>
    Effect.gen(function* () {
      const { market, openAll, scene, screens } = made()
      const { say, wire } = scene.connect()
      say(screen("a"))
      yield* openAll()
      const [snapshot] = wire.frames
      assert.deepInclude(snapshot?.data, {
        rows: market.rows,
        sort: { statistic: "volumeUsd.24h", direction: "desc" },
        tokens: 7,
        examined: 3,
        excluded: { unknownFilter: 1 }
      })
      market.rows = [row(3, 1, 10), row(1, 2, 9)]
      yield* after(3, { screens })
      const change = wire.frames[1]?.data as unknown as ScreenChange
      assert.deepStrictEqual([mints(change.entered), mints(change.changed)], [[mintOf(3)], [mintOf(1)]])
      assert.deepStrictEqual(change.left, [mintOf(2)])
      assert.deepStrictEqual(
        afterChange(snapshot?.data as unknown as LiveScreen, change).rows.map(({ rank, token }) => [
          rank,
          token.address
        ]),
        [
          [1, mintOf(3)],
          [2, mintOf(1)]
        ]
      )
      assert.deepStrictEqual(
        wire.frames.map(({ seq, type }) => [type, seq]),
        [
          ["snapshot", 0],
          ["screen", 1]
        ]
      )
    })
  )

  it.effect(
    "are evaluated once for equal requests, whatever the order of their fields, and not between their times",
    () =>
      Effect.gen(function* () {
        const { market, openAll, scene, screens } = made()
        const [one, other] = [scene.connect(), scene.connect()]
        const ranges = [{ statistic: "trades.5m", min: "1" }]
        one.say(screen("a", { ranges, limit: 5 }))
        other.say({
          limit: 5,
          ranges: [{ min: "1", statistic: "trades.5m" }],
          channel: "screen",
          id: "b",
          op: "subscribe"
        })
        yield* openAll()
        assert.strictEqual(market.evaluations, 1)
        market.rows = [row(1, 1, 8)]
        yield* after(1, { screens })
        assert.strictEqual(market.evaluations, 1)
        yield* after(2, { screens })
        assert.strictEqual(market.evaluations, 2)
        assert.deepStrictEqual(
          [one, other].map(({ wire }) => wire.frames.at(-1)?.type),
          ["screen", "screen"]
        )
        // A later reader gets the rows that the others have now.
        const late = scene.connect()
        late.say(screen("c", { ranges, limit: 5 }))
        market.rows = []
        yield* openAll()
        assert.strictEqual(market.evaluations, 2)
        assert.deepInclude(late.wire.frames[0]?.data, { rows: [row(1, 1, 8)] })
        yield* after(3, { screens })
        assert.deepInclude(late.wire.frames[1]?.data, { left: [mintOf(1)] })
      })
  )

  it.effect("confirm unchanged rows every ten seconds, although their values were computed anew", () =>
    Effect.gen(function* () {
      const { market, openAll, scene, screens } = made()
      const { say, wire } = scene.connect()
      say(screen("a"))
      yield* openAll()
      for (let n = 0; n < 3; n++) {
        market.rows = [row(1, 1, 9, n + 2), row(2, 2, 5, n + 2)]
        yield* after(3, { screens })
      }
      assert.lengthOf(wire.frames, 1)
      yield* after(3, { screens })
      assert.deepInclude(wire.frames[1]?.data, { entered: [], changed: [], left: [] })
    })
  )

  it.effect("have an end to their number, and forget a screen without readers", () =>
    Effect.gen(function* () {
      const { market, openAll, scene, screens } = made()
      const accounts = Array.from({ length: SCREENS.most / SCREENS.share }, (_, n) =>
        scene.connect(`key_${n}`, `acct_${n}`)
      )
      for (const [place, { say }] of accounts.entries()) {
        for (let n = 0; n < SCREENS.share; n++) {
          say(screen(`s${n}`, { limit: 1 + place * SCREENS.share + n }))
          yield* openAll()
        }
      }
      const late = scene.connect("key_late", "late")
      late.say(screen("late", { limit: 99 }))
      yield* openAll()
      assert.deepStrictEqual(codes(late.wire), ["open", "rate_limited"])
      late.say(screen("again", { limit: 1 }))
      yield* openAll()
      assert.strictEqual(late.wire.frames.at(-1)?.id, "again")
      for (const { say } of accounts) {
        for (let n = 0; n < SCREENS.share; n++) {
          say({ op: "unsubscribe", id: `s${n}` })
        }
      }
      const before = market.evaluations
      yield* after(3, { screens })
      assert.strictEqual(market.evaluations, before + 1)
      late.say(screen("new", { limit: 99 }))
      yield* openAll()
      assert.strictEqual(late.wire.frames.at(-1)?.id, "new")
    })
  )

  it.effect("leave room for other accounts, also when an account joins the screens of another", () =>
    Effect.gen(function* () {
      const { openAll, scene } = made()
      const [one, other] = [scene.connect(), scene.connect("key_b", "b")]
      for (let n = 0; n < SCREENS.share; n++) {
        one.say(screen(`s${n}`, { limit: n + 1 }))
        other.say(screen(`s${n}`, { limit: n + 1 }))
        yield* openAll()
      }
      one.say(screen("more", { limit: 50 }))
      yield* openAll()
      assert.deepStrictEqual(codes(one.wire), ["open", "rate_limited"])
      // Joining takes no room.
      for (let n = 0; n <= SCREENS.share; n++) {
        other.say(screen(`own${n}`, { limit: 60 + n }))
        yield* openAll()
      }
      assert.deepStrictEqual(codes(other.wire), ["open", "rate_limited"])
    })
  )

  it.effect("count for the next account that stays when the one that opened them leaves", () =>
    Effect.gen(function* () {
      const { openAll, scene } = made()
      const [one, other] = [scene.connect(), scene.connect("key_b", "b")]
      for (let n = 0; n < SCREENS.share; n++) {
        one.say(screen(`s${n}`, { limit: n + 1 }))
        other.say(screen(`s${n}`, { limit: n + 1 }))
        yield* openAll()
      }
      one.say({ op: "unsubscribe", id: "s0" })
      one.say(screen("more", { limit: 50 }))
      // It reads the first screen again, which counts for the other account now.
      one.say(screen("again", { limit: 1 }))
      yield* openAll()
      assert.deepStrictEqual(codes(one.wire), ["open", "unsubscribed"])
      for (let n = 0; n < SCREENS.share; n++) {
        other.say(screen(`own${n}`, { limit: 60 + n }))
        yield* openAll()
      }
      assert.deepStrictEqual(codes(other.wire), ["open", "rate_limited"])
    })
  )

  it.effect("end when the account that opened them has left and those that stay have their share", () =>
    Effect.gen(function* () {
      const { openAll, scene, screens } = made()
      const open = Effect.fnUntraced(function* (by: ReturnType<typeof scene.connect>, name: string, from: number) {
        for (let n = 0; n < SCREENS.share; n++) {
          by.say(screen(`${name}${n}`, { limit: from + n }))
          yield* openAll()
        }
      })
      const leave = (by: ReturnType<typeof scene.connect>, name: string) => {
        for (let n = 0; n < SCREENS.share; n++) {
          by.say({ op: "unsubscribe", id: `${name}${n}` })
        }
      }
      const [one, other] = [scene.connect(), scene.connect("key_b", "b")]
      yield* open(other, "own", 1)
      for (const from of [20, 40, 60]) {
        yield* open(one, `s${from}-`, from)
        yield* open(other, `joined${from}-`, from)
        leave(one, `s${from}-`)
        yield* after(1, { screens })
      }
      const ended = other.wire.controls.filter(({ type }) => type === "ended")
      assert.lengthOf(ended, 3 * SCREENS.share)
      assert.isTrue(ended.every(({ code, id }) => code === "rate_limited" && String(id).startsWith("joined")))
      assert.lengthOf(Array.from(scene.hub.topicsOf("screen")), SCREENS.share)
    })
  )

  it.effect("stay open when the account that opened them has left and any that stays has room", () =>
    Effect.gen(function* () {
      const { openAll, scene, screens } = made()
      const [one, full, free] = [scene.connect(), scene.connect("key_b", "b"), scene.connect("key_c", "c")]
      one.say(screen("s", { limit: 50 }))
      for (let n = 0; n < SCREENS.share; n++) {
        full.say(screen(`own${n}`, { limit: n + 1 }))
      }
      full.say(screen("joined", { limit: 50 }))
      free.say(screen("joined", { limit: 50 }))
      yield* openAll()
      scene.hub.revoke(({ accountId }) => accountId === "a", scene.nowMs)
      yield* after(1, { screens })
      assert.deepStrictEqual(codes(full.wire), ["open"])
      assert.lengthOf(Array.from(scene.hub.topicsOf("screen")), SCREENS.share + 1)
      free.say({ op: "unsubscribe", id: "joined" })
      yield* after(1, { screens })
      assert.strictEqual(full.wire.controls.at(-1)?.code, "rate_limited")
      assert.strictEqual(full.wire.controls.at(-1)?.id, "joined")
      assert.lengthOf(Array.from(scene.hub.topicsOf("screen")), SCREENS.share)
    })
  )

  it.effect("count only what is open or being opened: of too many at once, the first ones are opened", () =>
    Effect.gen(function* () {
      const { openAll, scene } = made()
      const [one, other] = [scene.connect(), scene.connect("key_b", "b")]
      for (let n = 0; n < SCREENS.most + 2; n++) {
        one.say(screen(`s${n}`, { limit: n + 1 }))
      }
      other.say(screen("other", { limit: 90 }))
      yield* openAll()
      assert.deepStrictEqual(
        one.wire.frames.map(({ id }) => id),
        Array.from({ length: SCREENS.share }, (_, n) => `s${n}`)
      )
      assert.deepStrictEqual(codes(other.wire), ["open"])
    })
  )

  it("name the wrong field of a request", () => {
    const { scene } = made()
    const { say, wire } = scene.connect()
    say(screen("a", { ranges: [{ statistic: "trades.5m" }] }))
    say(screen("b", { limit: 0 }))
    say(screen("c", { cursor: "x" }))
    assert.deepStrictEqual(
      wire.controls.filter(({ type }) => type === "error").map(({ field }) => field),
      ["ranges", "limit", "cursor"]
    )
  })
})

describe("live holders", () => {
  it.effect("end when the account that opened them has left and those that stay have their share", () =>
    Effect.gen(function* () {
      const scene = new Scene()
      scene.opensAtOnce = false
      const holders = new LiveHolders(scene.hub, { holdersNow: () => Effect.never }, Effect.void)
      const [one, other] = [scene.connect(), scene.connect("key_b", "b")]
      const say = ({ say: tell }: typeof one, id: string, n: number) => {
        tell({ op: "subscribe", id, channel: "holders", mint: mintOf(n) })
        for (const { subscription } of scene.waiting.splice(0)) {
          assert.isNull(holders.enter(subscription))
        }
      }
      for (let n = 1; n <= HELD_TOKENS.share; n++) {
        say(other, `own${n}`, n)
      }
      say(one, "s", 1000)
      say(other, "joined", 1000)
      one.say({ op: "unsubscribe", id: "s" })
      yield* holders.lookDue
      assert.deepInclude(other.wire.controls.at(-1), { type: "ended", id: "joined", code: "rate_limited" })
      assert.lengthOf(Array.from(scene.hub.topicsOf("holders")), HELD_TOKENS.share)
    })
  )
})
