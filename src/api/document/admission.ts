/** Adds to the OpenAPI document: scopes, prices, tags, and the headers of every response. */
import { Context } from "effect"
import { HttpApi, type HttpApiGroup, type OpenApi } from "effect/http-api"
import { Authorization, Scope, SessionOnly } from "../middleware/Authorization.ts"
import { Budget, Cost } from "../middleware/Metering.ts"
import { keyDescriptions, type Parameter, retype } from "./parameters.ts"
import { portable } from "./portable.ts"
import { ordered } from "./tags.ts"

type Spec = Parameters<typeof OpenApi.Transform.Service>[0]
type Headers = Readonly<Record<string, { readonly description: string; readonly schema: { readonly type: string } }>>

const header = (type: "string" | "integer", description: string) => ({ description, schema: { type } })

const common: Headers = {
  "X-Content-Type-Options": header("string", "Always nosniff."),
  "X-Request-Id": header("string", "The UUID of this answer."),
  "X-Client-Request-Id": header(
    "string",
    "The value that the request sent in this header: 1 to 64 printable ASCII characters."
  )
}

const metered: Headers = {
  "X-RateLimit-Limit": header(
    "integer",
    "Units of the budget in any window. The window is 60 seconds unless the plan of the key sets another."
  ),
  "X-RateLimit-Remaining": header("integer", "Units that are left; never below 0."),
  "X-RateLimit-Reset": header(
    "integer",
    "Unix second at which the oldest counted unit leaves the window. On a 429, the second at which the cost of this request fits."
  ),
  "X-RateLimit-Budget": header("string", "The budget that was charged: rest or quote."),
  "X-RateLimit-Cost": header("integer", "Units that this request was charged; 0 when they were refunded."),
  "RateLimit-Policy": header("string", "The budget in the form of the IETF draft."),
  RateLimit: header("string", "The state of the budget, in the form of the IETF draft.")
}

const retryAfter: Headers = { "Retry-After": header("integer", "Seconds to wait before trying again.") }

const replayed: Headers = {
  "Idempotency-Replayed": header("string", "true when this answer repeats the answer to an earlier request.")
}

const challenge: Headers = { "WWW-Authenticate": header("string", "Always Bearer.") }

const allow: Headers = { Allow: header("string", "Methods of this path, separated by commas.") }

const refs = (headers: Headers) =>
  Object.fromEntries(Object.keys(headers).map((name) => [name, { $ref: `#/components/headers/${name}` }]))

const KEYED_REQUEST = "idempotency-key"

/**
 * True for statuses that are kept under an idempotency key: all but 5xx and the statuses of admission and of unread
 * bodies.
 */
const isKept = (status: string): boolean =>
  Number(status) < 500 && !["401", "403", "405", "413", "414", "415", "422", "429"].includes(status)

/** True for an operation with an idempotency key. Spells the header as the contract does. */
const namesRequests = (operation: Spec): boolean => {
  const named: Spec | undefined = operation["parameters"]?.find(({ name }: Spec) => name === KEYED_REQUEST)
  if (named !== undefined) {
    named["name"] = "Idempotency-Key"
  }
  return named !== undefined
}

/** Statuses that are decided before the budget is charged. */
const BEFORE_ADMISSION = new Set(["401", "403", "405", "414"])

const headersOf = (status: string, isMetered: boolean) => ({
  ...refs(common),
  ...(isMetered && !BEFORE_ADMISSION.has(status) ? refs(metered) : {}),
  ...(status === "429" || status === "503" ? refs(retryAfter) : {}),
  ...(status === "401" ? refs(challenge) : {}),
  ...(status === "405" ? refs(allow) : {})
})

const priceOf = (budget: string | null, cost: number): string =>
  budget === null ? "Free of charge." : `Costs ${cost} of the ${budget} budget.`

const SECURITY_SCHEMES = {
  bearer: {
    type: "http",
    scheme: "bearer",
    description: "An API key, svc_..., as a bearer token. `x-scopes` of an operation lists the scopes that it needs."
  },
  apiKey: { type: "apiKey", in: "header", name: "X-API-Key", description: "The same key in a header of its own." },
  session: {
    type: "apiKey",
    in: "cookie",
    name: "fathom_session",
    description: "The session of a browser; `__Host-fathom_session` over TLS."
  }
}

