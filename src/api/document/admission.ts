/** Additions to the OpenAPI document: scopes, prices, tags, descriptions, and the headers of every response. */
import { Context } from "effect"
import { HttpApi, type HttpApiGroup, type OpenApi } from "effect/http-api"
import { Authorization, Scope, SessionOnly } from "../middleware/Authorization.ts"
import { Budget, Cost } from "../middleware/Metering.ts"
import { withPlainNames } from "./names.ts"
import { type Parameter, retype } from "./parameters.ts"
import { type Media, withDescriptions } from "./properties.ts"
import { ordered } from "./tags.ts"

type Spec = Parameters<typeof OpenApi.Transform.Service>[0]
type Headers = Readonly<Record<string, { readonly description: string; readonly schema: { readonly type: string } }>>

const header = (type: "string" | "integer", description: string) => ({ description, schema: { type } })

const common: Headers = {
  "X-Content-Type-Options": header("string", "Always nosniff."),
  "X-Request-Id": header("string", "The UUID of this answer."),
  "X-Client-Request-Id": header("string", "What the request sent under this name: 1 to 64 printable ASCII characters.")
}

const metered: Headers = {
  "X-RateLimit-Limit": header(
    "integer",
    "Units of the budget in any window, which is 60 seconds unless the plan of the key has another."
  ),
  "X-RateLimit-Remaining": header("integer", "Units that are left; never below 0."),
  "X-RateLimit-Reset": header(
    "integer",
    "Unix second at which the oldest counted unit leaves the window; on a 429, at which the cost of this request fits."
  ),
  "X-RateLimit-Budget": header("string", "The budget that was charged: rest or quote."),
  "X-RateLimit-Cost": header("integer", "Units that this request was charged; 0 when they were returned."),
  "RateLimit-Policy": header("string", "The budget in the form of the IETF draft."),
  RateLimit: header("string", "Where the budget stands, in the form of the IETF draft.")
}

const retryAfter: Headers = { "Retry-After": header("integer", "Seconds to wait before trying again.") }

const replayed: Headers = {
  "Idempotency-Replayed": header("string", "true when this request was answered before and that answer is repeated.")
}

const challenge: Headers = { "WWW-Authenticate": header("string", "Always Bearer.") }

const allow: Headers = { Allow: header("string", "Methods of this path, separated by commas.") }

const refs = (headers: Headers) =>
  Object.fromEntries(Object.keys(headers).map((name) => [name, { $ref: `#/components/headers/${name}` }]))

const KEYED_REQUEST = "idempotency-key"

/** True for statuses that are stored for an idempotency key: not those of admission, of the body, nor 5xx. */
const isKept = (status: string): boolean =>
  Number(status) < 500 && !["401", "403", "405", "413", "414", "415", "422", "429"].includes(status)

/** True for an operation with an idempotency key; spells its header as the contract does. */
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
    description: "An API key, svc_..., as a bearer token. The scope that an operation needs is its x-scopes."
  },
  apiKey: { type: "apiKey", in: "header", name: "X-API-Key", description: "The same key in a header of its own." },
  session: { type: "apiKey", in: "cookie", name: "fathom_session", description: "The session of a browser." }
}

/** A key in either header, or a session of the app alone. Only schemes of OAuth list scopes here: see x-scopes. */
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

/** Bodies of every request and answer of a document. */
export const mediasOf = ({ paths }: Spec): ReadonlyArray<Media> =>
  Object.values<Spec>(paths).flatMap((methods) =>
    Object.values<Spec>(methods).flatMap(({ requestBody, responses }) =>
      [requestBody, ...Object.values<Spec>(responses)].flatMap((body) => Object.values<Media>(body?.content ?? {}))
    )
  )

/** Writes the admission of every operation of the contract into its document. */
export const withAdmission =
  <Id extends string, Groups extends HttpApiGroup.Constraint>(contract: HttpApi.HttpApi<Id, Groups>) =>
  (spec: Spec): Spec => {
    withPlainNames(spec)
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
        operation.parameters?.forEach((parameter: Parameter) => retype(parameter, spec["components"].schemas))
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
          // Generators leave out what is deprecated or internal; an operation that only rejects is of no use to a client.
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
    // Responses may gain fields within a version; only request schemas are closed.
    for (const [name, schema] of Object.entries(spec["components"].schemas)) {
      if (!requested.has(`#/components/schemas/${name}`) && !CLOSED.has(name)) {
        reopen(schema)
      }
    }
    withDescriptions({ schemas: spec["components"].schemas, medias: mediasOf(spec) })
    spec["info"] = { ...spec["info"], contact: { name: "Fathom" }, license: { name: "MIT", identifier: "MIT" } }
    spec["servers"] = [{ url: "/", description: "The service that this document was read from." }]
    spec["tags"] = ordered(spec["tags"])
    spec["components"].securitySchemes = SECURITY_SCHEMES
    spec["components"].headers = { ...common, ...metered, ...retryAfter, ...replayed, ...challenge, ...allow }
    return spec
  }
