import { assert, layer } from "@effect/vitest"
import bs58 from "bs58"
import { Duration, Effect, Layer } from "effect"
import { type Answer, call, keyOf, running } from "../../support/http.ts"
import { response, rpcError, type Script, scriptedNode } from "../../support/scriptedNode.ts"
import { facts, knowing, portTo, signature, status, statuses } from "../../chain/rpc/statusNode.ts"
import { TransactionStatus } from "../../../src/chain/rpc/TransactionStatus.ts"

const path = `/api/v1/status/${signature}`

const assertRefused = (answer: Answer, status: number, code: string) => {
  assert.strictEqual(answer.status, status, answer.text)
  assert.strictEqual(answer.json("error.code"), code)
  assert.strictEqual(answer.json("requestId"), answer.headers.get("x-request-id"))
}

/** Sets the answer of the node. */
const node: { say: (script: Script) => void } = { say: () => undefined }

const statusesOverANode = Layer.unwrap(
  Effect.map(scriptedNode, ({ rpcUrl, say }) => {
    node.say = say
    return portTo({ rpcUrl })
  })
)

const keys = "abc"
  .split("")
  .map((letter) => keyOf(letter))
  .concat(keyOf("z", { scopes: ["account.read"] }))

layer(running({ keys, statuses: Layer.orDie(statusesOverANode) }))("GET /api/v1/status/{id}", (it) => {
  it.effect("answers the status of the transaction at the cluster", () =>
    Effect.gen(function* () {
      node.say(knowing(status))
      const answer = yield* call(path)
      assert.strictEqual(answer.status, 200, answer.text)
      assert.deepStrictEqual(JSON.parse(answer.text), {
        data: {
          id: signature,
          chain: "solana",
          state: "confirmed",
          terminal: false,
          slot: 500,
          blockTimeMs: 1_791_633_602_000,
          confirmations: 12,
          feeLamports: "5000",
          computeUnits: 84_211,
          error: null,
          observedAtMs: 0
        },
        meta: {
          requestId: answer.headers.get("x-request-id"),
          methodVersion: "public-status-v1",
          executionAuthority: "none"
        }
      })
      assert.strictEqual(answer.headers.get("cache-control"), "no-store")
    })
  )

  it.effect("reports why a transaction failed", () =>
    Effect.gen(function* () {
      const program = "whirLbMiicVdio4qvUfM5KAg6Ct8VwpYzGff3uctyCc"
      const err = { InstructionError: [4, { Custom: 6036 }] }
      const logMessages = [`Program ${program} failed: custom program error: 0x1794`]
      const finalized = { ...status, err, confirmations: null, confirmationStatus: "finalized" }
      node.say(knowing(finalized, { ...facts, meta: { ...facts.meta, err, logMessages } }))
      const answer = yield* call(path)
      assert.strictEqual(answer.json("data.state"), "failed")
      assert.strictEqual(answer.json("data.terminal"), true)
      assert.deepStrictEqual(answer.json("data.error"), {
        code: "slippage_exceeded",
        instructionIndex: 4,
        customCode: 6036,
        message: `Instruction 4 failed with error 6036 of ${program}.`
      })
    })
  )

  it.effect("answers null for values that are not known yet", () =>
    Effect.gen(function* () {
      node.say(knowing({ ...status, confirmations: 0, confirmationStatus: "processed" }))
      const answer = yield* call(path)
      assert.deepInclude(answer.json("data"), {
        state: "processed",
        confirmations: 0,
        blockTimeMs: null,
        feeLamports: null,
        computeUnits: null,
        error: null
      })
    })
  )

  it.effect("costs one unit of the REST budget", () =>
    Effect.gen(function* () {
      node.say(knowing(status))
      const { headers } = yield* call(path, { key: "b" })
      assert.strictEqual(headers.get("x-ratelimit-budget"), "rest")
      assert.strictEqual(headers.get("x-ratelimit-cost"), "1")
      assert.strictEqual(headers.get("x-ratelimit-remaining"), "119")
    })
  )

  it.effect("answers 404 for an unknown transaction, with Retry-After of two seconds", () =>
    Effect.gen(function* () {
      node.say(knowing(null))
      const answer = yield* call(path)
      assertRefused(answer, 404, "status_not_found")
      assert.strictEqual(answer.headers.get("retry-after"), "2")
      assert.strictEqual(answer.headers.get("x-ratelimit-cost"), "1")
    })
  )

  const odd: ReadonlyArray<readonly [string, string]> = [
    ["no text at all", ""],
    ["text that is no base58", "not-a-signature"],
    ["base58 of 32 bytes", "So11111111111111111111111111111111111111112"],
    ["base58 of 63 bytes", bs58.encode(new Uint8Array(63).fill(7))],
    ["base58 of 65 bytes", bs58.encode(new Uint8Array(65).fill(7))],
    ["a signature with a letter that is not in the alphabet", `0${signature.slice(1)}`],
    ["a signature with a space", `${signature}%20`],
    ["a signature and more path, escaped", `${signature}%2F`],
    ["characters beyond ASCII", "%C3%A9%C3%A9"],
    ["text of a thousand characters", "1".repeat(1000)]
  ]

  for (const [what, id] of odd) {
    it.effect(`answers 400 invalid_signature for ${what}`, () =>
      Effect.gen(function* () {
        node.say(() => response(500))
        assertRefused(yield* call(`/api/v1/status/${id}`, { key: "c" }), 400, "invalid_signature")
      })
    )
  }

  it.effect("refuses parameters, further path and other methods", () =>
    Effect.gen(function* () {
      const answer = yield* call(`${path}?searchTransactionHistory=true`)
      assertRefused(answer, 400, "invalid_request")
      const details = [{ in: "query", field: "searchTransactionHistory", issue: "unknown" }]
      assert.deepStrictEqual(answer.json("error.details"), details)
      assertRefused(yield* call(`${path}/more`), 404, "not_found")
      const posted = yield* call(path, { method: "POST" })
      assertRefused(posted, 405, "method_not_allowed")
      assert.strictEqual(posted.headers.get("allow"), "GET, HEAD, OPTIONS")
    })
  )

  it.effect("needs a key with md.read", () =>
    Effect.gen(function* () {
      assertRefused(yield* call(path, { key: null }), 401, "missing_api_key")
      assertRefused(yield* call(path, { key: "z" }), 403, "missing_scope")
    })
  )
})

