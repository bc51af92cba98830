/** A market hub with fake readers: no socket, no budget, and time is a number. */
import type { Channel } from "../../../src/api/schemas/MarketFrame.ts"
import { DEFAULT_PLAN } from "../../../src/api/schemas/Plan.ts"
import { TopicFrames } from "../../../src/live/market/blockFrames.ts"
import { MarketHub } from "../../../src/live/market/MarketHub.ts"
import type { Opening } from "../../../src/live/market/Topic.ts"
import { FakeWire } from "../../wallets/tracker/hubScene.ts"
import { mintOf } from "../../market/tape/tape.ts"

/** The token of the tests. */
export const A = mintOf(1)
const START = 1_700_000_000_000

/** A hub whose subscriptions are opened at once with an empty snapshot. */
export class Scene {
  nowMs = START
  readonly waiting: Array<Opening> = []
  opensAtOnce = true
  readonly hub = new MarketHub(
    {
      health: () => ({ ingestLagMs: 0, heardAtMs: this.nowMs }),
      opening: (opening) =>
        this.opensAtOnce ? this.hub.opened(opening, { at: "snapshot" }, this.nowMs) : this.waiting.push(opening)
    },
    { replayBytes: 64 * 1024 * 1024, sockets: 10_000 }
  )
  #streams = 0

  connect(keyId = "key_a", accountId = "a") {
    const streamId = `str_${++this.#streams}`
    const wire = new FakeWire()
    const grant = {
      keyId,
      session: null,
      accountId,
      control: true,
      streamId,
      sockets: 10_000,
      plan: DEFAULT_PLAN
    }
    const connection = this.hub.open(grant, wire, this.nowMs)
    if (connection === null) {
      throw new Error("no room for a reader")
    }
    const say = (message: unknown) =>
      connection.message(typeof message === "string" ? message : JSON.stringify(message), this.nowMs)
    return { wire, streamId, connection, say }
  }

  /** Publishes a frame with this number as its data to the topics of a channel that concern `A` or the whole channel. */
  publish(channel: Channel, type: string, n: number): void {
    const frames = new TopicFrames()
    frames.add([...this.hub.topicsOf(channel, A), ...this.hub.topicsOf(channel)], type, () => n)
    this.hub.publish(frames.batches, this.nowMs)
  }
}

/** A subscription to the trades of a token. */
export const trades = (id: string, more: object = {}) => ({ op: "subscribe", id, channel: "trades", mint: A, ...more })
/** Type, name, number, data and skipped frames of each frame. */
export const brief = (wire: FakeWire) =>
  wire.frames.map(({ data, id, seq, skipped, type }) => [type, id, seq, data, skipped])
/** Codes of control frames, or their types. */
export const codes = (wire: FakeWire) => wire.controls.map(({ code, type }) => code ?? type)
