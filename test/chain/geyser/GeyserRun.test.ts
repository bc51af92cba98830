import { assert, describe, it } from "@effect/vitest"
import type { PackedReply } from "../../../src/chain/blocks/blockMessages.ts"
import type { GeyserEvent } from "../../../src/chain/geyser/geyserMessages.ts"
import { GeyserRun } from "../../../src/chain/geyser/GeyserRun.ts"
import type { StreamUpdate } from "../../../src/chain/geyser/readUpdate.ts"
import type { TakePacked } from "../../../src/chain/geyser/slotDecoding.ts"

const MIB = 2 ** 20
const TARGET = { host: "host", url: "http://host", token: null }

const nothing: StreamUpdate = { filters: [], account: null, slot: null, transaction: null, head: null, isPing: false }

/** A run with decoders that reply when the test wants it, and what happens to its slots. */
const running = () => {
  const events: Array<GeyserEvent<string>> = []
  const flow: Array<string> = []
  /** What happens in the decoders. */
  const done: Array<string> = []
  const asked = new Map<number, TakePacked<string>>()
  const decoders = {
    unread: 0,
    open: (slot: number, take: TakePacked<string>) => ({
      decode: (index: number) => done.push(`decode ${slot}/${index}`),
      pack: ({ indexes }: { readonly indexes: ReadonlyArray<number> }) => {
        done.push(`pack ${slot}: ${indexes.join(" ")}`)
        asked.set(slot, take)
      },
      drop: () => done.push(`drop ${slot}`)
    })
  }
  const run = new GeyserRun<string>({ run: 1, from: 5, commitment: 1 }, decoders, (event) => events.push(event))
  const begin = () => run.begin({ pause: () => flow.push("pause"), resume: () => flow.push("resume") })
  const take = (update: Partial<StreamUpdate>) => run.take({ ...nothing, ...update }, TARGET, run.from)
  /** A slot with this many transactions, whose second one is a vote. */
  const parts = (slot: number, executed: number) =>
    Array.from({ length: executed }, (_, index) =>
      take({ transaction: { slot, index, info: index === 1 ? null : new Uint8Array(1) } })
    )
  const head = (slot: number, executed: number) =>
    take({ head: { slot, parentSlot: slot - 1, blockTime: null, executed, blockhash: "" } })
  const reply = (slot: number, packed: PackedReply<string> | null = { message: `block ${slot}`, transfer: [] }) =>
    asked.get(slot)?.(packed)
  const ends = () =>
    events.flatMap((event) =>
      event._tag === "block" ? [event.message] : event._tag === "unreadable" ? [`unreadable ${event.slot}`] : []
    )
  begin()
  return { begin, decoders, done, ends, events, flow, head, parts, reply, run, take }
}

describe("a run of a Geyser", () => {
  it("has each transaction decoded once, except votes, and each whole slot packed", () => {
    const { done, head, parts } = running()
    parts(5, 3)
    parts(5, 3)
    head(5, 3)
    parts(5, 3)
    assert.deepStrictEqual(done, ["decode 5/0", "decode 5/2", "pack 5: 0 2"])
  })

  it("sends blocks in the order in which decoders reply, and says which cannot be read", () => {
    const { ends, head, parts, reply } = running()
    for (const slot of [5, 6, 7]) {
      parts(slot, 1)
      head(slot, 1)
    }
    assert.deepStrictEqual(ends(), [])
    reply(7)
    reply(5, null)
    reply(6)
    assert.deepStrictEqual(ends(), ["block 7", "unreadable 5", "block 6"])
  })

  it("packs a slot without any transaction", () => {
    const { done, head } = running()
    head(5, 0)
    assert.deepStrictEqual(done, ["pack 5: "])
  })

  it("pauses the stream while decoders have more than 64 MiB to decode, and resumes it at half as much", () => {
    const { decoders, flow, parts, run } = running()
    decoders.unread = 64 * MIB
    parts(5, 1)
    assert.deepStrictEqual(flow, [])
    decoders.unread += 1
    parts(6, 1)
    assert.isTrue(run.isPaused)
    decoders.unread = 32 * MIB + 1
    run.regulate()
    assert.deepStrictEqual(flow, ["pause"])
    decoders.unread -= 1
    run.regulate()
    assert.deepStrictEqual(flow, ["pause", "resume"])
  })

  it("stays paused until both slots and bytes are few", () => {
    const { decoders, flow, head, run } = running()
    for (let slot = 5; slot < 70; slot++) {
      head(slot, 0)
    }
    run.taken(37)
    assert.deepStrictEqual(flow, ["pause"])
    decoders.unread = 33 * MIB
    run.taken(60)
    assert.deepStrictEqual(flow, ["pause"])
    decoders.unread = 0
    run.regulate()
    assert.deepStrictEqual(flow, ["pause", "resume"])
  })

  it("drops slots that are no longer wanted, whole or not", () => {
    const { done, head, parts, run } = running()
    parts(5, 1)
    head(5, 1)
    parts(6, 1)
    parts(7, 1)
    done.length = 0
    run.taken(7)
    assert.deepStrictEqual(done, ["drop 5", "drop 6"])
  })

  it("drops every slot when it is closed", () => {
    const { done, head, parts, reply, run } = running()
    for (const slot of [5, 6, 7]) {
      parts(slot, 1)
      head(slot, 1)
    }
    reply(6)
    done.length = 0
    run.close()
    run.close()
    assert.deepStrictEqual(done, ["drop 5", "drop 7"])
  })

  it("begins another stream with the slots that are still being packed", () => {
    const { begin, events, head, parts, reply, take } = running()
    for (const slot of [5, 6, 7]) {
      parts(slot, 1)
      head(slot, 1)
    }
    reply(6)
    begin()
    take({ slot: { slot: 8, parent: 7, status: 1 } })
    assert.deepStrictEqual(
      events.filter(({ _tag }) => _tag === "began"),
      [
        { _tag: "began", run: 1, from: 5, packing: [], host: "host" },
        { _tag: "began", run: 1, from: 8, packing: [5, 7], host: "host" }
      ]
    )
  })

  it("drops slots that are forgotten because too many are open", () => {
    const { done, parts } = running()
    for (let slot = 5; slot < 5 + 257; slot++) {
      parts(slot, 1)
    }
    assert.deepStrictEqual(
      done.filter((what) => what.startsWith("drop")),
      ["drop 5"]
    )
  })
})
