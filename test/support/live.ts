/** The service with a live tracker over a tape that the test writes, and clients of its sockets. */
import { Effect, Layer, type Scope } from "effect"
import { WebSocket } from "ws"
import type { Address } from "../../src/domain/Address.ts"
import { Tape } from "../../src/market/tape/Tape.ts"
import type { PricedBatch } from "../../src/market/model/TradeBatch.ts"
import { Listening } from "../../src/http/server/NodeServer.ts"
import { LiveSessions } from "../../src/wallets/tracker/LiveSessions.ts"
import { Tickets } from "../../src/wallets/tracker/Tickets.ts"
import { TrackerStore } from "../../src/wallets/tracker/TrackerStore.ts"
import { feedOver } from "../wallets/tracker/liveScene.ts"
import { call, running, type World } from "./http.ts"
import { until } from "./sse.ts"

/** A frame as it arrived. */
export type Arrived = Record<string, unknown> & { readonly type: string; readonly seq: number }

/** A client's side of a live connection. */
export interface LiveClient {
  readonly ws: WebSocket
  readonly texts: ReadonlyArray<string>
  readonly frames: () => ReadonlyArray<Arrived>
  /** Data frames only. */
  readonly data: () => ReadonlyArray<Arrived>
  /** The code of the close, once it has come. */
  readonly code: () => number | null
}

/** The service, its tape, its store, and what it holds of live connections. */
export const liveService = (world: World = {}, tickets = Tickets.layerMemory) => {
  const scene = Layer.merge(feedOver(), tickets)
  return LiveSessions.layer.pipe(
    Layer.provideMerge(running({ ...world, tracker: scene, trackerFeed: scene })),
    Layer.provideMerge(scene),
    Layer.orDie
  )
}

/** Connects to a URL. The client is cut off with the scope. */
export const connectTo = (url: string, autoPong = true): Effect.Effect<LiveClient, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const ws = new WebSocket(url, { autoPong, perMessageDeflate: false })
      const texts: Array<string> = []
      const closed: { code: number | null } = { code: null }
      ws.on("message", (data) => texts.push(String(data)))
      ws.on("close", (code) => (closed.code = code))
      ws.on("error", () => undefined)
      const frames = (): ReadonlyArray<Arrived> => texts.map((text) => JSON.parse(text))
      return {
        ws,
        texts,
        frames,
        data: () => frames().filter(({ type }) => !["heartbeat", "pong", "error", "notice"].includes(type)),
        code: () => closed.code
      }
    }),
    ({ ws }) => Effect.sync(() => ws.terminate())
  )

/** The URL of a new session of that key. */
export const sessionOf = Effect.fnUntraced(function* (key = "a", query = "control=true") {
  const answer = yield* call(`/api/v1/tracker/realtime/session?${query}`, { key })
  const url = answer.json("wsUrl")
  return typeof url === "string" && url !== "" ? url : yield* Effect.die(new Error(`no session: ${answer.text}`))
})

/** Has an account of tests track these wallets. */
export const trackAll = (wallets: ReadonlyArray<Address>, accountId = "local") =>
  TrackerStore.use((store) =>
    Effect.forEach(wallets, (wallet) => store.add({ accountId, wallet, groupId: null }), { discard: true })
  )

/** A client of a new session, once it has its first snapshot. */
export const opened = Effect.fnUntraced(function* (key = "a", query = "control=true") {
  const client = yield* connectTo(yield* sessionOf(key, query))
  yield* heard(client, 1)
  return client
})

/** Waits for so many data frames. */
export const heard = (client: LiveClient, frames: number) =>
  until(`${frames} frames, got ${client.texts.join("\n")}`, () => client.data().length >= frames)

/** Waits for the close; its code. */
export const closing = (client: LiveClient) =>
  Effect.map(
    until(`the close after ${client.texts.length} frames`, () => client.code() !== null),
    () => client.code()
  )

/** Applies a block to the tape; its followers are notified soon after. */
export const happen = (batch: PricedBatch) => Tape.use((tape) => tape.apply(batch))

/** Address of the service, for upgrades by hand. */
export const wsUrl = Effect.map(Listening, ({ url }) => url.replace("http", "ws"))
