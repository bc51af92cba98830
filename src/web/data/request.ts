/** Requests to this service with the session of this browser. */
import type { Answer, BodyOf, Operation, QueryOf } from "./contract.ts"

/** One entry of an error's details: where a value is invalid, and why. */
export interface Detail {
  readonly in?: string
  readonly field?: string
  readonly issue?: string
  readonly message?: string
}

/** The failure of a request: an error answer, or no answer at all (`status` 0). */
export class RequestFailed extends Error {
  readonly status: number
  /** Error code of the contract; `unreachable` when there was no answer. */
  readonly code: string
  readonly details: ReadonlyArray<Detail>
  /** Milliseconds to wait before another try; null when the answer names none. */
  readonly retryAfterMs: number | null

  constructor(
    status: number,
    code: string,
    message: string,
    details: ReadonlyArray<Detail>,
    retryAfterMs: number | null
  ) {
    super(message)
    this.status = status
    this.code = code
    this.details = details
    this.retryAfterMs = retryAfterMs
  }
}

/** The failure of a request, from whatever was thrown. `message` describes anything but a `RequestFailed`. */
export const failureFrom = (cause: unknown, message = String(cause)): RequestFailed =>
  cause instanceof RequestFailed ? cause : new RequestFailed(0, "internal_error", message, [], null)

/** True when nothing is at the address that was asked for: it is unknown, or no address at all. */
export const isMissing = ({ details, status }: RequestFailed): boolean =>
  status === 404 || (status === 400 && details.some((detail) => detail.in === "path"))

type Values = Readonly<Record<string, string | number | undefined>>

/** Parameters of a call. Values in `path` replace `:name` in the path of the operation. */
export interface CallOptions<Name extends Operation> {
  readonly path?: Readonly<Record<string, string>>
  readonly query?: Partial<Record<keyof QueryOf<Name>, string | number | undefined>>
  readonly body?: BodyOf<Name>
  readonly signal?: AbortSignal | undefined
  readonly headers?: Readonly<Record<string, string>>
}

/** Token that proves that a change comes from this page. The session sets it. */
let csrfToken: string | null = null

/** Sets the token that is sent with every change. */
export const setCsrfToken = (token: string | null): void => {
  csrfToken = token
}

/** The URL of an operation with its path and query filled in. */
export const urlOf = (operation: string, path: Readonly<Record<string, string>> = {}, query: Values = {}): string => {
  const [, template = "/"] = operation.split(" ", 2)
  const filled = template.replaceAll(/:(\w+)/gu, (_, name: string) => encodeURIComponent(path[name] ?? ""))
  const pairs = Object.entries(query).flatMap(([name, value]): Array<[string, string]> =>
    value === undefined || value === "" ? [] : [[name, String(value)]]
  )
  return pairs.length === 0 ? filled : `${filled}?${new URLSearchParams(Object.fromEntries(pairs))}`
}

const MILLIS = 1000

/** The failure that an error answer describes. */
export const failureOf = async (response: Response): Promise<RequestFailed> => {
  const text = await response.text()
  const after = Number(response.headers.get("retry-after") ?? Number.NaN)
  const retryAfterMs = Number.isFinite(after) ? after * MILLIS : null
  try {
    const { error } = JSON.parse(text) as {
      error: { code: string; message: string; details?: ReadonlyArray<Detail> | null }
    }
    return new RequestFailed(response.status, error.code, error.message, error.details ?? [], retryAfterMs)
  } catch {
    return new RequestFailed(response.status, "internal_error", response.statusText, [], retryAfterMs)
  }
}

/** Parts of a request to this service. A text body is sent as it is. */
export interface Sent {
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly signal?: AbortSignal | undefined
}

/** Sends a request and returns the response, whatever its status. Fails with `RequestFailed` when there is none. */
export const respond = (method: string, url: string, { body, headers, signal }: Sent = {}): Promise<Response> => {
  const isChange = method !== "GET"
  return fetch(url, {
    method,
    credentials: "same-origin",
    headers: {
      accept: "application/json",
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(isChange && csrfToken !== null ? { "x-csrf-token": csrfToken } : {}),
      ...headers
    },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal })
  }).catch((cause: unknown) => {
    if (signal?.aborted === true) {
      throw cause
    }
    throw new RequestFailed(0, "unreachable", "The service cannot be reached.", [], null)
  })
}

/** Sends a request and returns the parsed body, null when it is empty. Fails with `RequestFailed`. */
export const send = async (method: string, url: string, sent: Sent = {}): Promise<unknown> => {
  const response = await respond(method, url, sent)
  if (!response.ok) {
    throw await failureOf(response)
  }
  const text = await response.text()
  return text === "" ? null : (JSON.parse(text) as unknown)
}

/** Calls an operation of the contract. Fails with `RequestFailed`. */
export const call = async <Name extends Operation>(
  operation: Name,
  { body, headers, path, query, signal }: CallOptions<Name> = {}
): Promise<Answer<Name>> => {
  const [method = "GET"] = operation.split(" ", 1)
  return (await send(method, urlOf(operation, path, query as Values), { body, headers, signal })) as Answer<Name>
}
