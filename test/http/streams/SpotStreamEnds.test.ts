import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Logger, Scope } from "effect"
import { TestClock } from "effect/testing"
import { SOL } from "../../../src/domain/Address.ts"
import { running } from "../../support/http.ts"
import { engineOver, makeMarket, TOKEN } from "../../support/market.ts"
import { openStream, type OpenStream, until } from "../../support/sse.ts"

const path = `/api/v1/spot/quote/stream?inputMint=${TOKEN}&outputMint=${SOL}&amount=1000000`

const events = (stream: OpenStream) => stream.frames().map(({ event }) => event)

const arrived = (stream: OpenStream, frames: number) =>
  until(`${frames} frames, got ${stream.text()}`, () => stream.frames().length >= frames)

describe("a service that shuts down", () => {
  it.effect("closes its open streams first", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const service = yield* Layer.buildWithScope(running({ engine: engineOver(makeMarket()) }), scope)
      const stream = yield* Effect.provide(openStream(path), service)
      yield* arrived(stream, 2)
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void), { startImmediately: true })
      yield* TestClock.adjust(1)
      yield* until(`the end of ${stream.text()}`, stream.ended)
      assert.deepStrictEqual(events(stream), ["open", "quote", "close"])
      assert.deepInclude(stream.frames().at(-1)?.data, { reason: "server_shutdown", ticks: 1, unitsCharged: 1 })
      yield* Fiber.join(closing)
    })
  )
})

describe("a reader who leaves in the middle of a stream", () => {
  it.effect("leaves no line in the log", () =>
    Effect.gen(function* () {
      const lines: Array<string> = []
      const collect = Logger.layer([Logger.map(Logger.formatJson, (line) => void lines.push(line))])
      const service = running({ engine: engineOver(makeMarket()) }).pipe(Layer.provideMerge(collect))
      yield* Effect.gen(function* () {
        const open = yield* Effect.replicateEffect(openStream(path), 5)
        yield* Effect.forEach(open, (stream) => arrived(stream, 2))
        open.forEach((stream) => stream.cut())
        let again = yield* openStream(path)
        for (let attempt = 0; attempt < 200 && again.status === 429; attempt++) {
          again = yield* openStream(path)
        }
        assert.strictEqual(again.status, 200)
        again.cut()
      }).pipe(Effect.provide(service))
      assert.deepStrictEqual(
        lines.filter((line) => !line.includes("Draining")),
        []
      )
    })
  )
})