const failures: ReadonlyArray<readonly [string, Script, string, string]> = [
  ["fails", () => response(503), "upstream_unavailable", "1"],
  ["limits us", () => response(429, "", { "retry-after": "7" }), "upstream_rate_limited", "7"],
  ["breaks its protocol", () => response(200, "<html>"), "upstream_invalid", "1"],
  ["answers with an error that makes no sense", () => rpcError(-32_602, "secret"), "upstream_invalid", "1"],
  [
    "fails half-way",
    ({ method }) => (method === "getTransaction" ? response(503) : statuses(status)),
    "upstream_unavailable",
    "1"
  ]
]

layer(running({ statuses: Layer.orDie(statusesOverANode) }))("GET /api/v1/status/{id}, when the node", (it) => {
  for (const [what, script, code, seconds] of failures) {
    it.effect(`${what}, answers 503 ${code}, free of charge`, () =>
      Effect.gen(function* () {
        node.say(script)
        const answer = yield* call(path)
        assertRefused(answer, 503, code)
        assert.strictEqual(answer.headers.get("retry-after"), seconds)
        assert.strictEqual(answer.headers.get("x-ratelimit-cost"), "0")
        assert.notInclude(answer.text, "secret")
        node.say(knowing(status))
        assert.strictEqual((yield* call(path)).status, 200)
      })
    )
  }

  it.effect("keeps failing, is left alone for the seconds that the answer names", () =>
    Effect.gen(function* () {
      node.say(() => response(503))
      yield* Effect.repeat(call(path), { times: 4 })
      node.say(knowing(status))
      const answer = yield* call(path)
      assertRefused(answer, 503, "upstream_unavailable")
      assert.strictEqual(answer.headers.get("retry-after"), "1")
    })
  )
})

const silent = Layer.unwrap(
  Effect.map(scriptedNode, ({ rpcUrl, say, silence }) => {
    say(() => silence)
    return portTo({ rpcUrl, timeout: Duration.millis(50) })
  })
)

layer(running({ statuses: Layer.orDie(silent) }), { excludeTestServices: true })("with a silent node", (it) => {
  it.effect("GET /api/v1/status/{id} answers 503 upstream_timeout", () =>
    Effect.gen(function* () {
      const answer = yield* call(path)
      assertRefused(answer, 503, "upstream_timeout")
      assert.strictEqual(answer.headers.get("retry-after"), "1")
    })
  )
})

layer(running({ statuses: TransactionStatus.layerUnreachable }))("without a node", (it) => {
  it.effect("GET /api/v1/status/{id} answers 503 upstream_unavailable", () =>
    Effect.gen(function* () {
      assertRefused(yield* call(path), 503, "upstream_unavailable")
    })
  )
})
