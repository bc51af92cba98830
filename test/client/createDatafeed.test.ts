/** The datafeed for TradingView's charting library, against the calls and sockets of the service. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { KeyStore } from "../../src/access/KeyStore.ts"
import { COMMAND_LINE } from "../../src/api/schemas/KeyAudit.ts"
import { createClient } from "../../src/client/createClient.ts"
import { createDatafeed, type Datafeed } from "../../src/client/createDatafeed.ts"
import type { DatafeedBar } from "../../src/client/liveBars.ts"
import { Listening } from "../../src/http/server/NodeServer.ts"
import { Tape } from "../../src/market/tape/Tape.ts"
import { mintOf, MONDAY } from "../market/tape/tape.ts"
import { call, keyOf, running, secretOf } from "../support/http.ts"
import { block, makeBooks, minted, reading, setSecond } from "../support/reads.ts"
import { until } from "../support/sse.ts"
import { eventually, makeTokenWorld, NOTHING, TOKEN as PRICED, tokensOver } from "../support/tokens.ts"
import { at, DOLLAR } from "../support/views.ts"

const [TOKEN, OTHER] = [mintOf(1), mintOf(2)]
const books = makeBooks()
books.tokens.set(TOKEN, minted(1_000_000n, 6))
books.tokens.set(OTHER, minted(1_000_000n, 6))

const trade = (second: number, priceUsd: number, mint = TOKEN) =>
  Effect.andThen(
    setSecond(second),
    Tape.use((tape) =>
      tape.apply(block(second, { trades: [at(second, { mint, index: 0, priceUsd, volumeUsdNanos: DOLLAR })] }))
    )
  )

/** A datafeed with the key of that letter, and the sockets that it opened. */
const opened = Effect.fnUntraced(function* (key: string) {
  const { url } = yield* Listening
  const sockets: Array<WebSocket> = []
  const failures: Array<unknown> = []
  const webSocket = (address: string) => {
    const socket = new WebSocket(address)
    sockets.push(socket)
    return socket
  }
  const datafeed = yield* Effect.acquireRelease(
    Effect.sync(() =>
      createDatafeed(createClient({ baseUrl: url, key: secretOf(key), retry: { tries: 1 } }), {
        webSocket,
        onError: (failure) => failures.push(failure)
      })
    ),
    (open) => Effect.sync(() => open.close())
  )
  return { datafeed, failures, sockets }
})

const symbol = { name: "ABC", ticker: TOKEN }

const bars = (datafeed: Datafeed, resolution: string, period: Parameters<Datafeed["getBars"]>[2], of = symbol) =>
  Effect.promise(
    () =>
      new Promise<{ readonly bars: ReadonlyArray<DatafeedBar>; readonly meta: object } | string>((resolve) =>
        datafeed.getBars(of, resolution, period, (given, meta) => resolve({ bars: given, meta }), resolve)
      )
  )

const shown = (given: ReadonlyArray<DatafeedBar>) => given.map(({ close, time }) => [time / 1000 - MONDAY, close])

layer(reading({ books, world: { keys: [keyOf("a"), keyOf("b")] } }))("a datafeed of TradingView", (it) => {
  it.effect("answers bars, and goes on live from them over one socket", () =>
    Effect.gen(function* () {
      const { datafeed, sockets } = yield* opened("a")
      yield* trade(60, 1)
      yield* trade(120, 2)
      const first = yield* bars(datafeed, "1", { from: 0, to: MONDAY + 180, countBack: 10 })
      assert.deepStrictEqual(typeof first === "string" ? first : [shown(first.bars), first.meta], [
        [
          [60, 1],
          [120, 2]
        ],
        { noData: false }
      ])

      const ticks: Array<DatafeedBar> = []
      const others: Array<DatafeedBar> = []
      datafeed.subscribeBars(
        symbol,
        "1",
        (bar) => ticks.push(bar),
        "one",
        () => undefined
      )
      datafeed.subscribeBars(
        { name: "X", ticker: OTHER },
        "1",
        (bar) => others.push(bar),
        "two",
        () => undefined
      )
      yield* until("the snapshot", () => ticks.length > 0)
      for (const tick of shown(ticks)) {
        assert.deepStrictEqual(tick, [120, 2], "older bars than the chart has are not sent")
      }
      yield* trade(125, 3)
      yield* trade(126, 7, OTHER)
      yield* until("the open bar", () => ticks.at(-1)?.close === 3 && others.at(-1)?.close === 7)
      yield* trade(180, 4)
      yield* until("the next bar", () => ticks.at(-1)?.close === 4)
      assert.isTrue(
        ticks.every(({ time }, n) => time >= (ticks[n - 1]?.time ?? 0)),
        "time does not go back"
      )
      assert.lengthOf(sockets, 1, "both charts share a socket")
      datafeed.unsubscribeBars("one")
      datafeed.unsubscribeBars("two")
      yield* until("the end of the socket", () => sockets[0]?.readyState === WebSocket.CLOSED)
    })
  )

  it.effect("answers an empty window as no data, and a wrong resolution as a reason", () =>
    Effect.gen(function* () {
      const { datafeed } = yield* opened("a")
      yield* trade(240, 1)
      const empty = yield* bars(datafeed, "1", { from: 0, to: 30 })
      assert.deepInclude(typeof empty === "string" ? {} : empty.meta, { noData: true })
      assert.match(String(yield* bars(datafeed, "7", { from: 0, to: 30 })), /^The resolution 7 is not one of 1, 3, /u)
    })
  )

  it.effect("tells why live bars ended for good", () =>
    Effect.gen(function* () {
      const { datafeed, failures, sockets } = yield* opened("b")
      yield* trade(300, 1)
      yield* KeyStore.use((store) => store.revoke("key_b", COMMAND_LINE))
      datafeed.subscribeBars(
        symbol,
        "1",
        () => undefined,
        "one",
        () => undefined
      )
      yield* until("the failure", () => failures.length === 1)
      assert.deepInclude(failures[0], { code: "invalid_api_key", status: 401 })
      assert.isEmpty(sockets)
    })
  )
})

layer(running({ keys: [keyOf("a")], tokens: tokensOver(makeTokenWorld()) }))("a symbol of a datafeed", (it) => {
  it.effect("is a mint with what the library has to know about it; an unknown one is a reason", () =>
    Effect.gen(function* () {
      const { datafeed } = yield* opened("a")
      yield* TestClock.setTime(1000)
      yield* eventually(call(`/api/v1/tokens/solana/${PRICED}`), ({ status }) => status === 200)
      const resolved = (name: string) =>
        Effect.promise(() => new Promise<object | string>((resolve) => datafeed.resolveSymbol(name, resolve, resolve)))
      const [info, own] = [yield* resolved(`SOLANA:${PRICED}`), yield* call(`/compat/udf/symbols?symbol=${PRICED}`)]
      assert.deepInclude(info, {
        ticker: PRICED,
        session: "24x7",
        currency_code: "USD",
        has_seconds: true
      })
      assert.deepStrictEqual(info, JSON.parse(own.text), "both ways describe a symbol alike")
      assert.isString(yield* resolved(NOTHING))
    })
  )
})
