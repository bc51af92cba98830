import { assert, describe, it } from "@effect/vitest"
import { Context } from "effect"
import { HttpApi, type HttpApiEndpoint, OpenApi } from "effect/http-api"
import { readFileSync } from "node:fs"
import type { Examples } from "../../scripts/openapi/examples.ts"
import { type ExampleDocument, withExamples } from "../../scripts/openapi/withExamples.ts"
import { Api } from "../../src/api/Api.ts"
import { Authorization, Scope, SessionOnly } from "../../src/api/middleware/Authorization.ts"
import { catalogue, defaultRetryAfter, type ErrorCode } from "../../src/api/errors/catalogue.ts"
import { JsonBody } from "../../src/api/middleware/JsonBody.ts"
import { Budget } from "../../src/api/middleware/Metering.ts"
import * as problems from "../../src/api/errors/problems.ts"
import { ErrorEnvelope } from "../../src/api/middleware/ErrorEnvelope.ts"

interface Declared {
  readonly endpoint: HttpApiEndpoint.Top
  readonly middleware: ReadonlyArray<string>
}

const declared: Array<Declared> = []
HttpApi.reflect(Api, {
  onGroup: () => undefined,
  onEndpoint: ({ endpoint, middleware }) => {
    declared.push({ endpoint, middleware: Array.from(middleware, ({ key }) => key) })
  }
})

const open = new Set([
  "/api/v1",
  "/api/v1/freshness",
  "/freshness",
  "/livez",
  "/readyz",
  // A session is opened without one.
  "/app/session",
  "/app/sessions"
])
const free = new Set([...open, "/api/v1/account/key"])
/** Refused whatever is asked, so there is no query to check first. */
const closed = new Set(["/api/v1/spot/orders", "/api/v1/perps/orders", "/api/v1/perps/rebalance"])

describe.each(declared)("$endpoint.method $endpoint.path", ({ endpoint, middleware }) => {
  it("declares its query, so that unknown parameters are refused, unless it refuses every call", () => {
    assert.strictEqual(endpoint.query !== undefined, !closed.has(endpoint.path))
  })

  it("asks for a key, with few exceptions", () => {
    assert.strictEqual(middleware.includes(Authorization.key), !open.has(endpoint.path))
  })

  it("is charged, with few exceptions", () => {
    const isCharged = middleware.includes(Authorization.key) && Context.get(endpoint.annotations, Budget) !== null
    assert.strictEqual(isCharged, !free.has(endpoint.path))
  })

  it("refuses last, and reads a body strictly and after everything else", () => {
    assert.strictEqual(middleware.at(-1), ErrorEnvelope.key)
    assert.strictEqual(middleware.includes(JsonBody.key), endpoint.payload.size > 0)
    assert.isTrue(endpoint.payload.size === 0 || middleware[0] === JsonBody.key)
  })
})

const document = OpenApi.fromApi(Api)
const examples: Examples = JSON.parse(readFileSync("scripts/openapi/examples.json", "utf8"))

describe("the OpenAPI document", () => {
  it("is the committed one", () => {
    const committed: unknown = JSON.parse(readFileSync("src/api/openapi.json", "utf8"))
    const plain: ExampleDocument = JSON.parse(JSON.stringify(document))
    assert.deepStrictEqual<unknown>(committed, withExamples(plain, examples))
  })

  it("is OpenAPI 3.1", () => {
    assert.strictEqual(document.openapi, "3.1.0")
  })

  it.each(declared.filter(({ endpoint }) => !open.has(endpoint.path)))(
    "states scope and budget of $endpoint.method $endpoint.path",
    ({ endpoint }) => {
      const path = document.paths[endpoint.path.replaceAll(/:(\w+)/gu, "{$1}")]
      const operations = new Map([
        ["GET", path?.get],
        ["POST", path?.post],
        ["PUT", path?.put],
        ["PATCH", path?.patch],
        ["DELETE", path?.delete]
      ])
      const operation = operations.get(endpoint.method)
      assert.deepStrictEqual(
        operation?.security,
        Context.get(endpoint.annotations, SessionOnly) ? [{ session: [] }] : [{ bearer: [] }, { apiKey: [] }]
      )
      assert.deepStrictEqual(Reflect.get(operation ?? {}, "x-scopes"), Context.get(endpoint.annotations, Scope))
      assert.include(operation?.description, Context.get(endpoint.annotations, Budget) ?? "Free of charge.")
      for (const status of ["400", "401", "403", "405", "414", "500", "503"]) {
        assert.property(operation?.responses, status)
      }
      assert.strictEqual("429" in (operation?.responses ?? {}), !free.has(endpoint.path))
    }
  )
})

const isCode = (code: string): code is ErrorCode => Object.hasOwn(catalogue, code)

// Answered before an endpoint is found: they have no class, because no endpoint can raise them.
const edgeOnly = new Set<string>([
  "request_timeout",
  "expectation_failed",
  "upgrade_required",
  "headers_too_large",
  "version_not_supported"
])

describe("the catalogue of errors", () => {
  const raised = Object.values(problems).flatMap((exported) => {
    const problem: unknown =
      typeof exported === "function" && "ast" in exported ? Reflect.construct(exported, [{}]) : undefined
    return problem instanceof Error && "error" in problem ? [problem] : []
  })
  const codes = raised.map((problem) => Reflect.get(Object(Reflect.get(problem, "error")), "code"))

  it("has one problem class per code, and a code per class", () => {
    assert.sameMembers(
      codes,
      Object.keys(catalogue).filter((code) => !edgeOnly.has(code))
    )
  })

  it("asks to come back on every 429 and 503", () => {
    for (const code of Object.keys(catalogue).filter(isCode)) {
      const { status } = catalogue[code]
      const wants = status === 429 || status === 503 || code === "status_not_found"
      assert.strictEqual(defaultRetryAfter(code) !== undefined, wants, code)
    }
  })
})
