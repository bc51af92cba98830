/** The exchange in ccxt's form, against the calls of the service. */
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { createExchange } from "../../src/client/createExchange.ts"
import { FathomError } from "../../src/client/FathomError.ts"
import { Listening } from "../../src/http/server/NodeServer.ts"
import { Tape } from "../../src/market/tape/Tape.ts"
import { mintOf, MONDAY } from "../market/tape/tape.ts"
import { keyOf, secretOf } from "../support/http.ts"
import { block, makeBooks, minted, reading, setSecond } from "../support/reads.ts"
import { at, DOLLAR } from "../support/views.ts"

const TOKEN = mintOf(1)
const books = makeBooks()
books.tokens.set(TOKEN, minted(1_000_000n, 6))

const trade = (second: number, priceUsd: number) =>
  Effect.andThen(
    setSecond(second),
    Tape.use((tape) =>
      tape.apply(
        block(second, { trades: [at(second, { mint: TOKEN, index: 0, priceUsd, volumeUsdNanos: 2n * DOLLAR })] })
      )
    )
  )

const msOf = (second: number): number => (MONDAY + second) * 1000

const exchangeOf = (key: string) =>
  Effect.map(Listening, ({ url }) => createExchange({ baseUrl: url, key: secretOf(key), retry: { tries: 1 } }))

/** What a promise is rejected with. */
const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => assert.fail("it did not fail"),
    (failure: unknown) => failure
  )

layer(reading({ books, world: { keys: [keyOf("a"), keyOf("b")] } }))("an exchange of ccxt", (it) => {
  it.effect("has candles, tickers, trades and markets in ccxt's shapes", () =>
    Effect.gen(function* () {
      const exchange = yield* exchangeOf("a")
      yield* trade(60, 1)
      yield* trade(120, 2)
      yield* trade(125, 3)
      const symbol = `${TOKEN}/USD`
      const read = yield* Effect.promise(() =>
        Promise.all([
          exchange.fetchOHLCV(symbol, "1m"),
          exchange.fetchOHLCV(TOKEN, "1m", msOf(60), 1),
          exchange.fetchTrades(symbol, msOf(120)),
          exchange.fetchTicker(symbol),
          exchange.fetchMarkets({ limit: 10 })
        ])
      )
      const [candles, first, trades, ticker, markets] = read
      assert.deepStrictEqual(candles, [
        [msOf(60), 1, 1, 1, 1, 2],
        [msOf(120), 2, 3, 2, 3, 4]
      ])
      assert.deepStrictEqual(first, [[msOf(60), 1, 1, 1, 1, 2]])
      assert.deepStrictEqual(
        trades.map(({ cost, price, symbol: of, timestamp }) => [of, timestamp, price, cost]),
        [
          [symbol, msOf(120), 2, 2],
          [symbol, msOf(125), 3, 2]
        ]
      )
      assert.strictEqual(trades[0]?.datetime, new Date(msOf(120)).toISOString())
      assert.match(trades[0]?.side ?? "", /^(?:buy|sell)$/u)
      const fields = ["symbol", "timestamp", "datetime", "high", "low", "bid", "ask", "open", "close", "last", "change"]
      assert.containsAllKeys(ticker, [...fields, "percentage", "average", "baseVolume", "quoteVolume", "info"])
      assert.strictEqual(ticker.symbol, symbol)
      // The record of the day begins with these trades, so its figures are unknown and not zero.
      const { last, open, quoteVolume } = ticker
      assert.deepStrictEqual([last, open, quoteVolume], [undefined, undefined, undefined])
      for (const market of markets) {
        assert.deepStrictEqual([market.quote, market.spot, market.type], ["USD", true, "spot"])
        assert.strictEqual(market.symbol, `${market.base}/USD`)
      }
    })
  )

  it.effect("names what it does not know", () =>
    Effect.gen(function* () {
      const exchange = yield* exchangeOf("b")
      const failures = yield* Effect.promise(() =>
        Promise.all([
          failureOf(exchange.fetchTicker("NOBODY/USD")),
          failureOf(exchange.fetchOHLCV(TOKEN, "7m" as "1m")),
          failureOf(exchange.fetchOHLCV(TOKEN, "1m", undefined, 5000))
        ])
      )
      assert.deepStrictEqual(
        failures.map((failure) => (failure as Error).name),
        ["BadSymbol", "BadRequest", "FathomError"]
      )
      const [, , refused] = failures
      assert.instanceOf(refused, FathomError)
      assert.deepStrictEqual(
        refused.details?.map(({ field }) => field),
        ["limit"]
      )
    })
  )
})

const figure = (value: string | null, status = "known") => ({ value, status, unit: "usd", observedAtMs: 1 })

const rowOf = (address: string, symbol: string | null) => ({ token: { address, symbol, decimals: 9 }, rank: 1 })

/** An exchange over answers by the end of their path. */
const scripted = (answers: Readonly<Record<string, unknown>>) => {
  const asked: Array<string> = []
  const exchange = createExchange({
    baseUrl: "http://nowhere",
    key: "k",
    fetch: (url) => {
      const { pathname } = new URL(String(url))
      asked.push(pathname)
      const name = Object.keys(answers).find((each) => pathname.endsWith(each)) ?? ""
      return Promise.resolve(Response.json({ data: answers[name] }))
    }
  })
  return { asked, exchange }
}

describe("symbols of an exchange", () => {
  const [one, two, three] = [mintOf(1), mintOf(2), mintOf(3)]
  const movement = [rowOf(one, "CAT"), rowOf(two, "CAT"), rowOf(three, null)]

  it("name the mint where a symbol is taken or unknown, and read the market they name", async () => {
    const { asked, exchange } = scripted({ "/movement": movement, "/stats": { windows: [] } })
    const markets = await exchange.fetchMarkets()
    assert.deepStrictEqual(
      markets.map(({ id, precision, symbol }) => [id, symbol, precision.amount]),
      [
        [one, "CAT/USD", 1e-9],
        [two, `${two}/USD`, 1e-9],
        [three, `${three}/USD`, 1e-9]
      ]
    )
    await exchange.fetchTicker("CAT/USD")
    assert.strictEqual(asked.at(-1), `/api/v1/tokens/solana/${one}/stats`)
  })

  it("are searched for once, past tokens that imitate another", async () => {
    const search = [
      { ...rowOf(one, "CAT"), lookAlike: { isLookAlike: true } },
      { ...rowOf(two, "CAT"), lookAlike: { isLookAlike: false } }
    ]
    const { asked, exchange } = scripted({ "/search": search, "/stats": { windows: [] } })
    await exchange.fetchTicker("CAT/USD")
    await exchange.fetchTicker("CAT/USD")
    assert.deepStrictEqual(
      asked.map((path) => path.replace("/api/v1", "")),
      ["/search", `/tokens/solana/${two}/stats`, `/tokens/solana/${two}/stats`]
    )
  })

  it("have no price where it is late or unknown, instead of an old one or zero", async () => {
    const day = {
      window: "24h",
      openUsd: figure("1"),
      closeUsd: figure("2", "stale"),
      changePct: figure(null, "unavailable"),
      volumeUsd: figure("5")
    }
    const { exchange } = scripted({ "/stats": { windows: [day] } })
    const { change, last, open, percentage, quoteVolume } = await exchange.fetchTicker(one)
    assert.deepStrictEqual([open, last, change, percentage, quoteVolume], [1, undefined, undefined, undefined, 5])
  })
})
