/** The OpenAPI document as a judge of answers. */
import { assert } from "@effect/vitest"
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js"

interface Content {
  readonly schema: object
}

interface Response {
  readonly content?: Readonly<Record<string, Content>>
  readonly headers?: Readonly<Record<string, object>>
}

/** The part of a document that the walk reads. */
export interface Document {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          {
            readonly operationId: string
            readonly responses: Readonly<Record<string, Response>>
            readonly requestBody?: object
            readonly "x-scopes"?: ReadonlyArray<string>
            readonly "x-budget"?: string | null
          }
        >
      >
    >
  >
}

/** One operation. */
export interface Operation {
  readonly id: string
  readonly method: string
  readonly path: string
  /** Declared statuses. */
  readonly statuses: ReadonlyArray<number>
  readonly hasBody: boolean
  /** True when the operation needs a key. */
  readonly isKeyed: boolean
}

/** Every operation of the document, in its order. */
export const operationsOf = (document: Document): ReadonlyArray<Operation> =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      id: operation.operationId,
      method: method.toUpperCase(),
      path,
      statuses: Object.keys(operation.responses).map(Number),
      hasBody: operation.requestBody !== undefined,
      isKeyed: operation["x-scopes"] !== undefined
    }))
  )

/** An answer as it came. */
export interface Answered {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

const escaped = (part: string) => part.replaceAll("~", "~0").replaceAll("/", "~1")

/** Asserts that answers are what the document declares: their status, their content type, their headers and their body. */
export const judgeOf = (document: Document) => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true })
  ajv.addSchema({ $id: "document", ...document })
  const known = new Map<string, ValidateFunction>()
  const validator = (pointer: string): ValidateFunction => {
    const made = known.get(pointer) ?? ajv.compile({ $ref: `document#${pointer}` })
    known.set(pointer, made)
    return made
  }

  return ({ id, method, path }: Operation, { headers, status, text }: Answered): void => {
    const operation = document.paths[path]?.[method.toLowerCase()]
    const response = operation?.responses[String(status)]
    assert.isDefined(response, `${id} answered ${status}, which it does not declare: ${text.slice(0, 300)}`)
    assert.isTrue(status < 500 || [500, 501, 503].includes(status))
    assert.match(headers.get("x-request-id") ?? "", /^[0-9a-f-]{36}$/u)
    assert.strictEqual(
      headers.has("retry-after"),
      "Retry-After" in (response?.headers ?? {}) ||
        (status === 404 && headers.has("retry-after")) ||
        // Figures that are being read; a list names the time of each.
        (status === 200 && !id.startsWith("tokenBatch.") && /"retryAfterMs":\d/u.test(text))
    )
    assert.strictEqual(headers.has("www-authenticate"), status === 401)
    assert.strictEqual(headers.has("allow"), status === 405)
    assert.strictEqual(headers.get("x-content-type-options"), "nosniff")
    const type = (headers.get("content-type") ?? "").split(";")[0] ?? ""
    assert.property(response?.content, type, `${id} answered ${status} as ${type}`)
    if (type !== "application/json") {
      return
    }
    const at = ["", "paths", path, method.toLowerCase(), "responses", String(status), "content", type, "schema"]
    const validate = validator(at.map(escaped).join("/"))
    const valid = validate(JSON.parse(text))
    assert.isTrue(valid, `${id} ${status}: ${ajv.errorsText(validate.errors)}\n${text.slice(0, 500)}`)
  }
}
