/** `watchMarket` against the sockets of the service. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { createClient } from "../../src/client/createClient.ts"
import type { MarketEvent } from "../../src/client/MarketMemory.ts"
import { watchMarket } from "../../src/client/watchMarket.ts"
import { Listening } from "../../src/http/server/NodeServer.ts"
import { Tape } from "../../src/market/tape/Tape.ts"
import { mintOf } from "../market/tape/tape.ts"
import { keyOf, secretOf } from "../support/http.ts"
import { block, makeBooks, minted, reading, setSecond } from "../support/reads.ts"
import { until } from "../support/sse.ts"
import { at, DOLLAR } from "../support/views.ts"

const TOKEN = mintOf(1)
const books = makeBooks()
books.tokens.set(TOKEN, minted(1_000_000n, 6))

const trade = (second: number) =>
  Effect.andThen(
    setSecond(second),
    Tape.use((tape) =>
      tape.apply(block(second, { trades: [at(second, { mint: TOKEN, index: 0, volumeUsdNanos: DOLLAR })] }))
    )
  )

layer(reading({ books, world: { keys: [keyOf("a")] } }))("watchMarket, against the service", (it) => {
  it.effect("resumes after its connection was cut, loses and repeats no trade, and ends with its signal", () =>
    Effect.gen(function* () {
      const { url } = yield* Listening
      const client = createClient({ baseUrl: url, key: secretOf("a") })
      const sockets: Array<WebSocket> = []
      const webSocket = (address: string) => {
        const socket = new WebSocket(address)
        sockets.push(socket)
        return socket
      }
      const events: Array<MarketEvent> = []
      const controller = new AbortController()
      const reason = new Error("enough")
      const ended: { with?: unknown } = {}
      const listen = async () => {
        const options = { signal: controller.signal, webSocket }
        for await (const event of watchMarket(client, [{ channel: "trades", mint: TOKEN, id: "t" }], options)) {
          events.push(event)
        }
      }
      listen().catch((failure: unknown) => (ended.with = failure))
      const types = () => events.map((event) => ("seq" in event ? `${event.seq} ${event.type}` : event.type))

      yield* trade(0)
      yield* until("the snapshot", () => events.length === 1)
      yield* trade(1)
      yield* until("the first trade", () => events.length === 2)
      sockets[0]?.close(4000)
      yield* until("the close", () => sockets[0]?.readyState === WebSocket.CLOSED)
      yield* trade(2)
      yield* until("the second trade", () => events.length === 4)
      yield* trade(3)
      yield* until("the third trade", () => events.length === 5)
      assert.deepStrictEqual(types(), ["0 snapshot", "1 trade", "1 snapshot", "2 trade", "3 trade"])
      assert.deepInclude(events[2], { resumed: true, gap: null })

      controller.abort(reason)
      yield* until("the end", () => "with" in ended)
      assert.strictEqual(ended.with, reason)
    })
  )
})
