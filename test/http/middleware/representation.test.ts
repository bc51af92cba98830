import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Layer, Result } from "effect"
import { request } from "node:http"
import { brotliDecompressSync, gunzipSync } from "node:zlib"
import { SOL } from "../../../src/domain/Address.ts"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { encoded, validated } from "../../../src/http/middleware/representation.ts"
import { chosenEncoding } from "../../../src/http/middleware/contentEncoding.ts"
import { Listening } from "../../../src/http/server/NodeServer.ts"
import { QuoteEngine } from "../../../src/quotes/QuoteEngine.ts"
import { keyOf, running, secretOf } from "../../support/http.ts"
import { engineOver, makeMarket, TOKEN } from "../../support/market.ts"
import { quoteOf } from "../../quotes/toyStream.ts"

/** A response with its bytes as they were sent; `fetch` would decompress them. */
const raw = Effect.fnUntraced(function* (path: string, headers: Record<string, string>) {
  const { port } = yield* Listening
  return yield* Effect.promise(
    () =>
      new Promise<{ status: number; headers: Record<string, unknown>; body: Buffer }>((resolve, reject) => {
        request({ port, path, headers }, (response) => {
          const chunks: Array<Buffer> = []
          response.on("data", (chunk: Buffer) => {
            chunks.push(chunk)
            // A stream does not end by itself while the clock stands still.
            if (chunk.includes("event: quote")) {
              response.destroy()
            }
          })
          response.on("close", () =>
            resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) })
          )
        })
          .on("error", reject)
          .end()
      })
  )
})

const quote = `/api/v1/spot/quote?inputMint=${TOKEN}&outputMint=${SOL}&amount=1000000000`
const authorization = `Bearer ${secretOf("a")}`
const documents = [
  ["/openapi.json", "accept-encoding"],
  ["/changelog", "accept, accept-encoding"]
] as const

describe("the encoding of an answer", () => {
  it.each([
    [undefined, undefined],
    ["", undefined],
    ["identity", undefined],
    ["deflate", undefined],
    ["gzip", "gzip"],
    ["x-gzip", "gzip"],
    ["GZIP", "gzip"],
    ["gzip, deflate, br", "br"],
    ["gzip;q=1, br;q=0.5", "gzip"],
    ["gzip;q=0.4, br;q=0.5", "br"],
    ["br;q=0, gzip", "gzip"],
    ["br;q=0, gzip;q=0.000", undefined],
    ["*", "br"],
    ["*;q=0", undefined],
    ["br;q=0, *", "gzip"],
    ["gzip;q=0.5, identity;q=0.8", undefined],
    ["gzip;q=2, br;q=x", undefined],
    ["gzip ; q=0.5", "gzip"]
  ])("for Accept-Encoding %s is %s", (header, encoding) => {
    assert.strictEqual(chosenEncoding(header), encoding)
  })
})

describe("a form of a document", () => {
  it.effect("is made once, and requests that come meanwhile share it", () =>
    Effect.gen(function* () {
      const asked = HttpServerRequest.fromWeb(
        new Request("http://fathom.invalid/openapi.json", { headers: { "accept-encoding": "br" } })
      )
      const document = HttpServerResponse.text("the same text ".repeat(5000))
      const sent = yield* Effect.all(
        Array.from({ length: 30 }, () => encoded(asked, validated(asked, document))),
        { concurrency: "unbounded" }
      )
      const later = yield* encoded(asked, validated(asked, document))
      const forms = new Set([...sent, later].map(({ body }) => (body._tag === "Uint8Array" ? body.body : null)))
      assert.strictEqual(forms.size, 1)
      assert.strictEqual(later.headers["content-encoding"], "br")
    })
  )
})

layer(running({ keys: [keyOf("a")], engine: engineOver(makeMarket()) }))("representations", (it) => {
  it.effect.each(documents)("of %s are compressed as accepted, with the same content", ([path, vary]) =>
    Effect.gen(function* () {
      const plain = yield* raw(path, {})
      const gzip = yield* raw(path, { "accept-encoding": "gzip" })
      const br = yield* raw(path, { "accept-encoding": "gzip, br" })
      assert.deepStrictEqual(
        [plain, gzip, br].map(({ headers }) => headers["content-encoding"]),
        [undefined, "gzip", "br"]
      )
      assert.isTrue(gunzipSync(gzip.body).equals(plain.body))
      assert.isTrue(brotliDecompressSync(br.body).equals(plain.body))
      for (const { body, headers } of [plain, gzip, br]) {
        assert.strictEqual(headers["vary"], vary)
        assert.strictEqual(headers["content-length"], String(body.length))
      }
    })
  )

  it.effect.each(documents)("of %s are answered 304 to a caller that has them", ([path, vary]) =>
    Effect.gen(function* () {
      const first = yield* raw(path, { "accept-encoding": "gzip" })
      const etag = String(first.headers["etag"])
      assert.match(etag, /^W\/"[\w-]{22}"$/u)
      assert.isString(first.headers["cache-control"])
      for (const known of [etag, etag.replace("W/", ""), `"x", ${etag}`, "*"]) {
        const again = yield* raw(path, { "if-none-match": known })
        assert.deepStrictEqual([again.status, again.body.length], [304, 0], known)
        assert.strictEqual(again.headers["etag"], etag)
        assert.strictEqual(again.headers["vary"], vary)
        assert.strictEqual(again.headers["cache-control"], first.headers["cache-control"])
      }
      assert.strictEqual((yield* raw(path, { "if-none-match": '"x"' })).status, 200)
    })
  )

  it.effect("of short answers are never compressed", () =>
    Effect.gen(function* () {
      const { body, headers } = yield* raw(quote, { authorization, "accept-encoding": "gzip, br" })
      assert.isAtMost(body.length, 1024)
      assert.isUndefined(headers["content-encoding"])
    })
  )

  it.effect("of streams are never compressed", () =>
    Effect.gen(function* () {
      const path = quote.replace("quote?", "quote/stream?")
      const { body, headers, status } = yield* raw(path, { authorization, "accept-encoding": "gzip, br" })
      assert.deepStrictEqual([status, headers["content-type"]], [200, "text/event-stream"])
      assert.isUndefined(headers["content-encoding"])
      assert.include(body.toString(), "event: quote")
    })
  )
})

const long = { ...quoteOf(7n), engine: "router".repeat(200) }
const longEngine = Layer.succeed(QuoteEngine, {
  quote: () => Effect.succeed(long),
  quoteAll: (requests) => Effect.succeed(requests.map(() => Result.succeed(long))),
  exitMint: SOL
})

layer(running({ keys: [keyOf("a")], engine: longEngine }))("a quote of more than 1 KB", (it) => {
  it.effect.each(["gzip", "br", undefined])(
    "is the same from the fast path and the default handler as %s",
    (encoding) =>
      Effect.gen(function* () {
        const accepted: Record<string, string> = encoding === undefined ? {} : { "accept-encoding": encoding }
        const fast = yield* raw(quote, { authorization, ...accepted })
        const standard = yield* raw(quote, { authorization, ...accepted, "content-length": "0" })
        assert.isTrue(fast.body.equals(standard.body))
        for (const { headers, status } of [fast, standard]) {
          assert.strictEqual(status, 200)
          assert.strictEqual(headers["content-encoding"], encoding)
          assert.strictEqual(headers["vary"], "accept-encoding")
          assert.strictEqual(headers["x-ratelimit-cost"], "1")
        }
        assert.deepStrictEqual(Object.keys(fast.headers).toSorted(), Object.keys(standard.headers).toSorted())
      })
  )
})