/**
 * A key in either header, or a session for operations of the app. Only OAuth schemes list scopes here: see x-scopes.
 */
const securityOf = (isSessionOnly: boolean) => (isSessionOnly ? [{ session: [] }] : [{ bearer: [] }, { apiKey: [] }])

const scopeOf = (accepted: ReadonlyArray<string>): string =>
  accepted.length === 0 ? "Any key." : `Scope: ${accepted.map((scope) => `\`${scope}\``).join(" or ")}.`

const templated = (path: string): string => path.replaceAll(/:(\w+)/gu, "{$1}")

/** Response schemas whose set of fields is final. */
const CLOSED = new Set(["AccountDepositAddress", "FundingNetwork", "FundingAsset", "UnreadChain"])

/** Allows additional properties in a schema and the schemas inside it. */
const reopen = (schema: unknown): void => {
  if (typeof schema !== "object" || schema === null) {
    return
  }
  if ("additionalProperties" in schema && schema.additionalProperties === false) {
    Reflect.deleteProperty(schema, "additionalProperties")
  }
  Object.values(schema).forEach(reopen)
}

/** Adds what the admission of each operation needs and answers. */
export const withAdmission =
  <Id extends string, Groups extends HttpApiGroup.Constraint>(contract: HttpApi.HttpApi<Id, Groups>) =>
  (spec: Spec): Spec => {
    for (const part of ["paths", "components"]) {
      spec[part] = portable(spec[part])
    }
    const requested = new Set<unknown>()
    HttpApi.reflect(contract, {
      onGroup: () => undefined,
      onEndpoint: ({ endpoint, middleware }) => {
        const operation = spec["paths"][templated(endpoint.path)][endpoint.method.toLowerCase()]
        const isKeyed = Array.from(middleware).some(({ key }) => key === Authorization.key)
        const accepted = Context.get(endpoint.annotations, Scope)
        const budget = Context.get(endpoint.annotations, Budget)
        const cost = Context.get(endpoint.annotations, Cost)
        if (budget === null) {
          // A free operation has no budget to exceed.
          Reflect.deleteProperty(operation.responses, "429")
        }
        const descriptions = keyDescriptions(endpoint)
        operation.parameters?.forEach((parameter: Parameter) =>
          retype(parameter, descriptions.get(parameter.name), spec["components"].schemas)
        )
        const mayReplay = namesRequests(operation)
        for (const [status, response] of Object.entries<Spec>(operation.responses)) {
          response["headers"] = {
            ...headersOf(status, isKeyed && budget !== null),
            ...(mayReplay && isKept(status) ? refs(replayed) : {}),
            ...response["headers"]
          }
        }
        requested.add(operation.requestBody?.content["application/json"].schema.$ref)
        if (Object.keys(operation.responses).every((status) => Number(status) >= 400)) {
          // Generators leave out what is deprecated or internal, and no client needs an operation that always rejects.
          operation["x-internal"] = true
          operation.deprecated = true
        }
        if (!isKeyed) {
          operation.description = [operation.description, "No key is needed. Free of charge."].filter(Boolean).join(" ")
          return
        }
        const isSessionOnly = Context.get(endpoint.annotations, SessionOnly)
        operation.security = securityOf(isSessionOnly)
        const admission = isSessionOnly ? "Sessions of the app only." : scopeOf(accepted)
        operation.description = [operation.description, admission, priceOf(budget, cost)].filter(Boolean).join(" ")
        operation["x-scopes"] = accepted
        operation["x-budget"] = budget
        operation["x-cost"] = budget === null ? 0 : cost
      }
    })
    // Responses may gain fields within a version, so only request schemas are closed.
    for (const [name, schema] of Object.entries(spec["components"].schemas)) {
      if (!requested.has(`#/components/schemas/${name}`) && !CLOSED.has(name)) {
        reopen(schema)
      }
    }
    spec["info"] = { ...spec["info"], contact: { name: "Fathom" }, license: { name: "MIT", identifier: "MIT" } }
    spec["servers"] = [{ url: "/", description: "The service that this document was read from." }]
    spec["tags"] = ordered(spec["tags"])
    spec["components"].securitySchemes = SECURITY_SCHEMES
    spec["components"].headers = { ...common, ...metered, ...retryAfter, ...replayed, ...challenge, ...allow }
    return spec
  }
