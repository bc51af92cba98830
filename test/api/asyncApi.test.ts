/** The AsyncAPI document: valid, complete, current, and of one mind with the code that reads and writes messages. */
import { Parser } from "@asyncapi/parser"
import { assert, describe, it } from "@effect/vitest"
import { Ajv } from "ajv"
import { Result } from "effect"
import { readFileSync } from "node:fs"
import { asyncApi } from "../../src/api/live/asyncApi.ts"
import { liveChannels } from "../../src/api/live/LiveContract.ts"
import { SOL } from "../../src/domain/Address.ts"
import { readMessage } from "../../src/live/market/readMessage.ts"
import { undescribed } from "./undescribed.ts"
import { A, Scene, trades } from "../live/market/marketScene.ts"

interface Message {
  readonly name: string
  readonly summary: string
  readonly payload: object
}

const text = readFileSync(new URL("../../src/api/asyncapi.json", import.meta.url), "utf8")
const document = JSON.parse(text)
const messages: Readonly<Record<string, Message>> = document.components.messages

const validator = new Ajv({ strict: false })
validator.addSchema({ $id: "document", components: document.components })

/** True for a value that the payload of a message allows. */
const allows = (key: string, value: unknown): boolean => {
  const placed = JSON.stringify(messages[key]?.payload).replaceAll('"#/components', '"document#/components')
  return validator.validate(JSON.parse(placed), JSON.parse(JSON.stringify(value)))
}

describe("the AsyncAPI document", () => {
  it("has no error, warning or hint of the public parser", async () => {
    const parsed = await new Parser().parse(text)
    assert.deepStrictEqual(parsed.diagnostics, [])
    assert.strictEqual(parsed.document?.version(), "3.1.0")
  })

  it("is the document that the schemas produce", () => {
    assert.deepStrictEqual(document, JSON.parse(JSON.stringify(asyncApi())))
  })

  it("describes every message and every property", () => {
    const medias = Object.values(messages).map(({ payload }) => ({ schema: payload, root: "live" }))
    assert.deepStrictEqual(undescribed({ schemas: document.components.schemas, medias }), [])
    for (const { frames, messages: sent } of liveChannels) {
      for (const { name, summary } of [...frames, ...sent]) {
        assert.notStrictEqual(summary, "", name)
      }
    }
  })

  it("has the same name for one schema as the OpenAPI document", () => {
    const open = JSON.parse(readFileSync(new URL("../../src/api/openapi.json", import.meta.url), "utf8"))
    for (const name of ["TokenTrade", "ChartBar", "SpotQuote", "QuoteFrame"]) {
      assert.sameMembers(
        Object.keys(document.components.schemas[name].properties),
        Object.keys(open.components.schemas[name].properties)
      )
    }
  })
})

const subscribe = (channel: string, more: object) => ({ op: "subscribe", id: "a", channel, ...more })

describe("messages of clients", () => {
  const cases: ReadonlyArray<readonly [string, { readonly op: string; readonly channel?: string }]> = [
    ["Trades", trades("a", {})],
    ["Trades", trades("a", { mint: undefined, minUsd: "0.5" })],
    ["Trades", trades("a", { mint: undefined })],
    ["Trades", trades("a", { minUsd: "0.0" })],
    ["Trades", trades("a", { minUsd: "01" })],
    ["Trades", trades("a", { more: 1 })],
    ["Trades", trades("a b", {})],
    ["Trades", trades("a", { resume: { streamId: "str_1", seq: 3 } })],
    ["Trades", trades("a", { resume: { streamId: "str_1", seq: -1 } })],
    ["Candles", subscribe("candles", { mint: A, resolution: "1m" })],
    ["Candles", subscribe("candles", { mint: A, pool: A, resolution: "1m" })],
    ["Candles", subscribe("candles", { resolution: "1m" })],
    ["Candles", subscribe("candles", { mint: A, resolution: "7m" })],
    ["Quote", subscribe("quote", { inputMint: A, outputMint: SOL, amount: "1" })],
    ["Quote", subscribe("quote", { inputMint: A, outputMint: SOL, amount: "1", intervalMs: 249 })],
    ["Quote", subscribe("quote", { inputMint: A, outputMint: SOL, amount: 1 })],
    ["Quote", subscribe("quote", { inputMint: A, outputMint: SOL })],
    ["Movers", subscribe("movers", { window: "1h" })],
    ["Movers", subscribe("movers", {})]
  ]

  it.each(cases)("%s %j is allowed exactly where the socket takes it", (channel, message) => {
    const sent = JSON.parse(JSON.stringify(message))
    assert.strictEqual(allows(`marketClientSubscribe${channel}`, sent), Result.isSuccess(readMessage(sent)))
  })

  it("include valid and invalid ones", () => {
    const taken = cases.map(([, message]) => Result.isSuccess(readMessage(JSON.parse(JSON.stringify(message)))))
    assert.includeMembers(taken, [true, false])
  })
})

describe("frames of the market socket", () => {
  it("are the frames that the hub sends", () => {
    const scene = new Scene()
    const reader = scene.connect()
    assert.isTrue(reader.wire.controls.length > 0)
    for (const frame of reader.wire.controls) {
      const { type } = JSON.parse(JSON.stringify(frame))
      assert.isTrue(allows(`market${type.charAt(0).toUpperCase()}${type.slice(1)}`, frame), type)
    }
  })
})
